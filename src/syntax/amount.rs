//! Amounts of a limit: a whole number and a unit, turned into the base unit.

use super::ast::{LimitKind, Unit};
use super::words::nearest;

/// Suffix, kind and factor to the base unit (milliseconds, bytes).
const UNITS: [(&str, Unit, u64); 11] = [
    ("ms", Unit::Milliseconds, 1),
    ("s", Unit::Milliseconds, 1000),
    ("m", Unit::Milliseconds, 60 * 1000),
    ("h", Unit::Milliseconds, 60 * 60 * 1000),
    ("B", Unit::Bytes, 1),
    ("KiB", Unit::Bytes, 1 << 10),
    ("MiB", Unit::Bytes, 1 << 20),
    ("GiB", Unit::Bytes, 1 << 30),
    ("kB", Unit::Bytes, 1000),
    ("MB", Unit::Bytes, 1000 * 1000),
    ("GB", Unit::Bytes, 1000 * 1000 * 1000),
];

/// Other spellings that people use, and the unit they mean.
const GUESSES: [(&str, &str); 17] = [
    ("sec", "s"),
    ("secs", "s"),
    ("second", "s"),
    ("seconds", "s"),
    ("min", "m"),
    ("mins", "m"),
    ("minute", "m"),
    ("minutes", "m"),
    ("hour", "h"),
    ("hours", "h"),
    ("hr", "h"),
    ("msec", "ms"),
    ("millis", "ms"),
    ("k", "KiB"),
    ("kb", "kB"),
    ("g", "GiB"),
    ("bytes", "B"),
];

/// Why an amount is none, and a replacement where one is obvious.
#[derive(Debug, PartialEq, Eq)]
pub struct AmountError {
    pub message: String,
    pub help: String,
    pub replacement: Option<String>,
}

/// The amount in the limit's base unit.
pub fn amount(kind: LimitKind, written: &str) -> Result<u64, AmountError> {
    let (digits, suffix) = written.split_at(written.bytes().take_while(u8::is_ascii_digit).count());
    let fail = |message: String, replacement: Option<String>| {
        Err(AmountError { message, help: help(kind), replacement })
    };
    let factor = match (kind.unit(), suffix) {
        (Unit::Count, "") => 1,
        (Unit::Count, _) => {
            return fail(format!("`{}` is a count and has no unit", kind.name()), Some(digits.into()));
        }
        (_, "") => {
            // Other programs count seconds where nothing is said.
            let seconds = (kind.unit() == Unit::Milliseconds).then(|| format!("{written}s"));
            return fail(format!("`{written}` has no unit"), seconds);
        }
        (unit, suffix) => match UNITS.iter().find(|(name, ..)| *name == suffix) {
            Some((_, of, factor)) if *of == unit => *factor,
            Some(_) => {
                return fail(format!("`{suffix}` is not a unit of `{}`", kind.name()), None);
            }
            None => {
                let candidates = || UNITS.iter().filter(|(_, of, _)| *of == unit).map(|(name, ..)| *name);
                let lower = suffix.to_lowercase();
                let meant = GUESSES.iter().find(|(wrong, _)| *wrong == lower).map(|(_, right)| *right);
                let meant = meant.filter(|right| candidates().any(|name| name == *right));
                let meant = meant.or_else(|| candidates().find(|name| name.to_lowercase() == lower));
                let meant = meant.or_else(|| nearest(suffix, candidates()));
                return fail(format!("unknown unit `{suffix}`"), meant.map(|unit| format!("{digits}{unit}")));
            }
        },
    };
    match digits.parse::<u64>().ok().and_then(|number| number.checked_mul(factor)) {
        Some(0) => fail(format!("a limit of `{written}` would let nothing run"), None),
        Some(amount) => Ok(amount),
        None => fail(format!("`{written}` is too large"), None),
    }
}

fn help(kind: LimitKind) -> String {
    match kind.unit() {
        Unit::Milliseconds => format!("`{}` is written with `ms`, `s`, `m` or `h`: `30s`", kind.name()),
        Unit::Bytes => {
            format!("`{}` is written with `B`, `KiB`, `MiB`, `GiB`, `kB`, `MB` or `GB`: `4MiB`", kind.name())
        }
        Unit::Count => format!("`{}` is a bare number: `256`", kind.name()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_unit() {
        assert_eq!(amount(LimitKind::Time, "250ms"), Ok(250));
        assert_eq!(amount(LimitKind::Cpu, "2h"), Ok(7_200_000));
        assert_eq!(amount(LimitKind::Output, "4MiB"), Ok(4 << 20));
        assert_eq!(amount(LimitKind::FileSize, "4MB"), Ok(4_000_000));
        assert_eq!(amount(LimitKind::Processes, "7"), Ok(7));
    }

    #[test]
    fn refuses_the_rest_with_what_was_meant() {
        let error = |kind, text| amount(kind, text).unwrap_err();
        assert_eq!(error(LimitKind::Time, "5min").replacement.as_deref(), Some("5m"));
        assert_eq!(error(LimitKind::Output, "5mib").replacement.as_deref(), Some("5MiB"));
        assert_eq!(error(LimitKind::Output, "5s").message, "`s` is not a unit of `output`");
        assert_eq!(error(LimitKind::Processes, "5s").replacement.as_deref(), Some("5"));
        assert_eq!(error(LimitKind::Time, "5").message, "`5` has no unit");
        assert_eq!(error(LimitKind::Time, "0s").message, "a limit of `0s` would let nothing run");
        assert_eq!(error(LimitKind::Output, "99999999999GiB").message, "`99999999999GiB` is too large");
        assert_eq!(
            error(LimitKind::Processes, "99999999999999999999999").message,
            "`99999999999999999999999` is too large"
        );
    }
}
