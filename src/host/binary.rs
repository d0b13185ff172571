//! Reading from a program file what it says it loads. Only the headers are read; every size they state is bounded first, because
//! the file may be hostile.

use super::Binary;
use object::read::elf::{Dyn as _, FileHeader, ProgramHeader as _};
use object::read::macho::{FatArch, LoadCommandVariant, MachHeader, MachOFatFile32, MachOFatFile64};
use object::{Endianness, ReadRef, elf, macho};

/// Program headers: the kernel takes at most 64 KiB of them (`load_elf_phdrs`), 1170 of the 64-bit kind.
const MAX_PROGRAM_HEADERS: u16 = 1170;
/// Entries of the dynamic section. Large programs have a few hundred.
const MAX_DYNAMIC: u64 = 1 << 16;
/// A name, with its NUL: `PATH_MAX`.
const MAX_NAME: u64 = 4096;
/// Mach-O load commands, in bytes.
const MAX_COMMANDS: u32 = 1 << 20;
/// Slices of a universal binary. A Java class file has the same magic and a version of at least 45 in this place.
const MAX_SLICES: u32 = 44;

type Parsed<T> = Result<T, String>;

/// What the file says; `None` where it is neither ELF nor Mach-O. Of a universal binary, the slice for `architecture`, else the first.
///
/// # Errors
/// A file that begins as one of them and does not hold together; says how.
pub fn parse<'a, R: ReadRef<'a>>(data: R, architecture: &str) -> Parsed<Option<Binary>> {
    let Ok(magic) = data.read_bytes_at(0, 8) else { return Ok(None) };
    match magic {
        [0x7f, b'E', b'L', b'F', 1, ..] => elf::<elf::FileHeader32<Endianness>, R>(data).map(Some),
        [0x7f, b'E', b'L', b'F', 2, ..] => elf::<elf::FileHeader64<Endianness>, R>(data).map(Some),
        [0xfe, 0xed, 0xfa, 0xce, ..] | [0xce, 0xfa, 0xed, 0xfe, ..] => {
            macho::<macho::MachHeader32<Endianness>, R>(data, 0).map(Some)
        }
        [0xfe, 0xed, 0xfa, 0xcf, ..] | [0xcf, 0xfa, 0xed, 0xfe, ..] => {
            macho::<macho::MachHeader64<Endianness>, R>(data, 0).map(Some)
        }
        [0xca, 0xfe, 0xba, kind @ (0xbe | 0xbf), slices @ ..] => {
            let count = slices.try_into().map_or(0, u32::from_be_bytes);
            if count == 0 || count > MAX_SLICES {
                return Ok(None);
            }
            let offset = if *kind == 0xbe {
                slice(MachOFatFile32::parse(data).map_err(text)?.arches(), architecture)
            } else {
                slice(MachOFatFile64::parse(data).map_err(text)?.arches(), architecture)
            };
            let offset = offset.ok_or("a universal binary without slices")?;
            match data.read_bytes_at(offset, 4).map_err(|()| "a slice outside the file")? {
                [0xcf | 0xfe, .., 0xfe | 0xcf] => {
                    macho::<macho::MachHeader64<Endianness>, R>(data, offset).map(Some)
                }
                _ => macho::<macho::MachHeader32<Endianness>, R>(data, offset).map(Some),
            }
        }
        _ => Ok(None),
    }
}

fn text(error: object::read::Error) -> String {
    error.to_string()
}

fn elf<'a, Elf: FileHeader<Endian = Endianness>, R: ReadRef<'a>>(data: R) -> Parsed<Binary> {
    let header = Elf::parse(data).map_err(text)?;
    let endian = header.endian().map_err(text)?;
    let count = header.e_phnum(endian);
    if count > MAX_PROGRAM_HEADERS {
        return Err("too many program headers".into());
    }
    let segments = header.program_headers(endian, data).map_err(text)?;
    let mut binary =
        Binary { machine: elf_machine(header.e_machine(endian), header.is_class_64()), ..Binary::default() };
    let mut dynamic = None;
    let mut loads = Vec::new();
    for segment in segments {
        let (offset, size) = segment.file_range(endian);
        match segment.p_type(endian) {
            elf::PT_INTERP => {
                if !(2..=MAX_NAME).contains(&size) {
                    return Err("a loader's name of impossible length".into());
                }
                let bytes =
                    data.read_bytes_at(offset, size).map_err(|()| "a loader's name outside the file")?;
                let name = bytes.strip_suffix(&[0]).ok_or("a loader's name without an end")?;
                binary.loader = Some(utf8(name)?.into());
            }
            elf::PT_DYNAMIC => dynamic = Some((offset, size)),
            elf::PT_LOAD => loads.push((segment.p_vaddr(endian).into(), offset, size)),
            _ => {}
        }
    }
    let Some((offset, size)) = dynamic else { return Ok(binary) };
    let count = size / size_of::<Elf::Dyn>() as u64;
    if count > MAX_DYNAMIC {
        return Err("too many dynamic entries".into());
    }
    let entries: &[Elf::Dyn] =
        data.read_slice_at(offset, count as usize).map_err(|()| "a dynamic section outside the file")?;
    // What follows DT_NULL does not count.
    let entries: Vec<_> = entries.iter().take_while(|entry| entry.tag(endian) != elf::DT_NULL).collect();
    let strings =
        entries.iter().find(|entry| entry.tag(endian) == elf::DT_STRTAB).map(|entry| entry.val(endian));
    let string = |at: u64| -> Parsed<String> {
        let address =
            strings.and_then(|start| start.checked_add(at)).ok_or("names without a string table")?;
        let (offset, end) = loads
            .iter()
            .find_map(|&(start, offset, size): &(u64, u64, u64)| {
                let within = address.checked_sub(start).filter(|&within| within < size)?;
                Some((offset.checked_add(within)?, offset.checked_add(size)?))
            })
            .ok_or("a name outside every segment")?;
        let bytes = data
            .read_bytes_at_until(offset..end.min(offset.saturating_add(MAX_NAME)), 0)
            .map_err(|()| "a name without an end")?;
        utf8(bytes)
    };
    for entry in entries {
        match entry.tag(endian) {
            elf::DT_NEEDED => binary.needed.push(string(entry.val(endian))?),
            elf::DT_RPATH => binary.rpath = cut(&string(entry.val(endian))?),
            elf::DT_RUNPATH => binary.runpath = cut(&string(entry.val(endian))?),
            _ => {}
        }
    }
    Ok(binary)
}

fn cut(path: &str) -> Vec<String> {
    path.split(':').map(str::to_owned).collect()
}

fn utf8(bytes: &[u8]) -> Parsed<String> {
    String::from_utf8(bytes.to_vec()).map_err(|_| "a name that is not UTF-8".to_owned())
}

/// The word for a machine: as Rust names architectures where it does.
fn elf_machine(machine: elf::Machine, wide: bool) -> String {
    let word = match (machine, wide) {
        (elf::EM_X86_64, true) => "x86_64",
        (elf::EM_X86_64, false) => "x32",
        (elf::EM_386, _) => "x86",
        (elf::EM_AARCH64, true) => "aarch64",
        (elf::EM_AARCH64, false) => "aarch64-ilp32",
        (elf::EM_ARM, _) => "arm",
        (elf::EM_RISCV, true) => "riscv64",
        (elf::EM_RISCV, false) => "riscv32",
        (elf::EM_PPC64, _) => "powerpc64",
        (elf::EM_PPC, _) => "powerpc",
        (elf::EM_S390, true) => "s390x",
        (elf::EM_LOONGARCH, true) => "loongarch64",
        _ => return format!("elf-{}-{}", machine.0, if wide { 64 } else { 32 }),
    };
    word.to_owned()
}

fn macho<'a, Mach: MachHeader<Endian = Endianness>, R: ReadRef<'a>>(data: R, offset: u64) -> Parsed<Binary> {
    let header = Mach::parse(data, offset).map_err(text)?;
    let endian = header.endian().map_err(text)?;
    if header.sizeofcmds(endian) > MAX_COMMANDS {
        return Err("too many load commands".into());
    }
    let mut binary = Binary { machine: macho_machine(header.cputype(endian)), ..Binary::default() };
    let mut commands = header.load_commands(endian, data, offset).map_err(text)?;
    while let Some(command) = commands.next().map_err(text)? {
        match command.variant().map_err(text)? {
            LoadCommandVariant::Dylib(dylib) => {
                let weak = command.cmd() == macho::LC_LOAD_WEAK_DYLIB;
                let names = if weak { &mut binary.weak } else { &mut binary.needed };
                names.push(utf8(command.string(endian, dylib.dylib.name).map_err(text)?)?);
            }
            LoadCommandVariant::LoadDylinker(dylinker) => {
                binary.loader = Some(utf8(command.string(endian, dylinker.name).map_err(text)?)?.into());
            }
            LoadCommandVariant::Rpath(rpath) => {
                binary.runpath.push(utf8(command.string(endian, rpath.path).map_err(text)?)?);
            }
            _ => {}
        }
    }
    Ok(binary)
}

fn macho_machine(cpu: macho::CpuType) -> String {
    let word = match cpu {
        macho::CPU_TYPE_X86_64 => "x86_64",
        macho::CPU_TYPE_ARM64 => "aarch64",
        macho::CPU_TYPE_X86 => "x86",
        _ => return format!("macho-{}", cpu.0),
    };
    word.to_owned()
}

fn slice<Fat: FatArch>(arches: &[Fat], architecture: &str) -> Option<u64> {
    let wanted = arches.iter().find(|arch| macho_machine(arch.cputype()) == architecture);
    wanted.or(arches.first()).map(|arch| arch.offset().into())
}

#[cfg(test)]
mod tests;
