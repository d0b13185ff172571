//! The three standard streams. The same on every system.

use super::Refusal;
use rustix::fs::{FileType, fstat};

/// Refuses streams that lead out of the walls. A closed stream is not met here: Rust's runtime opens `/dev/null` in its place before `main`.
///
/// # Errors
/// A stream that is a directory, or that cannot be examined.
pub fn check() -> Result<(), Refusal> {
    let streams = [
        ("input", rustix::stdio::stdin()),
        ("output", rustix::stdio::stdout()),
        ("error", rustix::stdio::stderr()),
    ];
    for (name, stream) in streams {
        let stat =
            fstat(stream).map_err(|error| Refusal::system(format!("standard {name}"))(error.into()))?;
        if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
            return Err(Refusal::DirectoryStream(name));
        }
    }
    Ok(())
}
