//! Connects to one of several addresses. One that does not answer must not keep the others waiting (RFC 8305).

use super::Opened;
use std::net::{IpAddr, TcpStream};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// How long an address is waited for alone (RFC 8305, section 5).
const STAGGER: Duration = Duration::from_millis(250);
/// How long all of them are.
const PATIENCE: Duration = Duration::from_secs(15);
/// How many are tried.
const MOST: usize = 8;
/// Enough to connect.
const STACK: usize = 64 << 10;

/// Nobody is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unanswered {
    Refused,
    TooSlow,
}

/// Connects to the first of these that answers.
///
/// # Errors
/// Every one has refused, or none has answered in 15 s.
pub fn any(addresses: &[IpAddr], port: u16) -> Result<Opened, Unanswered> {
    let addresses = addresses.get(..MOST.min(addresses.len())).unwrap_or(addresses);
    if let [only] = addresses {
        return connect(*only, port, PATIENCE).map_err(|error| match error.kind() {
            std::io::ErrorKind::TimedOut => Unanswered::TooSlow,
            _ => Unanswered::Refused,
        });
    }
    let (answer, answers) = channel();
    let deadline = Instant::now() + PATIENCE;
    let mut waiting = 0;
    let mut next = interleaved(addresses).into_iter();
    loop {
        let started = next.next().map(|address| spawn(address, port, &answer));
        waiting += usize::from(started == Some(true));
        let left = deadline.saturating_duration_since(Instant::now());
        let wait = if started.is_some() { STAGGER.min(left) } else { left };
        if started.is_none() && waiting == 0 {
            return Err(Unanswered::Refused);
        }
        match answers.recv_timeout(wait) {
            Ok(Ok(opened)) => return Ok(opened),
            Ok(Err(_)) => waiting -= 1,
            Err(RecvTimeoutError::Timeout) if !left.is_zero() => {}
            Err(_) => return Err(Unanswered::TooSlow),
        }
    }
}

type Answer = Result<Opened, std::io::Error>;

fn spawn(address: IpAddr, port: u16, answer: &Sender<Answer>) -> bool {
    let answer = answer.clone();
    let connect = move || {
        // Where another was faster, nobody listens any more, and this one is closed.
        let _ = answer.send(connect(address, port, PATIENCE));
    };
    std::thread::Builder::new().stack_size(STACK).spawn(connect).is_ok()
}

fn connect(address: IpAddr, port: u16, patience: Duration) -> Answer {
    let stream = TcpStream::connect_timeout(&(address, port).into(), patience)?;
    stream.set_nodelay(true)?;
    Ok(Opened { stream, address })
}

/// One family after the other, beginning with that of the first (RFC 8305, section 4).
fn interleaved(addresses: &[IpAddr]) -> Vec<IpAddr> {
    let first_is_v6 = addresses.first().is_some_and(IpAddr::is_ipv6);
    let (one, other): (Vec<IpAddr>, Vec<IpAddr>) =
        addresses.iter().partition(|address| address.is_ipv6() == first_is_v6);
    let longest = one.len().max(other.len());
    (0..longest).flat_map(|at| [one.get(at), other.get(at)]).flatten().copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn families_take_turns() {
        let addresses = ["::1", "::2", "::3", "1.1.1.1"].map(|text| text.parse().unwrap());
        let expected: [IpAddr; 4] = ["::1", "1.1.1.1", "::2", "::3"].map(|text| text.parse().unwrap());
        assert_eq!(interleaved(&addresses), expected);
    }

    #[test]
    fn the_next_is_tried_where_one_refuses_and_all_refusing_is_an_error() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        // Nobody listens at the others.
        let addresses = ["127.0.0.2", "127.0.0.3", "127.0.0.1"].map(|text| text.parse().unwrap());
        assert_eq!(any(&addresses, port).unwrap().address, addresses[2]);
        assert_eq!(any(&addresses[..2], port).unwrap_err(), Unanswered::Refused);
        assert_eq!(any(&addresses[..1], port).unwrap_err(), Unanswered::Refused);
        assert_eq!(any(&[], port).unwrap_err(), Unanswered::Refused);
    }
}
