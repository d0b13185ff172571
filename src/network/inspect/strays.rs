//! In: what a command sends. Out: which masked variables have their placeholders in it, where those do not belong.
//!
//! A placeholder gives nothing away. That it is on its way says that somebody believes it to be the value, and wanted that to go there.

use super::Secret;
use super::basic::decoded;
use crate::policy::host::Target;
use memchr::memmem::Finder;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The placeholders of a run.
#[derive(Debug)]
pub(super) struct Placeholders {
    /// Each with its name, in lower case: a host, a name of a field and some programs write it so.
    all: Vec<(String, Finder<'static>)>,
    longest: usize,
}

impl Placeholders {
    pub fn new(secrets: &[Secret]) -> Self {
        let lower = |secret: &Secret| secret.placeholder.to_ascii_lowercase();
        let all = secrets.iter().filter(|secret| !secret.placeholder.is_empty());
        let all = all.map(|secret| (secret.name.clone(), Finder::new(&lower(secret)).into_owned()));
        let longest = secrets.iter().map(|secret| secret.placeholder.len()).max().unwrap_or(0);
        Self { all: all.collect(), longest }
    }
}

/// Looks for placeholders that do not belong where something goes, in any case of their letters.
#[derive(Debug, Clone)]
pub struct Search {
    among: Arc<Placeholders>,
    /// The variables whose placeholders may stand there.
    own: BTreeSet<String>,
    /// What was read last of a text that comes in pieces.
    tail: Vec<u8>,
    found: BTreeSet<String>,
}

impl Search {
    /// For what goes to no host that may have any of the values.
    pub(super) fn any(among: &Arc<Placeholders>) -> Self {
        Self { among: Arc::clone(among), own: BTreeSet::new(), tail: Vec::new(), found: BTreeSet::new() }
    }

    /// For what goes to a host over a connection that is read.
    pub(super) fn except(among: &Arc<Placeholders>, secrets: &[Secret], target: &Target) -> Self {
        let own = secrets.iter().filter(|secret| secret.is_for(target)).map(|secret| secret.name.clone());
        Self { own: own.collect(), ..Self::any(among) }
    }

    /// Whether there is anything that could be found.
    pub(super) fn is_idle(&self) -> bool {
        self.among.all.iter().all(|(name, _)| self.own.contains(name))
    }

    /// Looks at a text that is whole.
    pub(in crate::network) fn text(&mut self, text: &[u8]) {
        let lower = text.to_ascii_lowercase();
        for (name, placeholder) in &self.among.all {
            if !self.own.contains(name) && placeholder.find(&lower).is_some() {
                self.found.insert(name.clone());
            }
        }
    }

    /// Looks at the path and query of a request, as it is and without escapes.
    pub(in crate::network) fn path(&mut self, path: &[u8]) {
        self.text(path);
        if path.contains(&b'%') {
            let plain: Vec<u8> = percent_encoding::percent_decode(path).collect();
            self.text(&plain);
        }
    }

    /// Looks at a field, and into the credentials that one may hold.
    pub(in crate::network) fn field(&mut self, name: &[u8], value: &[u8]) {
        self.text(name);
        self.text(value);
        if let Some((_, credentials)) = decoded(value) {
            self.text(&credentials);
        }
    }

    /// Looks at the next piece of a text, and across the border to the one before.
    pub(in crate::network) fn piece(&mut self, piece: &[u8]) {
        let mut window = std::mem::take(&mut self.tail);
        window.extend_from_slice(piece);
        self.text(&window);
        let kept = window.len().saturating_sub(self.among.longest.saturating_sub(1));
        window.drain(..kept);
        self.tail = window;
    }

    /// The names of the variables whose placeholders were found.
    pub(in crate::network) fn found(&self) -> Option<Vec<String>> {
        (!self.found.is_empty()).then(|| self.found.iter().cloned().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::secret;
    use super::*;
    use proptest::prelude::*;

    const TOKEN: &str = "ghp_Ab3dEf6hIj9l";

    fn search() -> Search {
        let secrets = [
            secret("TOKEN", TOKEN, "ghp_000000000000", "ok.com"),
            secret("KEY", "k-abcdefghijklm", "k-0000000000000", "other.com"),
        ];
        Search::any(&Arc::new(Placeholders::new(&secrets)))
    }

    fn found(look: impl FnOnce(&mut Search)) -> Vec<String> {
        let mut search = search();
        look(&mut search);
        search.found().unwrap_or_default()
    }

    #[test]
    fn it_is_found_in_whatever_case_and_behind_escapes_of_a_path() {
        for text in [TOKEN.to_owned(), TOKEN.to_lowercase(), TOKEN.to_uppercase(), format!("x={TOKEN}&y")] {
            assert_eq!(found(|search| search.text(text.as_bytes())), ["TOKEN"], "{text}");
        }
        let escaped: String = TOKEN.bytes().map(|byte| format!("%{byte:02X}")).collect();
        assert_eq!(found(|search| search.path(escaped.as_bytes())), ["TOKEN"]);
        assert_eq!(found(|search| search.path(b"/?k=k%2Dabcdefghijklm")), ["KEY"]);
    }

    #[test]
    fn it_is_found_in_credentials_and_not_in_other_codings() {
        use base64::prelude::*;
        let coded = BASE64_STANDARD.encode(format!("user:{TOKEN}"));
        assert_eq!(
            found(|search| search.field(b"authorization", format!("basic  {coded}").as_bytes())),
            ["TOKEN"]
        );
        for (name, value) in [
            ("x", coded.clone()),
            ("authorization", format!("Bearer {coded}")),
            ("x", TOKEN.chars().rev().collect()),
            ("x", TOKEN[..TOKEN.len() - 1].to_owned()),
        ] {
            assert_eq!(found(|search| search.field(name.as_bytes(), value.as_bytes())), [""; 0], "{value}");
        }
    }

    proptest! {
        #[test]
        fn it_is_found_however_a_text_is_cut(before in "[a-z_]{0,40}", after in "[a-z_]{0,40}", cuts in proptest::collection::vec(1..9_usize, 1..40)) {
            let text = format!("{before}{TOKEN}{after}");
            let mut rest = text.as_bytes();
            let mut search = search();
            for cut in cuts.iter().cycle() {
                let (piece, more) = rest.split_at((*cut).min(rest.len()));
                search.piece(piece);
                rest = more;
                if rest.is_empty() {
                    break;
                }
            }
            prop_assert_eq!(search.found(), Some(vec!["TOKEN".to_owned()]));
        }
    }
}
