//! `check --fix` and `check --diff`: making the fixes that findings offer, or showing what they would change.

use super::Exit;
use super::fmt::rewrite;
use super::output::{Format, Output, print, problems, report, report_aside};
use crate::finding::Severity;
use crate::fix::{self, Files, Fixed, Key, Left, Look, STANDARD_INPUT_KEY, Why};
use crate::report::{Problem, ProblemKind, Run, shown};
use camino::{Utf8Path, Utf8PathBuf};
use std::io::Write as _;
use std::path::PathBuf;

/// Options about fixes.
#[derive(clap::Args, Clone, Debug)]
pub struct FixArgs {
    /// Make the fixes that keep what the profiles mean, then report what remains; the text of standard input goes to standard output
    #[arg(long, group = "fixing")]
    fix: bool,
    /// Show what `--fix` would change, and write nothing; exits 1 where something would change
    #[arg(long, group = "fixing", conflicts_with = "format")]
    diff: bool,
    /// With `--fix` or `--diff`: also the fixes that change what a profile means
    #[arg(long, requires = "fixing")]
    unsafe_fixes: bool,
}

/// Fixes that were made, in memory only.
pub struct Made {
    files: Files,
    fixed: Fixed,
}

impl Made {
    /// What checking the fixed texts gives.
    pub fn take_looks(&mut self) -> Vec<Look> {
        std::mem::take(&mut self.fixed.looks)
    }
}

impl FixArgs {
    pub fn is_wanted(&self) -> bool {
        self.fix || self.diff
    }

    /// Makes the fixes, in memory. `paths` are those of the command line; `check` is as [`fix::fix`] wants it.
    fn make(&self, paths: &[PathBuf], output: Output, check: &dyn Fn(&Files) -> Vec<Look>) -> Made {
        let canonical = |path: &PathBuf| Utf8PathBuf::from_path_buf(path.canonicalize().ok()?).ok();
        let mut files = Files::new(paths.iter().filter_map(canonical).collect());
        // Where notes are not shown, nothing is done about them.
        let notes = output.notes || output.fail_on == Severity::Note;
        let wanted = fix::Wanted { unsafe_too: self.unsafe_fixes, notes };
        let fixed = fix::fix(&mut files, wanted, check);
        Made { files, fixed }
    }

    /// Makes the fixes and writes them, unless they are only to be shown. A file that cannot be written is a problem; it stays as it was, and so
    /// does what is said of it.
    pub fn make_and_write(
        &self,
        paths: &[PathBuf],
        output: Output,
        check: &dyn Fn(&Files) -> Vec<Look>,
        problems: &mut Vec<Problem>,
    ) -> Made {
        let mut made = self.make(paths, output, check);
        if self.diff {
            return made;
        }
        let mut unwritten = Vec::new();
        for (key, file) in made.files.changed().filter(|(key, _)| *key != STANDARD_INPUT_KEY) {
            if let Err(error) = write(key, &file.before, &file.now) {
                let message = format!("`{}` cannot be written: {error}", file.name);
                problems.push(Problem::new(ProblemKind::Profile, Some(key.clone().into()), message));
                unwritten.push((key.clone(), file.before.to_string()));
            }
        }
        if !unwritten.is_empty() {
            let is_unwritten = |file: &Key| unwritten.iter().any(|(key, _)| key == file);
            made.fixed.made.retain(|offer| !offer.changes.iter().any(|change| is_unwritten(&change.file)));
            for (key, before) in unwritten {
                made.files.set(&key, before);
            }
            made.fixed.looks = check(&made.files);
        }
        made
    }

    /// Reports what was made, or shows it, and reports what remains. Without anything made, something could not be read: then nothing is changed,
    /// since what was not read has no say in whether a fix is right.
    pub fn finish(&self, output: Output, made: Option<Made>, run: Run) -> Exit {
        let Some(Made { files, fixed }) = made else {
            if self.diff {
                problems(&run);
            } else {
                report(&output, &run);
            }
            say("nothing is fixed, since not everything could be read");
            return Exit::Usage;
        };
        if self.diff {
            return self.show(&files, &fixed, &run);
        }
        let input = files.get(Utf8Path::new(STANDARD_INPUT_KEY));
        if let Some(input) = input {
            print(&input.now);
        }
        // Standard output is the text's, where that came from standard input.
        let exit = if input.is_some() { report_aside(&output, &run) } else { report(&output, &run) };
        self.say_left(&files, &fixed.left);
        let summary = self.summary("fixed", &fixed);
        if output.format == Format::Human && input.is_none() {
            print(&format!("{summary}\n"));
        } else {
            say(&summary);
        }
        exit
    }

    fn show(&self, files: &Files, fixed: &Fixed, run: &Run) -> Exit {
        problems(run);
        let mut is_changed = false;
        for (_, file) in files.changed() {
            print(&fix::unified(&file.name, &file.before, &file.now));
            is_changed = true;
        }
        self.say_left(files, &fixed.left);
        say(&self.summary("would be fixed", fixed));
        if !run.problems.is_empty() {
            Exit::Usage
        } else if is_changed {
            Exit::Findings
        } else {
            Exit::Clean
        }
    }

    /// `3 fixed, 2 fixable with --unsafe-fixes`.
    fn summary(&self, word: &str, fixed: &Fixed) -> String {
        let mut summary = format!("{} {word}", fixed.made.len());
        let more = fixed.left.iter().filter(|left| left.why == Why::Unsafe).count();
        if more > 0 {
            summary.push_str(&format!(", {more} fixable with --unsafe-fixes"));
        }
        summary
    }

    /// Says of each fix that was asked for why it is not made.
    fn say_left(&self, files: &Files, left: &[Left]) {
        for Left { offer, why } in left.iter().filter(|left| left.offer.safe || self.unsafe_fixes) {
            let why = match why {
                Why::Unsafe => continue,
                Why::Outside(_) => "it stands in a file that was not given to be checked".to_owned(),
                Why::Divided => "not every profile and host that it concerns offers it".to_owned(),
                Why::TakenBack(objection) => format!("it would {objection}"),
                Why::Endless => format!("after {} passes there is no end to it", fix::MAX_PASSES),
            };
            let place = offer.changes.first().and_then(|change| {
                let file = files.get(&change.file)?;
                let line = file.now.get(..change.start)?.matches('\n').count() + 1;
                Some(format!("{}:{line}: ", file.name))
            });
            let place = place.unwrap_or_default();
            say(&format!("{place}[{}] not fixed ({}): {why}", offer.rule, offer.title));
        }
    }
}

/// A line on standard error.
fn say(text: &str) {
    // Where it is closed there is nobody to tell.
    let _ = writeln!(std::io::stderr(), "{}", shown(text));
}

/// Replaces a file's text, unless it is no longer what was read or is write-protected, which to replace a file by another does not ask.
fn write(path: &Key, before: &str, now: &str) -> std::io::Result<()> {
    use rustix::fs::{Access, access};
    use std::os::unix::fs::PermissionsExt as _;
    access(path.as_std_path(), Access::WRITE_OK)?;
    // Root may write to anything.
    if std::fs::metadata(path)?.permissions().mode() & 0o200 == 0 {
        return Err(std::io::Error::other("it is write-protected"));
    }
    if std::fs::read(path)? != before.as_bytes() {
        return Err(std::io::Error::other("it has changed since it was read"));
    }
    rewrite(path, now)
}
