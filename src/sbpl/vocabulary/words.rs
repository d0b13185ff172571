//! Words that stand for numbers: those that the system's public headers define. Of other lists (syscalls, privileges, attributes of processes)
//! no complete one is published, and any word is taken.

/// A word and its number.
pub type Words = &'static [(&'static str, i64)];

/// `sys/errno.h`.
pub const ERRNO: Words = &[
    ("EPERM", 1),
    ("ENOENT", 2),
    ("ESRCH", 3),
    ("EINTR", 4),
    ("EIO", 5),
    ("ENXIO", 6),
    ("E2BIG", 7),
    ("ENOEXEC", 8),
    ("EBADF", 9),
    ("ECHILD", 10),
    ("EDEADLK", 11),
    ("ENOMEM", 12),
    ("EACCES", 13),
    ("EFAULT", 14),
    ("ENOTBLK", 15),
    ("EBUSY", 16),
    ("EEXIST", 17),
    ("EXDEV", 18),
    ("ENODEV", 19),
    ("ENOTDIR", 20),
    ("EISDIR", 21),
    ("EINVAL", 22),
    ("ENFILE", 23),
    ("EMFILE", 24),
    ("ENOTTY", 25),
    ("ETXTBSY", 26),
    ("EFBIG", 27),
    ("ENOSPC", 28),
    ("ESPIPE", 29),
    ("EROFS", 30),
    ("EMLINK", 31),
    ("EPIPE", 32),
    ("EDOM", 33),
    ("ERANGE", 34),
    ("EAGAIN", 35),
    ("EWOULDBLOCK", 35),
    ("EINPROGRESS", 36),
    ("EALREADY", 37),
    ("ENOTSOCK", 38),
    ("EDESTADDRREQ", 39),
    ("EMSGSIZE", 40),
    ("EPROTOTYPE", 41),
    ("ENOPROTOOPT", 42),
    ("EPROTONOSUPPORT", 43),
    ("ESOCKTNOSUPPORT", 44),
    ("ENOTSUP", 45),
    ("EPFNOSUPPORT", 46),
    ("EAFNOSUPPORT", 47),
    ("EADDRINUSE", 48),
    ("EADDRNOTAVAIL", 49),
    ("ENETDOWN", 50),
    ("ENETUNREACH", 51),
    ("ENETRESET", 52),
    ("ECONNABORTED", 53),
    ("ECONNRESET", 54),
    ("ENOBUFS", 55),
    ("EISCONN", 56),
    ("ENOTCONN", 57),
    ("ESHUTDOWN", 58),
    ("ETOOMANYREFS", 59),
    ("ETIMEDOUT", 60),
    ("ECONNREFUSED", 61),
    ("ELOOP", 62),
    ("ENAMETOOLONG", 63),
    ("EHOSTDOWN", 64),
    ("EHOSTUNREACH", 65),
    ("ENOTEMPTY", 66),
    ("EPROCLIM", 67),
    ("EUSERS", 68),
    ("EDQUOT", 69),
    ("ESTALE", 70),
    ("EREMOTE", 71),
    ("EBADRPC", 72),
    ("ERPCMISMATCH", 73),
    ("EPROGUNAVAIL", 74),
    ("EPROGMISMATCH", 75),
    ("EPROCUNAVAIL", 76),
    ("ENOLCK", 77),
    ("ENOSYS", 78),
    ("EFTYPE", 79),
    ("EAUTH", 80),
    ("ENEEDAUTH", 81),
    ("EPWROFF", 82),
    ("EDEVERR", 83),
    ("EOVERFLOW", 84),
    ("EBADEXEC", 85),
    ("EBADARCH", 86),
    ("ESHLIBVERS", 87),
    ("EBADMACHO", 88),
    ("ECANCELED", 89),
    ("EIDRM", 90),
    ("ENOMSG", 91),
    ("EILSEQ", 92),
    ("ENOATTR", 93),
    ("EBADMSG", 94),
    ("EMULTIHOP", 95),
    ("ENODATA", 96),
    ("ENOLINK", 97),
    ("ENOSR", 98),
    ("ENOSTR", 99),
    ("EPROTO", 100),
    ("ETIME", 101),
    ("EOPNOTSUPP", 102),
    ("ENOPOLICY", 103),
    ("ENOTRECOVERABLE", 104),
    ("EOWNERDEAD", 105),
    ("EQFULL", 106),
];

/// `sys/signal.h`.
pub const SIGNALS: Words = &[
    ("SIGHUP", 1),
    ("SIGINT", 2),
    ("SIGQUIT", 3),
    ("SIGILL", 4),
    ("SIGTRAP", 5),
    ("SIGABRT", 6),
    ("SIGIOT", 6),
    ("SIGEMT", 7),
    ("SIGFPE", 8),
    ("SIGKILL", 9),
    ("SIGBUS", 10),
    ("SIGSEGV", 11),
    ("SIGSYS", 12),
    ("SIGPIPE", 13),
    ("SIGALRM", 14),
    ("SIGTERM", 15),
    ("SIGURG", 16),
    ("SIGSTOP", 17),
    ("SIGTSTP", 18),
    ("SIGCONT", 19),
    ("SIGCHLD", 20),
    ("SIGTTIN", 21),
    ("SIGTTOU", 22),
    ("SIGIO", 23),
    ("SIGXCPU", 24),
    ("SIGXFSZ", 25),
    ("SIGVTALRM", 26),
    ("SIGPROF", 27),
    ("SIGWINCH", 28),
    ("SIGINFO", 29),
    ("SIGUSR1", 30),
    ("SIGUSR2", 31),
];

/// `sys/socket.h`.
const DOMAINS: Words = &[
    ("AF_UNSPEC", 0),
    ("AF_UNIX", 1),
    ("AF_LOCAL", 1),
    ("AF_INET", 2),
    ("AF_IMPLINK", 3),
    ("AF_PUP", 4),
    ("AF_CHAOS", 5),
    ("AF_NS", 6),
    ("AF_ISO", 7),
    ("AF_OSI", 7),
    ("AF_ECMA", 8),
    ("AF_DATAKIT", 9),
    ("AF_CCITT", 10),
    ("AF_SNA", 11),
    ("AF_DECnet", 12),
    ("AF_DLI", 13),
    ("AF_LAT", 14),
    ("AF_HYLINK", 15),
    ("AF_APPLETALK", 16),
    ("AF_ROUTE", 17),
    ("AF_LINK", 18),
    ("AF_COIP", 20),
    ("AF_CNT", 21),
    ("AF_IPX", 23),
    ("AF_SIP", 24),
    ("AF_NDRV", 27),
    ("AF_ISDN", 28),
    ("AF_E164", 28),
    ("AF_INET6", 30),
    ("AF_NATM", 31),
    ("AF_SYSTEM", 32),
    ("AF_NETBIOS", 33),
    ("AF_PPP", 34),
    ("AF_IEEE80211", 37),
    ("AF_UTUN", 38),
    ("AF_MULTIPATH", 39),
    ("AF_VSOCK", 40),
];

/// `sys/socket.h`.
const TYPES: Words =
    &[("SOCK_STREAM", 1), ("SOCK_DGRAM", 2), ("SOCK_RAW", 3), ("SOCK_RDM", 4), ("SOCK_SEQPACKET", 5)];

/// The list of words that an attribute's filter takes beside numbers, where one is known to be complete.
pub fn of_attribute(attribute: &str) -> Option<Words> {
    Some(match attribute {
        "signal-number" => SIGNALS,
        "socket-domain" => DOMAINS,
        "socket-type" => TYPES,
        _ => return None,
    })
}

/// The same for a modifier.
pub fn of_modifier(modifier: &str) -> Option<Words> {
    Some(match modifier {
        "errno" => ERRNO,
        "send-signal" => SIGNALS,
        _ => return None,
    })
}

/// The number that a word stands for, or that it is.
pub fn number(attribute: &str, word: &str) -> Option<i64> {
    let named = of_attribute(attribute).and_then(|words| words.iter().find(|(name, _)| *name == word));
    named.map(|(_, number)| *number).or_else(|| word.parse().ok())
}

/// What is wrong with a number that one of these words should stand for.
pub fn out_of_range(words: Words, number: i64) -> bool {
    // Zero is no error and no signal, but asking for either is how a process is looked for.
    number < 0 || words.iter().map(|(_, number)| *number).max().is_some_and(|last| number > last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_unique_and_in_the_order_of_their_numbers() {
        for words in [ERRNO, SIGNALS, DOMAINS, TYPES] {
            assert!(words.windows(2).all(|pair| pair[0].1 <= pair[1].1), "{words:?}");
            let mut names: Vec<_> = words.iter().map(|(name, _)| name).collect();
            names.sort();
            names.dedup();
            assert_eq!(names.len(), words.len());
        }
        assert_eq!(number("socket-domain", "AF_LOCAL"), number("socket-domain", "AF_UNIX"));
        assert_eq!(number("syscall-number", "SYS_read"), None);
        assert_eq!(number("syscall-number", "3"), Some(3));
    }
}
