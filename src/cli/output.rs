//! What the verbs print: findings on standard output, failures of a run on standard error.

use super::Exit;
use crate::finding::{Finding, Severity};
use crate::report;
use crate::source::Sources;
use std::io::{IsTerminal as _, Write as _};

/// Options about findings.
#[derive(clap::Args, Clone, Debug)]
pub struct FindingArgs {
    /// How findings are shown
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
    /// The lowest severity that makes the run fail
    #[arg(long, value_enum, default_value_t = FailOn::Warning, value_name = "SEVERITY")]
    pub fail_on: FailOn,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// With the text it is about
    Human,
    /// One line each
    Concise,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailOn {
    Note,
    Warning,
    Error,
}

impl FailOn {
    pub fn severity(self) -> Severity {
        match self {
            Self::Note => Severity::Note,
            Self::Warning => Severity::Warning,
            Self::Error => Severity::Error,
        }
    }
}

/// Says what went wrong with the run itself, and passes the exit code through.
pub fn fail(exit: Exit, message: &str, help: Option<&str>) -> Exit {
    let mut text = format!("palisade: {}\n", report::printable(message));
    if let Some(help) = help {
        text.push_str(&format!("  help: {}\n", report::printable(help)));
    }
    // Where standard error is closed there is nobody to tell.
    let _ = std::io::stderr().write_all(text.as_bytes());
    exit
}

/// Prints text. A reader that has gone away (`| head`) is no failure.
pub fn print(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

/// Whether output to that stream may have colour (no-color.org).
fn colour(terminal: bool) -> bool {
    terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Findings as text, for standard output.
pub fn findings(format: Format, sources: &Sources, findings: &[Finding]) -> String {
    let terminal = std::io::stdout().is_terminal();
    render(format, sources, findings, terminal)
}

/// Findings as text, for standard error, where standard output belongs to something else.
pub fn findings_aside(sources: &Sources, findings: &[Finding]) {
    let text = render(Format::Human, sources, findings, std::io::stderr().is_terminal());
    let _ = std::io::stderr().write_all(text.as_bytes());
}

fn render(format: Format, sources: &Sources, findings: &[Finding], terminal: bool) -> String {
    match format {
        Format::Human => {
            let style = report::human::Style { colour: colour(terminal), unicode: true, width: 80, links: false };
            report::human::render(sources, findings, &style)
        }
        Format::Concise => report::concise::render(sources, findings),
    }
}

/// The exit of a run with these findings.
pub fn exit_for(findings: &[Finding], fail_on: FailOn) -> Exit {
    let fails = findings.iter().any(|finding| finding.severity >= fail_on.severity());
    if fails { Exit::Findings } else { Exit::Clean }
}
