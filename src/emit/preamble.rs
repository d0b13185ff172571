//! The part of a profile that is the same for every plan: what stays closed although `(deny default)` would leave it open, and
//! the system services and settings without which no program starts.

use super::quote::comment;
use super::section;
use std::fmt::Write as _;

/// Operations whose built-in default is to allow, so that `(deny default)` alone leaves them open (published operation tables of
/// 10.15 and 14.4.1). Those that `every_program` opens again in part, and those that no process can do without, are not here.
const OPEN_BY_DEFAULT: [&str; 17] = [
    "darwin-notification-post",
    "file-clone",
    "file-link",
    "file-lock",
    "file-map-executable",
    "file-test-existence",
    "file-write-setugid",
    "fs-quota*",
    "iokit-get-properties",
    "iokit-open-service",
    "job-creation",
    "mach-cross-domain-lookup",
    "mach-task-special-port*",
    "necp-client-open",
    "nvram*",
    "process-info*",
    "socket-ioctl",
];

/// Names of `sysctl` that loaders, runtimes and shells read at start.
const SYSCTLS: [&str; 24] = [
    "hw.activecpu",
    "hw.byteorder",
    "hw.cacheconfig",
    "hw.cachelinesize",
    "hw.cpufamily",
    "hw.cputype",
    "hw.cpusubfamily",
    "hw.logicalcpu",
    "hw.logicalcpu_max",
    "hw.machine",
    "hw.memsize",
    "hw.model",
    "hw.ncpu",
    "hw.nperflevels",
    "hw.pagesize",
    "hw.physicalcpu",
    "kern.argmax",
    "kern.bootargs",
    "kern.hostname",
    "kern.maxfilesperproc",
    "kern.osproductversion",
    "kern.osrelease",
    "kern.osversion",
    "kern.version",
];

pub fn header(text: &mut String, name: &str) {
    let _ = writeln!(
        text,
        "; {}: a sandbox profile written by palisade {}.",
        comment(name),
        env!("CARGO_PKG_VERSION")
    );
    text.push_str(
        "; Do not edit: change the profile and compile again. Behind each rule stands what it comes from.\n",
    );
    text.push_str("(version 1)\n(deny default)\n");
}

pub fn closed_by_default(text: &mut String) {
    section(text, "left open by (deny default), closed here");
    for operation in OPEN_BY_DEFAULT {
        let _ = writeln!(text, "(deny {operation})");
    }
}

pub fn every_program(text: &mut String) {
    section(text, "what every program needs to start, beside paths");
    text.push_str("(allow process-fork)\n");
    text.push_str("(allow signal (target same-sandbox))\n");
    text.push_str("(allow process-info-pidinfo (target same-sandbox))\n");
    text.push_str("(allow process-info-setcontrol (target self))\n");
    text.push_str("(allow mach-lookup (global-name \"com.apple.system.opendirectoryd.libinfo\"))\n");
    text.push_str("(allow mach-lookup (global-name \"com.apple.system.notification_center\"))\n");
    text.push_str("(allow mach-lookup (global-name \"com.apple.logd\" \"com.apple.system.logger\"))\n");
    text.push_str("(allow sysctl-read (sysctl-name-prefix \"hw.optional.\" \"hw.perflevel\" \"security.mac.lockdown_mode_state\"))\n");
    for name in SYSCTLS {
        let _ = writeln!(text, "(allow sysctl-read (sysctl-name \"{name}\"))");
    }
}
