//! What ended children have used.

use std::time::Duration;

/// What a process and those it has waited for have used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    pub user: Duration,
    pub system: Duration,
    /// The most memory that one of them had at a time, in bytes.
    pub peak_memory: u64,
}

/// What the children that this process has waited for have used, with those that they had waited for (getrusage(2)).
pub fn usage_of_children() -> Option<Usage> {
    // SAFETY: it is plain memory, for which zero is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the structure lives through the call.
    if unsafe { libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage) } != 0 {
        return None;
    }
    let duration = |time: libc::timeval| {
        let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
        Duration::from_secs(seconds) + Duration::from_micros(u64::try_from(time.tv_usec).unwrap_or(0))
    };
    // In bytes on macOS, in KiB elsewhere.
    let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
    Some(Usage {
        user: duration(usage.ru_utime),
        system: duration(usage.ru_stime),
        peak_memory: u64::try_from(usage.ru_maxrss).unwrap_or(0).saturating_mul(unit),
    })
}
