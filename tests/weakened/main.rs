//! Machines that lack something, made so: `doctor` must say what, and agree with `exec`.
//!
//! The binary of this test also weakens: `weakened --weaken NAME PROGRAM ARGUMENT…` takes something away from itself and becomes the
//! program. What cannot be taken away here (AppArmor, a container's runtime) is tested on observations made by hand, in `tests/doctor.rs`.

#[cfg(target_os = "linux")]
mod raw;
#[cfg(target_os = "linux")]
mod scenarios;
#[cfg(target_os = "linux")]
mod weaken;
#[cfg(target_os = "linux")]
mod world;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    let words: Vec<String> = std::env::args().collect();
    if let [_, flag, name, program, arguments @ ..] = words.as_slice()
        && flag == "--weaken"
    {
        return weaken::run(name, program, arguments);
    }
    let conclusion = libtest_mimic::run(&libtest_mimic::Arguments::from_args(), scenarios::trials());
    world::remove_programs();
    conclusion.exit_code()
}

/// macOS takes nothing away that can be taken away here.
#[cfg(not(target_os = "linux"))]
fn main() {}
