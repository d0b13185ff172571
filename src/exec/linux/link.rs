//! What the supervisor and pid 1 of the sandbox say to each other: short messages over a pair of sockets that nobody else has.

use super::super::Ended;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::{Errno, IoSlice, IoSliceMut};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};
use std::io;
use std::mem::MaybeUninit;

/// What the supervisor asks of pid 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// Send this signal to the command's process group.
    Signal(i32),
    /// Send it to those in front of the command's terminal, as if it had been typed there; without a terminal, as above.
    Interrupt(i32),
    /// Stop everything, and say so.
    Freeze,
    /// Let what was frozen go on, with the command in front of its terminal or not.
    Thaw { front: bool },
}

/// What pid 1 tells the supervisor.
#[derive(Debug)]
pub enum Notice {
    /// The controlling side of the command's terminal.
    Terminal(OwnedFd),
    /// The command was stopped by this signal, or a freeze was asked for; everything is frozen.
    Stopped(i32),
    /// A private directory whose space is limited.
    Space(OwnedFd),
    /// Where it is asked what may be connected to.
    Questions(OwnedFd),
    /// The command has ended, and the kernel refuses another process beside those it has left.
    NoMoreProcesses,
    Ended(Ended),
}

/// One end.
#[derive(Debug)]
pub struct Link(OwnedFd);

impl AsFd for Link {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Link {
    /// Both ends; they close on exec.
    ///
    /// # Errors
    /// As socketpair(2).
    pub fn pair() -> io::Result<(Self, Self)> {
        let (one, other) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        Ok((Self(one), Self(other)))
    }

    /// # Errors
    /// As sendmsg(2): `EPIPE` where pid 1 has ended.
    pub fn ask(&self, request: Request) -> Result<(), Errno> {
        let (tag, value) = match request {
            Request::Signal(signal) => (0, signal),
            Request::Interrupt(signal) => (1, signal),
            Request::Freeze => (2, 0),
            Request::Thaw { front } => (3, i32::from(front)),
        };
        self.send(tag, value, None)
    }

    /// # Errors
    /// As sendmsg(2): `EPIPE` where the supervisor has ended.
    pub fn tell(&self, notice: &Notice) -> Result<(), Errno> {
        match notice {
            Notice::Terminal(terminal) => self.send(0, 0, Some(terminal.as_fd())),
            Notice::Stopped(signal) => self.send(1, *signal, None),
            Notice::Space(space) => self.send(2, 0, Some(space.as_fd())),
            Notice::NoMoreProcesses => self.send(3, 0, None),
            Notice::Ended(Ended::Exited(code)) => self.send(4, *code, None),
            Notice::Ended(Ended::Killed(signal)) => self.send(5, *signal, None),
            Notice::Questions(questions) => self.send(6, 0, Some(questions.as_fd())),
        }
    }

    /// The next request. `None` where there is none yet.
    ///
    /// # Errors
    /// `EPIPE` where the other end is closed; as recvmsg(2).
    pub fn request(&self) -> Result<Option<Request>, Errno> {
        let Some((tag, value, _)) = self.receive()? else { return Ok(None) };
        Ok(match tag {
            0 => Some(Request::Signal(value)),
            1 => Some(Request::Interrupt(value)),
            2 => Some(Request::Freeze),
            3 => Some(Request::Thaw { front: value != 0 }),
            _ => None,
        })
    }

    /// The next notice. `None` where there is none yet.
    ///
    /// # Errors
    /// `EPIPE` where the other end is closed; as recvmsg(2).
    pub fn notice(&self) -> Result<Option<Notice>, Errno> {
        let Some((tag, value, fd)) = self.receive()? else { return Ok(None) };
        Ok(match (tag, fd) {
            (0, Some(terminal)) => Some(Notice::Terminal(terminal)),
            (1, _) => Some(Notice::Stopped(value)),
            (2, Some(space)) => Some(Notice::Space(space)),
            (3, _) => Some(Notice::NoMoreProcesses),
            (4, _) => Some(Notice::Ended(Ended::Exited(value))),
            (5, _) => Some(Notice::Ended(Ended::Killed(value))),
            (6, Some(questions)) => Some(Notice::Questions(questions)),
            _ => None,
        })
    }

    fn send(&self, tag: u8, value: i32, fd: Option<BorrowedFd<'_>>) -> Result<(), Errno> {
        let [a, b, c, d] = value.to_ne_bytes();
        let bytes = [tag, a, b, c, d];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        let fds = fd.map(|fd| [fd]);
        if let Some(fds) = &fds {
            control.push(SendAncillaryMessage::ScmRights(fds));
        }
        sendmsg(&self.0, &[IoSlice::new(&bytes)], &mut control, SendFlags::NOSIGNAL).map(drop)
    }

    fn receive(&self) -> Result<Option<(u8, i32, Option<OwnedFd>)>, Errno> {
        let mut bytes = [0; 5];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
        match recvmsg(&self.0, &mut [IoSliceMut::new(&mut bytes)], &mut control, flags) {
            Err(Errno::AGAIN | Errno::INTR) => return Ok(None),
            Err(error) => return Err(error),
            Ok(received) if received.bytes == 0 => return Err(Errno::PIPE),
            Ok(_) => {}
        }
        let fd = control.drain().find_map(|message| match message {
            RecvAncillaryMessage::ScmRights(mut fds) => fds.next(),
            _ => None,
        });
        let [tag, value @ ..] = bytes;
        Ok(Some((tag, i32::from_ne_bytes(value), fd)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_arrives_as_it_was_sent() {
        let (supervisor, init) = Link::pair().unwrap();
        for request in [
            Request::Signal(15),
            Request::Interrupt(2),
            Request::Freeze,
            Request::Thaw { front: true },
            Request::Thaw { front: false },
        ] {
            supervisor.ask(request).unwrap();
            assert_eq!(init.request().unwrap(), Some(request));
        }
        assert_eq!(init.request().unwrap(), None);
        let (read, write) = rustix::pipe::pipe().unwrap();
        init.tell(&Notice::Terminal(write)).unwrap();
        init.tell(&Notice::Stopped(20)).unwrap();
        init.tell(&Notice::NoMoreProcesses).unwrap();
        init.tell(&Notice::Ended(Ended::Exited(3))).unwrap();
        init.tell(&Notice::Ended(Ended::Killed(9))).unwrap();
        drop(init);
        let Some(Notice::Terminal(write)) = supervisor.notice().unwrap() else { panic!("no descriptor") };
        rustix::io::write(&write, b"x").unwrap();
        assert_eq!(rustix::io::read(&read, &mut [0; 2]).unwrap(), 1);
        assert!(matches!(supervisor.notice().unwrap(), Some(Notice::Stopped(20))));
        assert!(matches!(supervisor.notice().unwrap(), Some(Notice::NoMoreProcesses)));
        assert!(matches!(supervisor.notice().unwrap(), Some(Notice::Ended(Ended::Exited(3)))));
        assert!(matches!(supervisor.notice().unwrap(), Some(Notice::Ended(Ended::Killed(9)))));
        assert_eq!(supervisor.notice().unwrap_err(), Errno::PIPE);
    }
}
