//! The outcomes of all trials as a table, where one is asked for: for a reader who was not there when the suite ran.

use std::io::Write as _;

/// Names the file that gets one line of Markdown for each trial, in the order in which they end: name, what is wanted, what was seen.
const VARIABLE: &str = "PALISADE_SUITE_TABLE";

/// One line. It is written when the trial is over, however it ends.
pub struct Row {
    pub name: String,
    pub wanted: &'static str,
    pub seen: String,
}

impl Row {
    /// For a trial that has just begun.
    pub fn new(name: &str, wanted: &'static str) -> Self {
        Self { name: name.to_owned(), wanted, seen: "**fails**".into() }
    }

    pub fn see(&mut self, seen: &str) {
        self.seen = if seen == self.wanted { seen.to_owned() } else { format!("**{seen}**") };
    }
}

impl Drop for Row {
    fn drop(&mut self) {
        let Some(path) = std::env::var_os(VARIABLE) else { return };
        let line = format!("| {} | {} | {} |\n", self.name, self.wanted, self.seen);
        let file = std::fs::OpenOptions::new().append(true).create(true).open(path);
        // In one piece, as other trials write too.
        if let Err(error) = file.and_then(|mut file| file.write_all(line.as_bytes())) {
            eprintln!("{VARIABLE}: {error}");
        }
    }
}
