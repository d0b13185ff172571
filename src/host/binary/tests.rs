use super::*;
use elf::program;
use proptest::prelude::*;

#[path = "../../../tests/support/elf.rs"]
mod elf;

#[test]
fn reads_what_a_loader_would() {
    let file = program(
        Some("/lib64/ld-linux-x86-64.so.2"),
        &[(1, "libz.so.1"), (1, "libc.so.6"), (15, "/opt/a:$ORIGIN/../lib"), (29, "")],
    );
    let binary = parse(file.as_slice(), "x86_64").unwrap().unwrap();
    assert_eq!(binary.loader.unwrap(), "/lib64/ld-linux-x86-64.so.2");
    assert_eq!(binary.needed, ["libz.so.1", "libc.so.6"]);
    assert_eq!(binary.rpath, ["/opt/a", "$ORIGIN/../lib"]);
    assert_eq!(binary.runpath, [""]);
    assert_eq!(binary.machine, std::env::consts::ARCH);
    let library = parse(program(None, &[]).as_slice(), "x86_64").unwrap().unwrap();
    assert_eq!((library.loader, library.needed.len()), (None, 0));
}

/// A Mach-O program with the two load commands that matter.
fn mach(cpu: u32, dylib: &str) -> Vec<u8> {
    let mut name = [dylib.as_bytes(), &[0]].concat();
    name.resize(name.len().next_multiple_of(8), 0);
    let mut file = Vec::new();
    for word in [0xfeed_facf_u32, cpu, 0, 2, 1, 24 + name.len() as u32, 0, 0] {
        file.extend(word.to_le_bytes());
    }
    for word in [0xc_u32, 24 + name.len() as u32, 24, 0, 0, 0] {
        file.extend(word.to_le_bytes());
    }
    file.extend(name);
    file
}

#[test]
fn reads_mach_o_thin_and_universal() {
    let thin = mach(0x0100_000c, "/usr/lib/libSystem.B.dylib");
    let binary = parse(thin.as_slice(), "aarch64").unwrap().unwrap();
    assert_eq!(
        (binary.needed.as_slice(), binary.machine.as_str()),
        (&["/usr/lib/libSystem.B.dylib".to_owned()][..], "aarch64")
    );

    let slices = [mach(0x0100_0007, "/intel"), mach(0x0100_000c, "/arm")];
    let mut fat: Vec<u8> = [0xcafe_babe_u32, 2].iter().flat_map(|word| word.to_be_bytes()).collect();
    let mut at = 64_u32;
    for (slice, cpu) in slices.iter().zip([0x0100_0007_u32, 0x0100_000c]) {
        fat.extend([cpu, 0, at, slice.len() as u32, 3].iter().flat_map(|word| word.to_be_bytes()));
        at += (slice.len() as u32).next_multiple_of(8);
    }
    fat.resize(64, 0);
    for slice in &slices {
        fat.extend(slice);
        fat.resize(fat.len().next_multiple_of(8), 0);
    }
    assert_eq!(parse(fat.as_slice(), "aarch64").unwrap().unwrap().needed, ["/arm"]);
    assert_eq!(parse(fat.as_slice(), "x86_64").unwrap().unwrap().needed, ["/intel"]);
    // A Java class file of version 52.
    assert_eq!(parse(&[0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 52, 0, 0][..], "x86_64"), Ok(None));
}

#[test]
fn refuses_what_does_not_hold_together() {
    let sound = program(Some("/ld"), &[(1, "libc.so.6")]);
    assert!(parse(&sound[..100], "x86_64").is_err());
    let mut giant = sound.clone();
    giant[64 + 2 * 56 + 32..64 + 2 * 56 + 40].copy_from_slice(&u64::MAX.to_le_bytes());
    assert!(parse(giant.as_slice(), "x86_64").is_err());
    assert_eq!(parse(&b"#!/bin/sh\n"[..], "x86_64"), Ok(None));
    assert_eq!(parse(&b""[..], "x86_64"), Ok(None));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// No damage to a program file makes the reader panic.
    #[test]
    fn damage_is_never_a_panic(
        at in proptest::collection::vec((0usize..400, any::<u8>()), 0..6),
        cut in 0usize..500,
        mach_o in any::<bool>(),
    ) {
        let mut file =
            if mach_o { mach(7, "/usr/lib/x") } else { program(Some("/lib/ld.so"), &[(1, "libc.so.6"), (29, "/a:/b")]) };
        for (at, byte) in at {
            if let Some(place) = file.get_mut(at) {
                *place = byte;
            }
        }
        file.truncate(cut);
        let _ = parse(file.as_slice(), "x86_64");
    }
}
