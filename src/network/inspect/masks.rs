//! In: the values of a host's secrets. Out: those values in what goes to the host, instead of what stands for them; and what stands for them in
//! what comes back, instead of the values.

use super::Secret;
use super::basic;
use base64::Engine;
use base64::prelude::{BASE64_STANDARD_NO_PAD, BASE64_URL_SAFE_NO_PAD};
use memchr::memmem;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use zeroize::Zeroizing;

/// As many characters of a value, at most, pass where a text is cut behind them: so few are a known prefix, and waiting for the next ones would
/// have whoever waits for the text itself wait as well.
const LOOSE: usize = 3;

/// A text that must not come back, and the one of the same length that stands for it.
struct Mask {
    value: Zeroizing<Vec<u8>>,
    stand_in: Vec<u8>,
}

/// What is put in on one connection, and what comes back on it.
#[derive(Clone)]
pub(super) struct Masks {
    secrets: Rc<[(String, Mask)]>,
    /// What must not come back: the values, and in which forms else they were sent or may be.
    back: Rc<RefCell<Vec<Mask>>>,
}

impl Masks {
    pub fn new<'s>(secrets: impl Iterator<Item = &'s Secret>) -> Self {
        let mask = |secret: &Secret| Mask {
            value: Zeroizing::new(secret.value.as_bytes().to_vec()),
            stand_in: secret.placeholder.clone().into_bytes(),
        };
        // What stands for a value elsewhere than in its place is of its length.
        let secrets = secrets
            .filter(|secret| !secret.value.is_empty() && secret.value.len() == secret.placeholder.len());
        let secrets: Rc<[(String, Mask)]> =
            secrets.map(|secret| (secret.name.clone(), mask(secret))).collect();
        let mut back = Vec::new();
        for (_, mask) in secrets.iter() {
            back.extend(forms(&mask.value, &mask.stand_in));
        }
        Self { secrets, back: Rc::new(RefCell::new(back)) }
    }

    /// Whether the host may have none.
    pub fn is_empty(&self) -> bool {
        self.secrets.is_empty()
    }

    /// The value of a field with what was put in, also inside of credentials; whose, is added to `names`. `None` where nothing is.
    pub fn put_in(&self, value: &[u8], names: &mut BTreeSet<String>) -> Option<Zeroizing<Vec<u8>>> {
        if let Some((start, credentials)) = basic::decoded(value)
            && let Some(filled) = self.filled(&credentials, names)
        {
            let (scheme, coded) = value.split_at_checked(start)?;
            let coded = coded.trim_ascii_end();
            let sent = basic::encoded(&filled, coded);
            let mut back = self.back.borrow_mut();
            if !back.iter().any(|mask| *mask.value == *sent) {
                back.push(Mask { value: sent.clone(), stand_in: coded.to_vec() });
            }
            return Some(Zeroizing::new([scheme, &sent].concat()));
        }
        self.filled(value, names)
    }

    fn filled(&self, text: &[u8], names: &mut BTreeSet<String>) -> Option<Zeroizing<Vec<u8>>> {
        let mut filled = Zeroizing::new(text.to_vec());
        let mut any = false;
        for (name, mask) in self.secrets.iter() {
            for at in memmem::find_iter(text, &mask.stand_in) {
                if let Some(place) = filled.get_mut(at..at + mask.value.len()) {
                    place.copy_from_slice(&mask.value);
                    names.insert(name.clone());
                    any = true;
                }
            }
        }
        any.then_some(filled)
    }

    /// A text without values, where there was one in it.
    pub fn take_out(&self, text: &[u8]) -> Option<Vec<u8>> {
        let masks = self.back.borrow();
        let found = matches(&masks, text);
        (!found.is_empty()).then(|| {
            let mut out = text.to_vec();
            found.iter().for_each(|found| found.write(&masks, &mut out));
            out
        })
    }

    /// Whether the name of a field, which is in lower case, has a value in it.
    pub fn names_one(&self, name: &str) -> bool {
        self.secrets.iter().any(|(_, mask)| {
            let value = Zeroizing::new(mask.value.to_ascii_lowercase());
            memmem::find(name.as_bytes(), &value).is_some()
        })
    }

    /// Takes values out of a text that comes in pieces.
    pub fn stream(&self) -> Restorer {
        Restorer { masks: self.clone(), window: Zeroizing::default(), sent: 0 }
    }
}

/// A value as it may come back: as it is; and within something that is coded in base64, wherever it begins there.
fn forms(value: &[u8], stand_in: &[u8]) -> Vec<Mask> {
    let mut forms = vec![Mask { value: Zeroizing::new(value.to_vec()), stand_in: stand_in.to_vec() }];
    for engine in [BASE64_STANDARD_NO_PAD, BASE64_URL_SAFE_NO_PAD] {
        for before in 0..3 {
            // Characters that what stands around it is a part of are not its own.
            let own = |text: &[u8]| {
                let whole = Zeroizing::new([&[0, 0, 0][..before], text].concat());
                let coded = Zeroizing::new(engine.encode(&whole).into_bytes());
                let (start, end) = ((before * 8).div_ceil(6), whole.len() * 8 / 6);
                coded.get(start..end).unwrap_or_default().to_vec()
            };
            let (value, stand_in) = (Zeroizing::new(own(value)), own(stand_in));
            if !forms.iter().any(|form| *form.value == *value) {
                forms.push(Mask { value, stand_in });
            }
        }
    }
    forms
}

/// A value in a text.
#[derive(Clone, Copy)]
struct Found {
    start: usize,
    end: usize,
    mask: usize,
}

impl Found {
    fn write(self, masks: &[Mask], out: &mut [u8]) {
        if let (Some(place), Some(mask)) = (out.get_mut(self.start..self.end), masks.get(self.mask)) {
            place.copy_from_slice(&mask.stand_in);
        }
    }
}

/// The values in a text, none within another: the first ones, and of those the longest.
fn matches(masks: &[Mask], text: &[u8]) -> Vec<Found> {
    let mut all: Vec<Found> = masks
        .iter()
        .enumerate()
        .flat_map(|(mask, one)| {
            let length = one.value.len();
            memmem::find_iter(text, one.value.as_slice()).map(move |start| Found {
                start,
                end: start + length,
                mask,
            })
        })
        .collect();
    all.sort_by_key(|found| (found.start, std::cmp::Reverse(found.end)));
    let mut free = 0;
    all.retain(|found| {
        let first = found.start >= free;
        if first {
            free = found.end;
        }
        first
    });
    all
}

/// Takes values out of a text that comes in pieces, across their borders.
pub(super) struct Restorer {
    masks: Masks,
    /// What may be the beginning of a value.
    window: Zeroizing<Vec<u8>>,
    /// How much of that went on already.
    sent: usize,
}

impl Restorer {
    /// The next piece of the text; what may be the beginning of a value comes with a later one.
    pub fn feed(&mut self, piece: &[u8]) -> Vec<u8> {
        self.pass(piece, false)
    }

    /// Whether nothing is kept back.
    pub fn is_unused(&self) -> bool {
        self.window.len() == self.sent
    }

    /// What is left once the text has ended.
    pub fn end(&mut self) -> Vec<u8> {
        self.pass(&[], true)
    }

    fn pass(&mut self, piece: &[u8], ended: bool) -> Vec<u8> {
        self.window.extend_from_slice(piece);
        let masks = self.masks.back.borrow();
        let length = self.window.len();
        let mut hold = if ended { length } else { beginning(&masks, &self.window, 0) };
        let mut out = Zeroizing::new(self.window.to_vec());
        for found in matches(&masks, &self.window) {
            if found.start >= hold {
                break;
            }
            found.write(&masks, &mut out);
            if found.end > hold {
                hold = beginning(&masks, &self.window, found.end);
            }
        }
        drop(masks);
        let until = if length - hold <= LOOSE { length } else { hold }.max(self.sent);
        let passed = out.get(self.sent..until).unwrap_or_default().to_vec();
        self.window.drain(..hold);
        self.sent = until - hold;
        passed
    }
}

/// Where in a text the first value may begin that is not whole yet, from a place on.
fn beginning(masks: &[Mask], text: &[u8], from: usize) -> usize {
    let longest = masks.iter().map(|mask| mask.value.len()).max().unwrap_or(0);
    let first = from.max(text.len().saturating_sub(longest.saturating_sub(1)));
    let begins = |at: &usize| {
        let rest = text.get(*at..).unwrap_or_default();
        masks.iter().any(|mask| rest.len() < mask.value.len() && mask.value.starts_with(rest))
    };
    (first..text.len()).find(begins).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::super::testing::secret;
    use super::*;
    use base64::prelude::BASE64_STANDARD;
    use proptest::prelude::*;

    const VALUE: &str = "ghp_R3alV4lue+/x";
    const STAND_IN: &str = "ghp_Pl4ceh0lder1";

    fn masks() -> Masks {
        Masks::new(
            [
                secret("TOKEN", STAND_IN, VALUE, "ok.com"),
                secret("KEY", "k-0abcdefghijkl", "k-0123456789abc", "ok.com"),
            ]
            .iter(),
        )
    }

    fn put(value: &str) -> Option<String> {
        let mut names = BTreeSet::new();
        let put = masks().put_in(value.as_bytes(), &mut names);
        assert_eq!(put.is_some(), !names.is_empty());
        put.map(|put| String::from_utf8(put.to_vec()).unwrap())
    }

    #[test]
    fn every_occurrence_is_replaced_also_inside_of_credentials() {
        assert_eq!(put(&format!("{STAND_IN},{STAND_IN}")), Some(format!("{VALUE},{VALUE}")));
        assert_eq!(put("Bearer k-0abcdefghijkl").as_deref(), Some("Bearer k-0123456789abc"));
        let basic = |user: &str, inside: &str| {
            format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{inside}")))
        };
        for user in ["u", "us", "use", ""] {
            assert_eq!(put(&basic(user, STAND_IN)), Some(basic(user, VALUE)));
        }
        assert_eq!(put(&STAND_IN.to_uppercase()), None);
        assert_eq!(put(&basic("u", "nothing")), None);
    }

    #[test]
    fn what_was_sent_does_not_come_back_in_any_form_that_it_was_sent_in() {
        let masks = masks();
        let basic = format!("Basic {}", BASE64_STANDARD.encode(format!("user:{STAND_IN}")));
        let sent = masks.put_in(basic.as_bytes(), &mut BTreeSet::new()).unwrap();
        let back = masks.take_out(&[b"You sent ", sent.as_slice(), b"."].concat()).unwrap();
        assert_eq!(String::from_utf8(back).unwrap(), format!("You sent {basic}."));
        assert_eq!(masks.take_out(b"nothing"), None);
    }

    #[test]
    fn what_may_begin_a_value_is_kept_back_and_nothing_else() {
        let mut stream = masks().stream();
        assert_eq!(stream.feed(b"data: ghp"), b"data: ghp");
        assert_eq!(stream.feed(b"_"), b"");
        assert_eq!(stream.feed(b"R3al"), b"");
        assert_eq!(stream.feed(b"ly\n\n"), b"_R3ally\n\n");
        assert_eq!(stream.feed(b"ghp_R"), b"");
        assert_eq!(stream.end(), b"ghp_R");
        assert_eq!(stream.end(), b"");
    }

    fn cut(text: &[u8], cuts: &[usize], masks: &Masks) -> Vec<u8> {
        let (mut stream, mut rest, mut out) = (masks.stream(), text, Vec::new());
        for cut in cuts.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (piece, more) = rest.split_at((*cut).min(rest.len()));
            out.extend(stream.feed(piece));
            rest = more;
        }
        out.extend(stream.end());
        out
    }

    proptest! {
        /// However a text is cut, its length stays, no value is left, and nothing else is changed.
        #[test]
        fn values_do_not_come_back(
            parts in proptest::collection::vec(prop_oneof![Just(VALUE.to_owned()), Just("k-0123456789abc".to_owned()), "[ghpk_0-]{0,5}", "[a-z]{0,5}"], 0..8),
            cuts in proptest::collection::vec(1..30_usize, 1..20),
        ) {
            let text = parts.concat();
            let wanted = text.replace(VALUE, STAND_IN).replace("k-0123456789abc", "k-0abcdefghijkl");
            let out = String::from_utf8(cut(text.as_bytes(), &cuts, &masks())).unwrap();
            // Where it is cut within the first few characters of a value, those may have passed: they are the same here.
            prop_assert_eq!(out, wanted);
        }

        /// Nor does one that is coded, whatever stands around it.
        #[test]
        fn coded_values_do_not_come_back(before in "[ -~]{0,9}", after in "[ -~]{0,9}", cuts in proptest::collection::vec(1..30_usize, 1..20)) {
            for engine in [BASE64_STANDARD, base64::prelude::BASE64_URL_SAFE] {
                let text = engine.encode(format!("{before}{VALUE}{after}"));
                for out in [cut(text.as_bytes(), &cuts, &masks()), cut(text.as_bytes(), &[1000], &masks())] {
                    prop_assert_eq!(out.len(), text.len());
                    let back = engine.decode(&out);
                    let back = String::from_utf8_lossy(&back.unwrap_or_default()).into_owned();
                    // A character of the first and of the last byte is not its own alone.
                    prop_assert!(!back.contains(&VALUE[4..15]), "{}", back);
                }
            }
        }
    }
}
