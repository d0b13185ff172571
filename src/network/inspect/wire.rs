//! In: a socket, and what was read from it before. Out: the same for asynchronous readers and writers, with a count of the bytes.

use std::cell::Cell;
use std::io;
use std::net::TcpStream;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Bytes that went over a socket.
#[derive(Debug, Default)]
pub(super) struct Count {
    pub read: Cell<u64>,
    pub written: Cell<u64>,
}

/// A socket that does not block.
pub(super) struct Wire {
    socket: tokio::net::TcpStream,
    held: Vec<u8>,
    taken: usize,
    count: Rc<Count>,
}

impl Wire {
    /// In a runtime; `held` was read already. From here on the socket itself does not block either.
    ///
    /// # Errors
    /// As dup(2), fcntl(2) and epoll_ctl(2).
    pub fn new(socket: &TcpStream, held: Vec<u8>) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        let socket = tokio::net::TcpStream::from_std(socket.try_clone()?)?;
        Ok(Self { socket, held, taken: 0, count: Rc::default() })
    }

    pub fn count(&self) -> Rc<Count> {
        Rc::clone(&self.count)
    }

    /// Ready once the peer is gone. Where it has something to say before, that is left for a reader, and it is not known.
    pub fn poll_gone(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut byte = [0];
        match ready!(self.socket.poll_peek(cx, &mut ReadBuf::new(&mut byte))) {
            Ok(0) | Err(_) => Poll::Ready(()),
            Ok(_) => Poll::Pending,
        }
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        let held = this.held.get(this.taken..).unwrap_or_default();
        if held.is_empty() {
            ready!(Pin::new(&mut this.socket).poll_read(cx, buffer))?;
        } else {
            let length = held.len().min(buffer.remaining());
            buffer.put_slice(held.get(..length).unwrap_or_default());
            this.taken += length;
        }
        let read = buffer.filled().len() - before;
        this.count.read.set(this.count.read.get() + read as u64);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Wire {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = ready!(Pin::new(&mut this.socket).poll_write(cx, bytes))?;
        this.count.written.set(this.count.written.get() + written as u64);
        Poll::Ready(Ok(written))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().socket).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().socket).poll_shutdown(cx)
    }
}
