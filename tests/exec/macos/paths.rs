//! Other names for a path: of another case, in another form of Unicode, through the Data volume, by a file's number. And copies that are
//! made without reading.

use super::raw::{clone_file, list_attributes};
use super::world::ACCENTED;
use crate::files::read;
use crate::suite::{Probe, denied, denied_anyway};
use crate::world::Place;
use camino::{Utf8Path, Utf8PathBuf};
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirEntryExt, MetadataExt};

const SECRET: &str = "secret";

/// Most of these have a control only on a disk that ignores case, as a Mac's does unless it was set up otherwise.
pub const PROBES: &[Probe] = &[
    denied("d40 read a denied file by the path of the Data volume", |place| {
        read(data_volume(&place.rw(".env")), SECRET)
    }),
    denied("d41 read outside by the path of the Data volume", |place| {
        read(data_volume(&place.outside("o.txt")), "outside")
    }),
    denied("d42 read a denied file by another case of its name", |place| read(place.rw(".ENV"), SECRET)),
    denied("d43 read in a denied directory by another case of its name", |place| {
        read(place.rw("SECRETS/KEY"), SECRET)
    }),
    denied("d44 list a denied directory by another case of its name", |place| {
        fs::read_dir(place.rw("Secrets")).map(drop)
    }),
    denied("d45 read a denied file under the name that it was denied by", |place| {
        read(place.rw(ACCENTED), SECRET)
    }),
    // A question to a Mac: nothing tells in which form Seatbelt compares names.
    denied("d46 read a denied file by another form of its accents", |place| {
        read(place.rw(&decomposed()), SECRET)
    }),
    // A question to a Mac: the same, with both at once.
    denied("d47 read a denied file by another form and another case", |place| {
        read(place.rw(&decomposed().to_uppercase()), SECRET)
    }),
    denied("d48 rename a denied file by another case of its name", |place| {
        fs::rename(place.rw(".ENV"), place.rw("env"))
    }),
    denied("d49 rename the grandparent of a denied file by another case", |place| {
        fs::rename(place.rw("A"), place.rw("a2"))?;
        read(place.rw("a2/b/secret.txt"), SECRET)
    }),
    denied("d50 change the case of a denied file's name", |place| {
        fs::rename(place.rw(".env"), place.rw(".ENV"))
    }),
    denied("d51 clone a denied file and read the clone", |place| {
        clone_file(&place.rw(".env"), &place.rw("clone"))?;
        read(place.rw("clone"), SECRET)
    }),
    denied("d52 clone a denied directory", |place| clone_file(&place.rw("secrets"), &place.rw("clone"))),
    // A question to a Mac: which paths of a tree that is cloned as a whole are looked at.
    denied("d53 clone a directory that holds a denied file and read it there", |place| {
        clone_file(&place.rw("a"), &place.rw("clone"))?;
        read(place.rw("clone/b/secret.txt"), SECRET)
    }),
    denied("d54 clone a file outside and read the clone", |place| {
        clone_file(&place.outside("o.txt"), &place.rw("clone"))?;
        read(place.rw("clone"), "outside")
    }),
    // A question to a Mac: which path the kernel finds for a file that is named by its number.
    denied("d55 read a denied file by its number", |place| {
        let device = fs::metadata(place.rw(""))?.dev();
        for entry in fs::read_dir(place.rw(""))? {
            let entry = entry?;
            if entry.file_name() == ".env" {
                return read(format!("/.vol/{device}/{}", entry.ino()), SECRET);
            }
        }
        Err(io::ErrorKind::NotFound.into())
    }),
    denied("d56 list the attributes of a denied file", |place| list_attributes(&place.rw(".env"))),
    denied("w40 append to a guarded file by another case of its name", |place| {
        append(&place.rw(".GIT/CONFIG"))
    }),
    denied("w41 make a guarded name in another case", |place| fs::write(place.rw(".MCP.json"), "")),
    denied("w42 write a read-only file by the path of the Data volume", |place| {
        append(&data_volume(&place.ro("r.txt")))
    }),
    denied("w43 write in a nested read-only root by another case of its name", |place| {
        append(&place.rw("Vendor/lib/v.txt"))
    }),
    denied("w44 clone a file into a read-only root", |place| {
        clone_file(&place.rw("f.txt"), &place.ro("clone"))
    }),
    denied("w45 write outside by the path of the Data volume", |place| {
        fs::write(data_volume(&place.outside("new")), "")
    }),
    // The file by which processes of this run are known after its end. There is none without walls.
    denied_anyway("w46 read the mark of the private directory", |_| fs::read(mark()).map(drop)),
    denied_anyway("w47 remove the mark of the private directory", |_| fs::remove_file(mark())),
    denied_anyway("w48 replace the mark of the private directory", |place: &Place| {
        let other = mark().with_file_name("other");
        fs::write(&other, place.base.as_str())?;
        fs::rename(other, mark())
    }),
];

/// The same path, as the volume that holds it calls it (a firmlink leads there).
fn data_volume(path: &Utf8Path) -> Utf8PathBuf {
    format!("/System/Volumes/Data{path}").into()
}

/// [`ACCENTED`] with its accent as a character of its own.
fn decomposed() -> String {
    ACCENTED.replace('\u{e9}', "e\u{301}")
}

fn mark() -> std::path::PathBuf {
    std::env::temp_dir().join(".palisade-sentinel")
}

fn append(path: &Utf8Path) -> io::Result<()> {
    fs::OpenOptions::new().append(true).open(path)?.write_all(b"more")
}
