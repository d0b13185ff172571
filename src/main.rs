use palisade::exec::{self, Command, Refusal};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    let usage = "usage: palisade exec MANIFEST (-- ARGV… | -c LINE)";
    let (Some(verb), Some(manifest), Some(how)) = (words.next(), words.next(), words.next()) else {
        eprintln!("{usage}");
        return ExitCode::from(2);
    };
    let command = match how.to_str() {
        Some("--") => Command::Argv(words.collect()),
        Some("-c") => Command::Shell(words.next().unwrap_or_default().to_string_lossy().into_owned()),
        _ => Command::Argv(Vec::new()),
    };
    if verb != "exec" {
        eprintln!("{usage}");
        return ExitCode::from(2);
    }
    let text = match std::fs::read_to_string(manifest) {
        Ok(text) => text,
        Err(error) => return refuse(&format!("cannot read the manifest: {error}"), None),
    };
    let ended = match palisade::manifest::read(&text) {
        Ok(manifest) => exec::run(&manifest, &command),
        Err(error) => return refuse(&error.to_string(), Some("run `palisade compile` again")),
    };
    match ended {
        Ok(outcome) => {
            for note in &outcome.notes {
                say(&note.message, note.help.as_deref());
            }
            ExitCode::from(u8::try_from(outcome.code).unwrap_or(125))
        }
        Err(refusal) => refuse(&refusal.to_string(), refusal.help().as_deref()),
    }
}

fn refuse(message: &str, help: Option<&str>) -> ExitCode {
    say(message, help);
    ExitCode::from(Refusal::CODE as u8)
}

fn say(message: &str, help: Option<&str>) {
    eprintln!("palisade: {message}");
    if let Some(help) = help {
        eprintln!("  help: {help}");
    }
}
