//! A name server for the inside of a sandbox (RFC 1035): it knows an address for every name that could be admitted, and no other name. It
//! asks nobody, so that what a command puts into a name goes nowhere.

use super::gate::Keeper;
use crate::plan::hosts::could_admit;
use crate::policy::host::Host;
use std::net::Ipv4Addr;

/// The largest question that is read, in bytes: one without extensions has 12 + 255 + 4.
pub const LARGEST: usize = 1232;

const HEADER: usize = 12;
const A: u16 = 1;
const AAAA: u16 = 28;
const ANY: u16 = 255;
const INTERNET: u16 = 1;
/// Seconds that an answer may be remembered: for the run, mostly.
const TIME_TO_LIVE: u32 = 60;

/// Response codes (RFC 1035, 4.1.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Code {
    NoError = 0,
    FormatError = 1,
    ServerFailure = 2,
    NameError = 3,
    NotImplemented = 4,
}

/// The answer to a message, or `None` where it is no question that can be answered at all.
pub fn answer(message: &[u8], keeper: &Keeper) -> Option<Vec<u8>> {
    let header = message.get(..HEADER)?;
    let word = |at: usize| Some(u16::from_be_bytes([*header.get(at)?, *header.get(at + 1)?]));
    let flags = word(2)?;
    if flags & 0x8000 != 0 {
        // An answer itself: two servers would go on for ever.
        return None;
    }
    let reply = |code: Code, question: &[u8], answers: &[(u16, Vec<u8>)]| {
        // Recursion was desired and is available, and this server is not the authority.
        let flags = 0x8080 | (flags & 0x7900) | code as u16;
        let mut reply = header.get(..2).unwrap_or_default().to_vec();
        let count = |number: usize| u16::try_from(number).unwrap_or(0).to_be_bytes();
        reply.extend(flags.to_be_bytes());
        reply.extend(count(usize::from(!question.is_empty())));
        reply.extend(count(answers.len()));
        reply.extend([0; 4]);
        reply.extend(question);
        for (kind, data) in answers {
            // The name is that of the question, which begins behind the header.
            reply.extend([0xc0, 12]);
            reply.extend(kind.to_be_bytes());
            reply.extend(INTERNET.to_be_bytes());
            reply.extend(TIME_TO_LIVE.to_be_bytes());
            reply.extend(count(data.len()));
            reply.extend(data);
        }
        Some(reply)
    };
    if flags & 0x7800 != 0 {
        return reply(Code::NotImplemented, &[], &[]);
    }
    let Some((name, kind, class, end)) = question(message).filter(|_| word(4) == Some(1)) else {
        return reply(Code::FormatError, &[], &[]);
    };
    let asked = message.get(HEADER..end)?;
    if class != INTERNET {
        return reply(Code::NotImplemented, asked, &[]);
    }
    let data: Vec<(u16, Vec<u8>)> = match look_up(&name, keeper) {
        Err(code) => return reply(code, asked, &[]),
        Ok(None) => match kind {
            A => vec![(A, vec![127, 0, 0, 1])],
            AAAA => vec![(AAAA, std::net::Ipv6Addr::LOCALHOST.octets().to_vec())],
            _ => Vec::new(),
        },
        Ok(Some(address)) if matches!(kind, A | ANY) => vec![(A, address.octets().to_vec())],
        // It is there, and has nothing of that kind.
        Ok(Some(_)) => Vec::new(),
    };
    reply(Code::NoError, asked, &data)
}

/// The address that stands for a name; `None` for the sandbox itself.
fn look_up(name: &str, keeper: &Keeper) -> Result<Option<Ipv4Addr>, Code> {
    let host = Host::parse(name).map_err(|_| Code::NameError)?;
    let Host::Name(name) = &host else { return Err(Code::NameError) };
    if host.is_localhost() {
        return Ok(None);
    }
    if !could_admit(keeper.rules(), &host) {
        keeper.unnamed(host);
        return Err(Code::NameError);
    }
    keeper.names().address(name).map(Some).ok_or(Code::ServerFailure)
}

/// The one question of a message: its name as text, its kind and class, and where it ends. Names in questions are not compressed.
fn question(message: &[u8]) -> Option<(String, u16, u16, usize)> {
    let mut name = String::new();
    let mut at = HEADER;
    loop {
        let length = usize::from(*message.get(at)?);
        at += 1;
        match length {
            0 => break,
            1..=63 => {
                let label = message.get(at..at + length)?;
                // A dot within a label, or a byte that is no letter, makes it another name than it looks.
                let label = std::str::from_utf8(label).ok().filter(|label| !label.contains('.'))?;
                if !name.is_empty() {
                    name.push('.');
                }
                name.push_str(label);
                at += length;
            }
            _ => return None,
        }
        if name.len() > 253 {
            return None;
        }
    }
    let word = |at: usize| Some(u16::from_be_bytes([*message.get(at)?, *message.get(at + 1)?]));
    Some((name, word(at)?, word(at + 2)?, at + 4))
}

#[cfg(test)]
mod tests;
