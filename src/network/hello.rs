//! In: the first bytes of a TLS client. Out: the name that it asks for (RFC 6066, 3; RFC 8446, 4.1.2).
//!
//! Strict: a message that two readers could take for two names is none.

/// What a first message may take, with its record headers.
const LIMIT: usize = 64 * 1024;
/// The longest fragment of a record in plain text (RFC 8446, 5.1).
const FRAGMENT: usize = 1 << 14;
const HANDSHAKE: u8 = 22;
const CLIENT_HELLO: u8 = 1;
const SERVER_NAME: u16 = 0;

/// Bytes that begin like a TLS client's and do not go on so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Malformed;

/// Puts the first message together from its records, as they come.
#[derive(Debug, Default)]
pub(super) struct Hello {
    /// How much of the bytes was taken apart.
    at: usize,
    message: Vec<u8>,
}

impl Hello {
    /// Reads on in `bytes`, which are those of the last time and what came since. The name is there, or found to be absent, once the message is
    /// complete.
    pub fn read(&mut self, bytes: &[u8]) -> Result<Option<Option<Vec<u8>>>, Malformed> {
        while let Some([kind, major, _, high, low]) =
            bytes.get(self.at..).and_then(|rest| rest.first_chunk::<5>())
        {
            let length = usize::from(u16::from_be_bytes([*high, *low]));
            if *kind != HANDSHAKE || *major != 3 || !(1..=FRAGMENT).contains(&length) {
                return Err(Malformed);
            }
            let Some(fragment) = bytes.get(self.at + 5..self.at + 5 + length) else { break };
            self.message.extend_from_slice(fragment);
            self.at += 5 + length;
            if let Some(&[kind, a, b, c]) = self.message.first_chunk::<4>() {
                let length = u32::from_be_bytes([0, a, b, c]) as usize;
                if kind != CLIENT_HELLO || length > LIMIT {
                    return Err(Malformed);
                }
                if self.message.len() >= 4 + length {
                    // Nothing comes behind it in its record: the server is to answer.
                    return server_name(self.message.get(4..).unwrap_or_default(), length).map(Some);
                }
            } else if self.message.first() != Some(&CLIENT_HELLO) {
                return Err(Malformed);
            }
        }
        if bytes.len() > LIMIT { Err(Malformed) } else { Ok(None) }
    }
}

fn server_name(body: &[u8], length: usize) -> Result<Option<Vec<u8>>, Malformed> {
    if body.len() != length {
        return Err(Malformed);
    }
    let mut body = Bytes(body);
    body.take(2 + 32)?;
    let session = body.vector8()?;
    let suites = body.vector16()?;
    let compressions = body.vector8()?;
    if session.len() > 32 || suites.is_empty() || suites.len() % 2 != 0 || compressions.is_empty() {
        return Err(Malformed);
    }
    if body.0.is_empty() {
        return Ok(None);
    }
    let mut extensions = Bytes(body.vector16()?);
    body.end()?;
    let mut name = None;
    let mut seen = std::collections::HashSet::new();
    while !extensions.0.is_empty() {
        let kind = extensions.number()?;
        let data = extensions.vector16()?;
        if !seen.insert(kind) {
            return Err(Malformed);
        }
        if kind == SERVER_NAME {
            name = Some(only_name(data)?);
        }
    }
    Ok(name)
}

/// The one name of a list of names: there may be one of each kind, and there is one kind.
fn only_name(data: &[u8]) -> Result<Vec<u8>, Malformed> {
    let mut data = Bytes(data);
    let mut list = Bytes(data.vector16()?);
    data.end()?;
    let kind = list.take(1)?;
    let name = list.vector16()?;
    list.end()?;
    if kind != [0] || name.is_empty() {
        return Err(Malformed);
    }
    Ok(name.to_vec())
}

/// The presentation language of TLS, as far as it is needed (RFC 8446, 3).
struct Bytes<'b>(&'b [u8]);

impl<'b> Bytes<'b> {
    fn take(&mut self, count: usize) -> Result<&'b [u8], Malformed> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(Malformed)?;
        self.0 = rest;
        Ok(taken)
    }

    fn number(&mut self) -> Result<u16, Malformed> {
        let (bytes, rest) = self.0.split_first_chunk::<2>().ok_or(Malformed)?;
        self.0 = rest;
        Ok(u16::from_be_bytes(*bytes))
    }

    fn vector8(&mut self) -> Result<&'b [u8], Malformed> {
        let length = *self.take(1)?.first().ok_or(Malformed)?;
        self.take(length.into())
    }

    fn vector16(&mut self) -> Result<&'b [u8], Malformed> {
        let length = self.number()?;
        self.take(length.into())
    }

    fn end(&self) -> Result<(), Malformed> {
        if self.0.is_empty() { Ok(()) } else { Err(Malformed) }
    }
}
