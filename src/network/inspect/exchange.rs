//! In: one request on a connection that is read. Out: the request as the server gets it, with the values that the command does not have, and its
//! response without them; or a refusal.

use super::bodies::{Downward, Upward, take_out};
use super::headers::{
    is_coded, is_message_coded, is_websocket, lasting, names_other_path, other_methods, upgrade, words,
};
use super::masks::Masks;
use super::pace::{Busy, Pace};
use super::strays::Search;
use crate::network::http::answer;
use crate::network::{Gate, Reason, Refused, Via, gate};
use crate::plan::hosts::{DEFAULT_PORT, limits, may_ask};
use crate::plan::request::can_be_named;
use crate::policy::NetworkRule;
use crate::policy::host::Target;
use hyper::body::Incoming;
use hyper::client::conn::http1::SendRequest;
use hyper::http::header::{self, HeaderMap, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode, Uri, Version};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;

/// The longest method that is written into a line or a record.
const METHOD: usize = 24;

/// The connection is over without an answer: its client may ask anew, as it does where a server has closed one that was kept open.
#[derive(Debug, thiserror::Error)]
#[error("the server is gone")]
pub(super) struct Over;

/// What all requests of a connection have in common.
pub(super) struct Exchange<'s> {
    pub gate: &'s dyn Gate,
    pub via: Via,
    pub target: &'s Target,
    pub rules: &'s [NetworkRule],
    pub masks: Masks,
    /// What finds placeholders that do not belong to the target.
    pub search: Search,
    /// The server; not there while it is asked, nor once it is lost.
    pub server: RefCell<Option<SendRequest<Upward>>>,
    pub told: Told,
}

/// What became of the requests.
#[derive(Default)]
pub(super) struct Told {
    pub requests: Cell<u64>,
    /// The variables whose values were put in.
    pub secrets: RefCell<BTreeSet<String>>,
    /// Why the connection is ended here.
    pub why: Cell<Option<Reason>>,
    /// Whether that is on record.
    pub refused: Cell<bool>,
    pub pace: Pace,
    /// Whether both sides have gone over to another protocol.
    pub switched: Cell<bool>,
    /// Placeholders in a body.
    pub found: Rc<RefCell<Option<Vec<String>>>>,
}

/// Why a request is not sent.
struct Refusal {
    reason: Reason,
    line: Option<String>,
    /// The method that is not allowed, where it is not the request's own.
    method: Option<String>,
}

impl From<Reason> for Refusal {
    fn from(reason: Reason) -> Self {
        Self { reason, line: None, method: None }
    }
}

/// A request as the server gets it.
struct Outgoing {
    request: Request<()>,
    upgrade: bool,
}

impl Exchange<'_> {
    /// Answers one request.
    ///
    /// # Errors
    /// There is no answer.
    pub async fn answer(&self, request: Request<Incoming>) -> Result<Response<Downward>, Over> {
        let busy = self.told.pace.busy();
        self.told.requests.set(self.told.requests.get() + 1);
        let (head, body) = request.into_parts();
        let method = head.method.clone();
        match self.outgoing(&head) {
            Ok(outgoing) => self.pass(outgoing, body, &method, busy).await,
            Err(refusal) => Ok(self.refuse(refusal, &method, busy)),
        }
    }

    /// What the server is sent.
    fn outgoing(&self, head: &Parts) -> Result<Outgoing, Refusal> {
        self.look_for_strays(head)?;
        let uri = self.meant(head)?;
        if words(&head.headers, "expect").any(|word| word != "100-continue") {
            return Err(Reason::BadRequest("an expectation other than 100-continue").into());
        }
        self.may_ask(head.method.as_str(), uri.path())?;
        for method in other_methods(&head.headers) {
            self.may_ask(&method, uri.path())
                .map_err(|refusal| Refusal { method: Some(method.clone()), ..refusal })?;
        }
        if is_message_coded(&head.headers) {
            return Err(Reason::BadRequest("a transfer coding other than chunked").into());
        }
        // The path that is asked for then is one that nobody has judged.
        if names_other_path(&head.headers) && self.limits_paths() {
            return Err(Reason::RequestNotAllowed.into());
        }
        let asked = upgrade(head);
        let upgrade = asked.is_some();
        let mut request = Request::new(());
        *request.method_mut() = head.method.clone();
        *request.uri_mut() = uri;
        *request.headers_mut() = self.fields(head, asked)?;
        Ok(Outgoing { request, upgrade })
    }

    fn look_for_strays(&self, head: &Parts) -> Result<(), Refusal> {
        if self.search.is_idle() {
            return Ok(());
        }
        let mut search = self.search.clone();
        search.text(head.method.as_str().as_bytes());
        search.path(head.uri.to_string().as_bytes());
        head.headers.iter().for_each(|(name, value)| search.field(name.as_ref(), value.as_bytes()));
        match search.found() {
            Some(found) => {
                self.told.found.replace(Some(found));
                Err(Reason::SecretMisdirected.into())
            }
            None => Ok(()),
        }
    }

    /// Path and query of a request that is meant for the target and for no other host.
    fn meant(&self, head: &Parts) -> Result<Uri, Refusal> {
        let same = |text: &[u8], default: u16| {
            let named =
                std::str::from_utf8(text).ok().and_then(|text| Target::parse(text, Some(default)).ok());
            if named.as_ref() == Some(self.target) {
                Ok(())
            } else {
                Err(Refusal::from(Reason::HostMismatch))
            }
        };
        let mut hosts = head.headers.get_all(header::HOST).iter();
        match hosts.next() {
            Some(host) => same(host.as_bytes(), self.target.port)?,
            None if head.version == Version::HTTP_11 => {
                return Err(Reason::BadRequest("no Host in a request of HTTP/1.1").into());
            }
            None => {}
        }
        if hosts.next().is_some() {
            return Err(Reason::BadRequest("more than one Host").into());
        }
        match (head.uri.scheme_str(), head.uri.authority()) {
            (None, None) => {}
            // A server follows the URL, not the `Host` beside it.
            (Some("https"), Some(authority)) => same(authority.as_str().as_bytes(), DEFAULT_PORT)?,
            _ => return Err(Reason::HostMismatch.into()),
        }
        let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
        let of_server = path == "*" && head.method == Method::OPTIONS;
        if !path.starts_with('/') && !of_server {
            return Err(Reason::BadRequest("neither a path nor an https:// URL").into());
        }
        path.parse().map_err(|_| Reason::BadRequest("a path that cannot be read").into())
    }

    fn limits_paths(&self) -> bool {
        limits(self.rules, self.target).iter().any(|(requests, _)| !requests.paths.is_empty())
    }

    fn may_ask(&self, method: &str, path: &str) -> Result<(), Refusal> {
        if may_ask(self.rules, self.target, method, path).allowed {
            return Ok(());
        }
        let line = gate::allowance(self.target).filter(|_| method.len() <= METHOD && can_be_named(method));
        let line = line.map(|line| format!("{line} methods {method}"));
        Err(Refusal { line, ..Reason::RequestNotAllowed.into() })
    }

    /// The fields that the server is sent, with what is put in.
    fn fields(&self, head: &Parts, upgrade: Option<HeaderValue>) -> Result<HeaderMap, Refusal> {
        let unsayable = |_| Refusal::from(Reason::BadRequest("a field that cannot be sent on"));
        let mut fields = HeaderMap::new();
        let host = match self.target.port {
            DEFAULT_PORT => self.target.host.to_string(),
            _ => self.target.to_string(),
        };
        fields.insert(header::HOST, HeaderValue::try_from(host).map_err(|_| Reason::BadHost)?);
        let mut put_in = BTreeSet::new();
        for (name, value) in lasting(&head.headers) {
            let mut value = value.clone();
            if let Some(filled) = self.masks.put_in(value.as_bytes(), &mut put_in) {
                value = HeaderValue::from_bytes(&filled).map_err(unsayable)?;
                value.set_sensitive(true);
            }
            fields.append(name, value);
        }
        if !self.masks.is_empty() {
            // What comes back must be readable, and whole: two halves of a value are none.
            fields.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
            fields.remove(header::RANGE);
            fields.remove(header::IF_RANGE);
            fields.remove(header::SEC_WEBSOCKET_EXTENSIONS);
        }
        if let Some(protocol) = upgrade {
            fields.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
            fields.insert(header::UPGRADE, protocol);
        } else if words(&head.headers, "te").any(|word| word == "trailers") {
            fields.insert(header::CONNECTION, HeaderValue::from_static("te"));
            fields.insert(header::TE, HeaderValue::from_static("trailers"));
        }
        self.told.secrets.borrow_mut().extend(put_in);
        Ok(fields)
    }

    async fn pass(
        &self,
        outgoing: Outgoing,
        body: Incoming,
        method: &Method,
        busy: Busy,
    ) -> Result<Response<Downward>, Over> {
        let mut server = self.server.borrow_mut().take().ok_or(Over)?;
        server.ready().await.map_err(|_| Over)?;
        let body = Upward::new(body, self.search.clone(), Rc::clone(&self.told.found));
        let sent = server.send_request(outgoing.request.map(|()| body)).await;
        if self.told.found.borrow().is_some() {
            return Ok(self.refuse(Reason::SecretMisdirected.into(), method, busy));
        }
        let (head, body) = match sent {
            Ok(answer) => answer.into_parts(),
            Err(error) if error.is_parse() => return Ok(self.refuse(Reason::BadAnswer.into(), method, busy)),
            Err(_) => return Err(Over),
        };
        let bodiless = *method == Method::HEAD || [204, 304].contains(&head.status.as_u16());
        if !bodiless && (is_message_coded(&head.headers) || !self.masks.is_empty() && is_coded(&head.headers))
        {
            return Ok(self.refuse(Reason::Encoded.into(), method, busy));
        }
        let mut response = Response::new(Downward::server(body, &self.masks, busy));
        *response.status_mut() = head.status;
        let fields = response.headers_mut();
        for (name, value) in lasting(&head.headers) {
            fields.append(name, value.clone());
        }
        if head.headers.contains_key(header::TRANSFER_ENCODING) {
            // It says nothing beside chunks (RFC 9112, 6.3).
            fields.remove(header::CONTENT_LENGTH);
        }
        if head.status == StatusCode::SWITCHING_PROTOCOLS {
            if !outgoing.upgrade || !is_websocket(&head.headers) {
                return Err(Over);
            }
            fields.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
            fields.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
            self.told.switched.set(true);
        }
        take_out(fields, &self.masks);
        self.server.replace(Some(server));
        Ok(response)
    }

    /// Answers with a refusal, and puts it on record.
    fn refuse(&self, refusal: Refusal, method: &Method, busy: Busy) -> Response<Downward> {
        let Refusal { reason, line, method: other } = refusal;
        let refused = Refused { reason, target: Some(self.target.clone()), line };
        let goes_on = matches!(reason, Reason::RequestNotAllowed | Reason::HostMismatch);
        if reason == Reason::SecretMisdirected {
            self.alarm();
        } else {
            let method = other.as_deref().unwrap_or(method.as_str());
            self.gate.refused_request(self.via, &refused, method.get(..METHOD).unwrap_or(method));
        }
        if !goes_on {
            self.told.why.set(Some(reason));
            self.told.refused.set(true);
        }
        let mut response = Response::new(Downward::own(answer::text(&refused), busy));
        *response.status_mut() = StatusCode::from_u16(answer::code(reason)).unwrap_or(StatusCode::FORBIDDEN);
        let fields = response.headers_mut();
        fields.insert("x-proxy-error", HeaderValue::from_static(reason.name()));
        fields.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        fields.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if !goes_on {
            fields.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }

    /// Puts on record which placeholders were found, once for each time.
    pub fn alarm(&self) {
        if let Some(found) = self.told.found.take() {
            self.told.why.set(Some(Reason::SecretMisdirected));
            self.gate.misdirected(self.via, Some(self.target), &found);
        }
    }
}
