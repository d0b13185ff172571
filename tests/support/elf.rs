//! Program files made by hand, so that tests need no compiler.

/// A program as a linker would lay it out, as far as a loader looks: headers, then names, then the dynamic section.
pub fn program(loader: Option<&str>, dynamic: &[(u64, &str)]) -> Vec<u8> {
    let machine: u16 = if cfg!(target_arch = "aarch64") { 183 } else { 62 };
    let mut names = vec![0];
    let mut entries = Vec::new();
    for (tag, name) in dynamic {
        entries.push((*tag, names.len() as u64));
        names.extend_from_slice(name.as_bytes());
        names.push(0);
    }
    let (base, headers) = (0x40_0000_u64, 64 + 3 * 56_u64);
    let interp = loader.map_or(Vec::new(), |loader| [loader.as_bytes(), &[0]].concat());
    let names_at = headers + interp.len() as u64;
    let dynamic_at = (names_at + names.len() as u64).next_multiple_of(8);
    entries.extend([(5, base + names_at), (0, 0), (1, 1)]);
    let end = dynamic_at + 16 * entries.len() as u64;

    let mut file = vec![0x7f, b'E', b'L', b'F', 2, 1, 1];
    file.resize(16, 0);
    let mut put = |bytes: &[u8]| file.extend_from_slice(bytes);
    put(&3u16.to_le_bytes());
    put(&machine.to_le_bytes());
    put(&1u32.to_le_bytes());
    for word in [0u64, 64, 0] {
        put(&word.to_le_bytes());
    }
    put(&0u32.to_le_bytes());
    for half in [64u16, 56, 3, 64, 0, 0] {
        put(&half.to_le_bytes());
    }
    let interp_type = if loader.is_some() { 3 } else { 0 };
    for (kind, offset, size) in
        [(1u32, 0, end), (interp_type, headers, interp.len() as u64), (2, dynamic_at, end - dynamic_at)]
    {
        put(&kind.to_le_bytes());
        put(&5u32.to_le_bytes());
        for word in [offset, base + offset, base + offset, size, size, 8] {
            put(&word.to_le_bytes());
        }
    }
    put(&interp);
    put(&names);
    file.resize(dynamic_at as usize, 0);
    for (tag, value) in entries {
        file.extend_from_slice(&tag.to_le_bytes());
        file.extend_from_slice(&value.to_le_bytes());
    }
    file
}
