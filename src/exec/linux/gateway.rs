//! The gateway of a sandbox, whose sockets are made in there. It has no right to write or run anything; it reads what looking up a name
//! takes.

use super::super::gateway::{Gateway, Orders, fill_streams, kept, serve};
use super::super::inspection::Inspection;
use super::confine;
use super::doors;
use super::report::Failure;
use crate::sys::linux::close_all_but;
use rustix::fd::{AsFd, OwnedFd};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::process::{Signal, set_parent_process_death_signal, setsid};
use std::io;

/// Starts it. The other value is for the first process of the sandbox, which must be the only one to keep it: that it closes ends the
/// gateway.
///
/// # Errors
/// As socketpair(2), pipe(2) and fork(2).
pub fn start(orders: Orders, inspection: Option<Inspection>) -> io::Result<(Gateway, OwnedFd)> {
    let (outside, inside) =
        socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
    let gateway = Gateway::start(|tell| life(orders, inspection, &outside, tell))?;
    Ok((gateway, inside))
}

fn life(
    mut orders: Orders,
    inspection: Option<Inspection>,
    inside: &OwnedFd,
    tell: OwnedFd,
) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    if let Some(inspection) = inspection {
        orders.inspect(inspection, &tell)?;
    }
    // Away from the terminal's signals: it ends when the sandbox does.
    setsid()?;
    close_all_but(&kept(&orders, &[inside.as_fd(), tell.as_fd()]))?;
    fill_streams()?;
    let Some(doors) = doors::receive(inside)? else { return Ok(()) };
    let failed = |failure: Failure| io::Error::from_raw_os_error(failure.errno);
    confine::drop_own_privileges().map_err(failed)?;
    confine::restrict_gateway().map_err(failed)?;
    confine::filter_gateway().map_err(failed)?;
    serve(orders, doors, inside, tell)
}
