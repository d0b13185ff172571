//! In: the first bytes of a client on a tunnel. Out: what protocol they begin, as far as it names a host that must be the admitted one.

use super::hello::Hello;
use crate::policy::requests::is_token;

/// The longest first line that is waited for.
const LINE: usize = 64 * 1024;

/// What the first bytes are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Opening {
    /// It takes more of them to tell.
    Undecided,
    /// TLS, with the name that its client asks for, if any.
    Tls(Option<Vec<u8>>),
    /// A request of HTTP/1, or what a server may take for one.
    Http,
    /// Neither.
    Other,
    /// They cannot be read as what they begin; why, in a few words.
    Malformed(&'static str),
}

/// Looks at the first bytes as they come.
#[derive(Debug, Default)]
pub(super) struct Opener {
    hello: Hello,
}

impl Opener {
    /// What `bytes` begin: all that came so far, and all there will be where they have `ended`.
    pub fn look(&mut self, bytes: &[u8], ended: bool) -> Opening {
        let opening = match bytes {
            [0x16, 0x03, ..] => match self.hello.read(bytes) {
                Ok(Some(name)) => Opening::Tls(name),
                Ok(None) if ended => Opening::Malformed("a TLS greeting that ends early"),
                Ok(None) => Opening::Undecided,
                Err(_) => Opening::Malformed("a malformed TLS greeting"),
            },
            [] | [0x16] => Opening::Undecided,
            [0x16, ..] => Opening::Other,
            _ => http(bytes, ended),
        };
        // A sender who is done has said too little for a request or a greeting.
        if ended && opening == Opening::Undecided { Opening::Other } else { opening }
    }
}

/// Whether bytes are a request: a method, a space, and then `HTTP/` in the first line. Lenient, as the most lenient server is, so that
/// nothing that one would answer goes by: what is only nearly a request is found so by the strict reader. Lines of other protocols (a greeting
/// of SSH, SMTP or RTSP) have no such word in them.
fn http(bytes: &[u8], ended: bool) -> Opening {
    // Servers skip line ends, and some of them spaces, in front of a request (RFC 9112, 2.2).
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | 0x0b | 0x0c);
    let Some(start) = bytes.iter().position(|byte| !blank(byte)) else { return long(bytes) };
    let text = bytes.get(start..).unwrap_or_default();
    let Some(space) = text.iter().position(|byte| !is_token(*byte)) else { return long(bytes) };
    let after = text.get(space..).unwrap_or_default();
    if space == 0 || !matches!(after.first(), Some(b' ' | b'\t' | 0x0b | 0x0c)) {
        return Opening::Other;
    }
    let end = after.iter().position(|byte| *byte == b'\n');
    let line = after.get(..end.unwrap_or(after.len())).unwrap_or_default();
    let control = line.iter().position(|byte| *byte < b' ' && !blank(byte));
    let plain = line.get(..control.unwrap_or(line.len())).unwrap_or_default();
    if plain.windows(5).any(|word| word.eq_ignore_ascii_case(b"HTTP/")) {
        return Opening::Http;
    }
    if control.is_some() {
        // git has a NUL in its first line, behind a length; a word alone is as good as a method.
        let method = text.iter().take(space).all(u8::is_ascii_alphabetic);
        return if method { Opening::Http } else { Opening::Other };
    }
    match end {
        // `GET /` alone is a request of HTTP/0.9, which names no host.
        Some(_) if line.trim_ascii().starts_with(b"/") && !line.trim_ascii().contains(&b' ') => Opening::Http,
        Some(_) => Opening::Other,
        None if ended => Opening::Other,
        None => long(bytes),
    }
}

fn long(bytes: &[u8]) -> Opening {
    if bytes.len() > LINE {
        Opening::Malformed("a first line of more than 64 KiB")
    } else {
        Opening::Undecided
    }
}
