//! The operations: parent, built-in default, and the kinds of filter that apply. Names are those of macOS 14.4.1; parents, defaults and filters
//! come from published tables of 10.15's library and of a profile compiled on 14.4.1, and, for names newer than those, from the name itself.

use super::operation::Builtin::{self, Allow, Deny, Graph, Inherit};

/// One line of the table.
pub(super) struct Entry {
    pub name: &'static str,
    /// Empty for `default`.
    pub parent: &'static str,
    pub builtin: Builtin,
    /// `None` where no published table says.
    pub filters: Option<&'static [&'static str]>,
}

const fn op(
    name: &'static str,
    parent: &'static str,
    builtin: Builtin,
    filters: Option<&'static [&'static str]>,
) -> Entry {
    Entry { name, parent, builtin, filters }
}

type Filters = Option<&'static [&'static str]>;

const AE_DESTINATION: Filters = Some(&["extension", "process", "system", "ae-destination"]);
const AUTH_RIGHT_NAME: Filters = Some(&["extension", "process", "system", "auth-right-name"]);
const BOOT_ARG: Filters = Some(&["extension", "process", "system", "boot-arg"]);
const COMMON: Filters = Some(&["extension", "process", "system"]);
const EXEC: Filters = Some(&["extension", "process", "system", "path", "file-mode", "fs"]);
const EXTENSION_CLASS: Filters = Some(&["extension", "process", "system", "extension-class"]);
const FILE: Filters =
    Some(&["extension", "process", "system", "path", "file-mode", "vnode-type", "device", "fs"]);
const FILE_EXTENSION_CLASS: Filters = Some(&[
    "extension",
    "process",
    "system",
    "path",
    "file-mode",
    "vnode-type",
    "device",
    "fs",
    "extension-class",
]);
const FILE_IOCTL: Filters =
    Some(&["extension", "process", "system", "path", "file-mode", "vnode-type", "device", "fs", "ioctl"]);
const FILE_XATTR: Filters =
    Some(&["extension", "process", "system", "path", "file-mode", "vnode-type", "device", "fs", "xattr"]);
const FSCTL: Filters = Some(&["extension", "process", "system", "fsctl"]);
const INFO: Filters = Some(&["extension", "process", "system", "info"]);
const IOKIT: Filters =
    Some(&["extension", "process", "system", "iokit-property", "iokit-user-client", "iokit-connection"]);
const KEXT_BUNDLE_ID: Filters = Some(&["extension", "process", "system", "kext-bundle-id"]);
const MACH: Filters = Some(&["extension", "process", "system", "mach"]);
const MACH_EXTENSION_CLASS: Filters = Some(&["extension", "process", "system", "mach", "extension-class"]);
const MACH_SPECIAL_PORT: Filters = Some(&["extension", "process", "system", "mach-special-port"]);
const NETWORK: Filters =
    Some(&["extension", "process", "system", "socket", "network", "path", "file-mode", "vnode-type", "fs"]);
const NOTIFICATION: Filters = Some(&["extension", "process", "system", "notification"]);
const NVRAM: Filters = Some(&["extension", "process", "system", "nvram"]);
const ONLY_PATH: Filters = Some(&["path"]);
const PATH: Filters = Some(&["extension", "process", "system", "path"]);
const PATH_TARGET: Filters = Some(&["extension", "process", "system", "path", "target"]);
const POSIX_IPC: Filters = Some(&["extension", "process", "system", "posix-ipc"]);
const POSIX_IPC_EXTENSION_CLASS: Filters =
    Some(&["extension", "process", "system", "posix-ipc", "extension-class"]);
const PREFERENCE_DOMAIN: Filters = Some(&["extension", "process", "system", "preference-domain"]);
const PRIV: Filters = Some(&["extension", "process", "system", "priv"]);
const REBOOT_FLAGS: Filters = Some(&["extension", "process", "system", "reboot-flags"]);
const SEMAPHORE: Filters = Some(&["extension", "process", "system", "posix-ipc", "semaphore"]);
const SOCKET: Filters = Some(&["extension", "process", "system", "socket"]);
const SOCKET_IOCTL: Filters = Some(&["extension", "process", "system", "socket", "ioctl"]);
const SYSCALL: Filters = Some(&["system", "process", "syscall"]);
const SYSCTL: Filters = Some(&["extension", "process", "system", "sysctl"]);
const TARGET: Filters = Some(&["extension", "process", "system", "target"]);
const TARGET_SIGNAL: Filters = Some(&["extension", "process", "system", "target", "signal"]);
const UNKNOWN: Filters = None;

/// Sorted by name.
#[rustfmt::skip]
pub(super) const TABLE: [Entry; 196] = [
    op("appleevent-send", "default", Inherit, AE_DESTINATION),
    op("authorization-right-obtain", "default", Inherit, AUTH_RIGHT_NAME),
    op("boot-arg-set", "default", Inherit, BOOT_ARG),
    op("darwin-notification-post", "default", Allow, NOTIFICATION),
    op("default", "", Deny, COMMON),
    op("default-message-filter", "default", Graph, UNKNOWN),
    op("device*", "default", Inherit, COMMON),
    op("device-camera", "device*", Inherit, COMMON),
    op("device-microphone", "device*", Inherit, COMMON),
    op("distributed-notification-post", "default", Inherit, NOTIFICATION),
    op("dynamic-code-generation", "default", Allow, COMMON),
    op("file*", "default", Inherit, FILE),
    op("file-chroot", "file*", Inherit, FILE),
    op("file-clone", "default", Allow, FILE),
    op("file-ioctl", "file*", Inherit, FILE_IOCTL),
    op("file-issue-extension", "file*", Inherit, FILE_EXTENSION_CLASS),
    op("file-link", "default", Allow, FILE),
    op("file-lock", "file*", Allow, UNKNOWN),
    op("file-map-executable", "default", Allow, FILE),
    op("file-mknod", "file*", Inherit, FILE),
    op("file-mount", "file*", Inherit, FILE),
    op("file-mount-update", "file-mount", Inherit, FILE),
    op("file-read*", "file*", Inherit, FILE),
    op("file-read-data", "file-read*", Inherit, FILE),
    op("file-read-metadata", "file-read*", Inherit, FILE),
    op("file-read-xattr", "file-read*", Inherit, FILE_XATTR),
    op("file-revoke", "file*", Inherit, FILE),
    op("file-search", "file*", Inherit, FILE),
    op("file-test-existence", "default", Allow, FILE),
    op("file-unmount", "file*", Inherit, FILE),
    op("file-write*", "file*", Inherit, FILE),
    op("file-write-acl", "file-write*", Inherit, FILE),
    op("file-write-create", "file-write*", Inherit, FILE),
    op("file-write-data", "file-write*", Inherit, FILE),
    op("file-write-finderinfo", "file-write*", Inherit, FILE),
    op("file-write-flags", "file-write*", Inherit, FILE),
    op("file-write-mode", "file-write*", Inherit, FILE),
    op("file-write-owner", "file-write*", Inherit, FILE),
    op("file-write-setugid", "default", Deny, FILE),
    op("file-write-times", "file-write*", Inherit, FILE),
    op("file-write-unlink", "file-write*", Inherit, FILE),
    op("file-write-xattr", "file-write*", Inherit, FILE_XATTR),
    op("fs-quota*", "default", Allow, UNKNOWN),
    op("fs-quota-get", "fs-quota*", Inherit, UNKNOWN),
    op("fs-quota-off", "fs-quota*", Inherit, UNKNOWN),
    op("fs-quota-on", "fs-quota*", Inherit, UNKNOWN),
    op("fs-quota-set*", "fs-quota*", Inherit, UNKNOWN),
    op("fs-quota-set-limits", "fs-quota-set*", Inherit, UNKNOWN),
    op("fs-quota-set-usage", "fs-quota-set*", Inherit, UNKNOWN),
    op("fs-quota-stat", "fs-quota*", Inherit, UNKNOWN),
    op("fs-quota-sync", "fs-quota*", Inherit, UNKNOWN),
    op("fs-rename", "default", Inherit, COMMON),
    op("fs-snapshot*", "default", Inherit, COMMON),
    op("fs-snapshot-create", "fs-snapshot*", Inherit, COMMON),
    op("fs-snapshot-delete", "fs-snapshot*", Inherit, COMMON),
    op("fs-snapshot-mount", "fs-snapshot*", Allow, UNKNOWN),
    op("fs-snapshot-revert", "fs-snapshot*", Inherit, COMMON),
    op("generic-issue-extension", "default", Inherit, EXTENSION_CLASS),
    op("hid-control", "default", Inherit, COMMON),
    op("iokit*", "default", Inherit, COMMON),
    op("iokit-async-external-method", "default-message-filter", Graph, UNKNOWN),
    op("iokit-external-method", "default-message-filter", Graph, UNKNOWN),
    op("iokit-external-trap", "default-message-filter", Graph, UNKNOWN),
    op("iokit-get-properties", "default", Allow, IOKIT),
    op("iokit-issue-extension", "iokit*", Inherit, EXTENSION_CLASS),
    op("iokit-open*", "iokit*", Inherit, UNKNOWN),
    op("iokit-open-service", "iokit-open*", Allow, UNKNOWN),
    op("iokit-open-user-client", "iokit-open*", Inherit, UNKNOWN),
    op("iokit-set-properties", "iokit*", Inherit, IOKIT),
    op("ipc*", "default", Inherit, COMMON),
    op("ipc-posix*", "ipc*", Inherit, POSIX_IPC),
    op("ipc-posix-issue-extension", "ipc-posix*", Inherit, POSIX_IPC_EXTENSION_CLASS),
    op("ipc-posix-sem*", "ipc-posix*", Inherit, SEMAPHORE),
    op("ipc-posix-sem-create", "ipc-posix-sem*", Inherit, SEMAPHORE),
    op("ipc-posix-sem-open", "ipc-posix-sem*", Inherit, SEMAPHORE),
    op("ipc-posix-sem-post", "ipc-posix-sem*", Inherit, SEMAPHORE),
    op("ipc-posix-sem-unlink", "ipc-posix-sem*", Inherit, SEMAPHORE),
    op("ipc-posix-sem-wait", "ipc-posix-sem*", Inherit, SEMAPHORE),
    op("ipc-posix-shm*", "ipc-posix*", Inherit, POSIX_IPC),
    op("ipc-posix-shm-read-data", "ipc-posix-shm*", Inherit, POSIX_IPC),
    op("ipc-posix-shm-write*", "ipc-posix-shm*", Inherit, POSIX_IPC),
    op("ipc-posix-shm-write-create", "ipc-posix-shm-write*", Inherit, POSIX_IPC),
    op("ipc-posix-shm-write-data", "ipc-posix-shm-write*", Inherit, POSIX_IPC),
    op("ipc-posix-shm-write-unlink", "ipc-posix-shm-write*", Inherit, POSIX_IPC),
    op("ipc-sysv*", "ipc*", Inherit, COMMON),
    op("ipc-sysv-msg", "ipc-sysv*", Inherit, COMMON),
    op("ipc-sysv-sem", "ipc-sysv*", Inherit, COMMON),
    op("ipc-sysv-shm", "ipc-sysv*", Inherit, COMMON),
    op("job-creation", "default", Deny, COMMON),
    op("lsopen", "default", Inherit, COMMON),
    op("mach*", "default", Inherit, COMMON),
    op("mach-bootstrap", "mach*", Allow, UNKNOWN),
    op("mach-cross-domain-lookup", "default", Allow, MACH),
    op("mach-derive-port", "mach*", Allow, UNKNOWN),
    op("mach-host*", "mach*", Inherit, COMMON),
    op("mach-host-exception-port-set", "mach-host*", Inherit, COMMON),
    op("mach-host-special-port-set", "mach-host*", Inherit, MACH_SPECIAL_PORT),
    op("mach-issue-extension", "mach*", Inherit, MACH_EXTENSION_CLASS),
    op("mach-kernel-endpoint", "mach*", Allow, UNKNOWN),
    op("mach-lookup", "mach*", Inherit, MACH),
    op("mach-message-send", "default-message-filter", Graph, UNKNOWN),
    op("mach-priv*", "mach*", Inherit, COMMON),
    op("mach-priv-host-port", "mach-priv*", Inherit, COMMON),
    op("mach-priv-task-port", "mach-priv*", Inherit, PATH_TARGET),
    op("mach-register", "mach*", Inherit, MACH),
    op("mach-task*", "mach*", Inherit, UNKNOWN),
    op("mach-task-inspect", "mach-task*", Graph, UNKNOWN),
    op("mach-task-name", "mach-task*", Inherit, TARGET),
    op("mach-task-read", "mach-task*", Graph, UNKNOWN),
    op("mach-task-special-port*", "mach-task*", Allow, UNKNOWN),
    op("mach-task-special-port-get", "mach-task-special-port*", Inherit, UNKNOWN),
    op("mach-task-special-port-set", "mach-task-special-port*", Inherit, UNKNOWN),
    op("managed-preference-read", "user-preference-read", Inherit, PREFERENCE_DOMAIN),
    op("necp-client-open", "default", Allow, UNKNOWN),
    op("network*", "default", Inherit, NETWORK),
    op("network-bind", "network-inbound", Inherit, NETWORK),
    op("network-inbound", "network*", Inherit, NETWORK),
    op("network-outbound", "network*", Inherit, NETWORK),
    op("nvram*", "default", Allow, NVRAM),
    op("nvram-delete", "nvram*", Inherit, NVRAM),
    op("nvram-get", "nvram*", Inherit, NVRAM),
    op("nvram-set", "nvram*", Inherit, NVRAM),
    op("opendirectory-user-modify", "default", Inherit, COMMON),
    op("process*", "default", Inherit, COMMON),
    op("process-codesigning", "process*", Allow, UNKNOWN),
    op("process-exec*", "process*", Inherit, EXEC),
    op("process-exec-interpreter", "process-exec*", Inherit, EXEC),
    op("process-exec-update-label", "default", Allow, UNKNOWN),
    op("process-fork", "process*", Inherit, COMMON),
    op("process-info*", "default", Allow, COMMON),
    op("process-info-codesignature", "default", Allow, TARGET),
    op("process-info-dirtycontrol", "process-info*", Inherit, TARGET),
    op("process-info-ledger", "process-info*", Inherit, UNKNOWN),
    op("process-info-listpids", "process-info*", Inherit, COMMON),
    op("process-info-pidfdinfo", "process-info*", Inherit, TARGET),
    op("process-info-pidfileportinfo", "process-info*", Inherit, TARGET),
    op("process-info-pidinfo", "process-info*", Inherit, TARGET),
    op("process-info-rusage", "process-info*", Inherit, TARGET),
    op("process-info-setcontrol", "process-info*", Inherit, TARGET),
    op("process-legacy-codesigning*", "process*", Inherit, UNKNOWN),
    op("process-legacy-codesigning-blob-get", "process*", Inherit, UNKNOWN),
    op("process-legacy-codesigning-cdhash-get", "process*", Inherit, UNKNOWN),
    op("process-legacy-codesigning-entitlements-blob-get", "process*", Inherit, UNKNOWN),
    op("process-legacy-codesigning-entitlements-der-blob-get", "process*", Inherit, UNKNOWN),
    op("process-legacy-codesigning-identity-get", "process*", Inherit, UNKNOWN),
    op("process-legacy-codesigning-status*", "process-legacy-codesigning*", Inherit, UNKNOWN),
    op("process-legacy-codesigning-status-get", "process-legacy-codesigning-status*", Inherit, UNKNOWN),
    op("process-legacy-codesigning-status-set", "process-legacy-codesigning-status*", Inherit, UNKNOWN),
    op("process-legacy-codesigning-teamid-get", "process*", Inherit, UNKNOWN),
    op("process-legacy-codesigning-text-offset-get", "process*", Inherit, UNKNOWN),
    op("pseudo-tty", "default", Inherit, COMMON),
    op("qtn-user", "default", Inherit, PATH),
    op("signal", "default", Inherit, TARGET_SIGNAL),
    op("socket-ioctl", "default", Allow, SOCKET_IOCTL),
    op("socket-option*", "default", Inherit, UNKNOWN),
    op("socket-option-get", "socket-option*", Allow, UNKNOWN),
    op("socket-option-set", "socket-option*", Allow, UNKNOWN),
    op("storage-class-map", "default", Deny, ONLY_PATH),
    op("syscall*", "default", Inherit, UNKNOWN),
    op("syscall-mach", "syscall*", Allow, UNKNOWN),
    op("syscall-mig", "syscall*", Allow, UNKNOWN),
    op("syscall-unix", "default", Allow, SYSCALL),
    op("sysctl*", "default", Inherit, SYSCTL),
    op("sysctl-read", "sysctl*", Inherit, SYSCTL),
    op("sysctl-write", "sysctl*", Inherit, SYSCTL),
    op("system*", "default", Inherit, COMMON),
    op("system-acct", "system*", Inherit, COMMON),
    op("system-audit", "system*", Inherit, COMMON),
    op("system-automount", "system*", Inherit, PATH),
    op("system-debug", "system*", Inherit, TARGET),
    op("system-fcntl", "system*", Allow, UNKNOWN),
    op("system-fsctl", "system*", Inherit, FSCTL),
    op("system-info", "system*", Inherit, INFO),
    op("system-kas-info", "system*", Inherit, UNKNOWN),
    op("system-kext*", "system*", Inherit, COMMON),
    op("system-kext-load", "system-kext*", Inherit, KEXT_BUNDLE_ID),
    op("system-kext-query", "system-kext*", Inherit, COMMON),
    op("system-kext-unload", "system-kext*", Inherit, KEXT_BUNDLE_ID),
    op("system-mac*", "system*", Inherit, UNKNOWN),
    op("system-mac-label", "system-mac*", Inherit, COMMON),
    op("system-mac-syscall", "system-mac*", Allow, UNKNOWN),
    op("system-memorystatus-control", "system*", Allow, UNKNOWN),
    op("system-necp-client-action", "system*", Allow, UNKNOWN),
    op("system-nfssvc", "system*", Inherit, COMMON),
    op("system-package-check", "system*", Inherit, COMMON),
    op("system-privilege", "default", Allow, PRIV),
    op("system-reboot", "system*", Inherit, REBOOT_FLAGS),
    op("system-sched", "system*", Inherit, TARGET),
    op("system-set-time", "system*", Inherit, COMMON),
    op("system-socket", "system*", Inherit, SOCKET),
    op("system-suspend-resume", "system*", Inherit, COMMON),
    op("system-swap", "system*", Inherit, COMMON),
    op("user-preference*", "default", Inherit, PREFERENCE_DOMAIN),
    op("user-preference-read", "user-preference*", Inherit, PREFERENCE_DOMAIN),
    op("user-preference-write", "user-preference*", Inherit, PREFERENCE_DOMAIN),
    op("xpc-message-send", "default-message-filter", Allow, UNKNOWN),
];
