//! In: what is read from a client, and when its requests are answered. Out: whether it takes too long to complete one.

use std::cell::Cell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

use crate::network::Reason;

/// Where between requests a connection is.
#[derive(Debug, Clone, Default)]
pub(super) struct Pace {
    /// When the first bytes came of a request that is not complete yet.
    began: Rc<Cell<Option<Instant>>>,
    busy: Rc<Cell<bool>>,
    cut: Rc<Cell<bool>>,
}

impl Pace {
    /// A request is complete, and being answered for as long as the value lives.
    pub fn busy(&self) -> Busy {
        self.began.set(None);
        self.busy.set(true);
        Busy(self.clone())
    }

    pub fn is_busy(&self) -> bool {
        self.busy.get()
    }

    /// Whether a response was cut off.
    pub fn is_cut(&self) -> bool {
        self.cut.get()
    }

    /// Ready once a request was begun and not completed in time. A connection without any request may last.
    pub fn poll_slow(
        &self,
        time: Duration,
        timer: &mut Option<(Instant, Pin<Box<Sleep>>)>,
        cx: &mut Context<'_>,
    ) -> Poll<Reason> {
        let Some(until) = self.began.get().map(|began| began + time) else {
            *timer = None;
            return Poll::Pending;
        };
        if timer.as_ref().is_none_or(|(at, _)| *at != until) {
            *timer = Some((until, Box::pin(tokio::time::sleep_until(until.into()))));
        }
        match timer {
            Some((_, sleep)) => sleep.as_mut().poll(cx).map(|()| Reason::TooSlow),
            None => Poll::Pending,
        }
    }
}

/// A request is being answered.
pub(super) struct Busy(Pace);

impl Busy {
    /// Its answer is cut off.
    pub fn cut(&self) {
        self.0.cut.set(true);
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.busy.set(false);
    }
}

/// A client's stream, of which is known when a request begins on it.
pub(super) struct Watched<S> {
    pub stream: S,
    pub pace: Pace,
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        ready!(Pin::new(&mut this.stream).poll_read(cx, buffer))?;
        let pace = &this.pace;
        if buffer.filled().len() > before && !pace.busy.get() && pace.began.get().is_none() {
            pace.began.set(Some(Instant::now()));
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}
