//! Memory that this process does not need while it waits.

use std::ffi::{c_int, c_void};

/// Has the kernel forget which pages of the program and its libraries this process has used: code and constants, which are read from the
/// file again when they are needed. Gives back freed memory too. What built a sandbox is some megabytes of them; to wait for its end takes little.
pub fn forget_program() {
    // SAFETY: the function keeps to what dl_iterate_phdr(3) asks of it, and no data is passed.
    unsafe { libc::dl_iterate_phdr(Some(forget_object), std::ptr::null_mut()) };
    #[cfg(target_env = "gnu")]
    // SAFETY: gives back what was freed and nothing else (malloc_trim(3)).
    unsafe {
        libc::malloc_trim(0);
    }
}

unsafe extern "C" fn forget_object(object: *mut libc::dl_phdr_info, _: usize, _: *mut c_void) -> c_int {
    // SAFETY: dl_iterate_phdr(3) passes a structure that is valid during the call, with a name that ends in a NUL and an array of as
    // many headers as it says.
    let (object, name, headers) = unsafe {
        let object = &*object;
        let headers = std::slice::from_raw_parts(object.dlpi_phdr, usize::from(object.dlpi_phnum));
        (object, std::ffi::CStr::from_ptr(object.dlpi_name).to_bytes(), headers)
    };
    // The program itself has no name. What has one without a directory is the kernel's, not a file.
    if !name.is_empty() && !name.contains(&b'/') {
        return 0;
    }
    let page = rustix::param::page_size();
    for header in headers {
        if header.p_type != libc::PT_LOAD || header.p_flags & libc::PF_W != 0 {
            continue;
        }
        let start = (object.dlpi_addr + header.p_vaddr) as usize;
        let (first, end) = (start.next_multiple_of(page), (start + header.p_memsz as usize) / page * page);
        if first < end {
            // SAFETY: whole pages of a file's read-only segment, which nothing can have written to: they come back as they were
            // (madvise(2)). Where this fails nothing has changed.
            unsafe { libc::madvise(first as *mut c_void, end - first, libc::MADV_DONTNEED) };
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In kB, of files.
    fn resident() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("RssFile:")).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }

    #[test]
    fn what_is_forgotten_comes_back() {
        let words = || ["the", "same", "constants"].map(str::to_owned).join(" ");
        let before = (resident(), words());
        forget_program();
        let after = resident();
        assert!(after < before.0, "{after} kB of {} kB", before.0);
        assert_eq!(words(), before.1);
    }
}
