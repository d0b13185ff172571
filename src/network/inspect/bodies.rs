//! In: the bodies of requests and responses, as they come. Out: the same, searched for what does not belong there and rid of what must not come back.

use super::headers::says_what_is_asked;
use super::masks::{Masks, Restorer};
use super::pace::Busy;
use super::strays::Search;
use http_body_util::Full;
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::http::HeaderMap;
use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

pub(super) type Fault = Box<dyn std::error::Error + Send + Sync>;

/// Something does not belong in the body of a request.
#[derive(Debug, thiserror::Error)]
#[error("the placeholder of a masked variable")]
struct Misdirected;

/// The body of a request on its way to the server.
pub(super) struct Upward {
    body: Incoming,
    search: Search,
    /// The variables whose placeholders were found.
    found: Rc<RefCell<Option<Vec<String>>>>,
}

impl Upward {
    pub fn new(body: Incoming, search: Search, found: Rc<RefCell<Option<Vec<String>>>>) -> Self {
        Self { body, search, found }
    }
}

impl Body for Upward {
    type Data = Bytes;
    type Error = Fault;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Fault>>> {
        let this = self.get_mut();
        let Some(frame) = ready!(Pin::new(&mut this.body).poll_frame(cx)) else { return Poll::Ready(None) };
        let mut frame = frame?;
        if let Some(trailers) = frame.trailers_mut() {
            let asking: Vec<_> = trailers.keys().filter(|name| says_what_is_asked(name)).cloned().collect();
            asking.iter().for_each(|name| drop(trailers.remove(name)));
        }
        if !this.search.is_idle() {
            if let Some(data) = frame.data_ref() {
                this.search.piece(data);
            } else if let Some(trailers) = frame.trailers_ref() {
                trailers.iter().for_each(|(name, value)| this.search.field(name.as_ref(), value.as_bytes()));
            }
            if let Some(found) = this.search.found() {
                this.found.replace(Some(found));
                return Poll::Ready(Some(Err(Misdirected.into())));
            }
        }
        Poll::Ready(Some(Ok(frame)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The body of a response on its way to the client.
pub(super) struct Downward {
    from: From,
    busy: Busy,
}

enum From {
    /// Of one's own.
    Own(Full<Bytes>),
    /// Of the server.
    Server(Incoming),
    /// Of a server that may send values back.
    Restored { body: Incoming, masks: Masks, restorer: Option<Restorer>, trailers: Option<HeaderMap> },
}

impl Downward {
    pub fn own(text: String, busy: Busy) -> Self {
        Self { from: From::Own(Full::new(Bytes::from(text))), busy }
    }

    pub fn server(body: Incoming, masks: &Masks, busy: Busy) -> Self {
        let from = if masks.is_empty() {
            From::Server(body)
        } else {
            From::Restored { body, masks: masks.clone(), restorer: Some(masks.stream()), trailers: None }
        };
        Self { from, busy }
    }
}

impl Body for Downward {
    type Data = Bytes;
    type Error = Fault;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Fault>>> {
        let this = self.get_mut();
        let polled = this.from.poll(cx);
        if matches!(polled, Poll::Ready(Some(Err(_)))) {
            this.busy.cut();
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        match &self.from {
            From::Own(text) => text.is_end_stream(),
            From::Server(body) => body.is_end_stream(),
            // Something may still be kept back.
            From::Restored { body, restorer, trailers, .. } => match restorer {
                Some(restorer) => restorer.is_unused() && body.is_end_stream(),
                None => trailers.is_none(),
            },
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.from {
            From::Own(text) => text.size_hint(),
            From::Server(body) => body.size_hint(),
            // What is kept back is not in the body any more.
            From::Restored { body, restorer: Some(restorer), .. } if restorer.is_unused() => body.size_hint(),
            From::Restored { .. } => SizeHint::default(),
        }
    }
}

impl From {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Fault>>> {
        match self {
            Self::Own(text) => Pin::new(text).poll_frame(cx).map_err(|never| match never {}),
            Self::Server(body) => Pin::new(body).poll_frame(cx).map_err(Into::into),
            Self::Restored { body, masks, restorer, trailers } => loop {
                let Some(stream) = restorer.as_mut() else {
                    return Poll::Ready(trailers.take().map(|trailers| Ok(Frame::trailers(trailers))));
                };
                let data =
                    match ready!(Pin::new(&mut *body).poll_frame(cx)).transpose()?.map(Frame::into_data) {
                        Some(Ok(data)) => stream.feed(&data),
                        Some(Err(frame)) => {
                            *trailers = frame.into_trailers().ok().map(|mut trailers| {
                                take_out(&mut trailers, masks);
                                trailers
                            });
                            let data = stream.end();
                            *restorer = None;
                            data
                        }
                        None => {
                            let data = stream.end();
                            *restorer = None;
                            data
                        }
                    };
                if !data.is_empty() {
                    return Poll::Ready(Some(Ok(Frame::data(data.into()))));
                }
            },
        }
    }
}

/// Takes values out of fields. A name that has one in it is no name that a client waits for.
pub(super) fn take_out(fields: &mut HeaderMap, masks: &Masks) {
    if masks.is_empty() {
        return;
    }
    let named: Vec<_> = fields.keys().filter(|name| masks.names_one(name.as_str())).cloned().collect();
    for name in named {
        fields.remove(name);
    }
    for value in fields.values_mut() {
        if let Some(without) = masks.take_out(value.as_bytes()) {
            // A placeholder has no other characters than the value that it stands for may have.
            match hyper::header::HeaderValue::from_bytes(&without) {
                Ok(without) => *value = without,
                Err(_) => *value = hyper::header::HeaderValue::from_static(""),
            }
        }
    }
}
