//! Use at a terminal: a real one, a pseudo-terminal that the test types into and reads from.

mod jobs;
mod screen;

pub use jobs::SCENARIOS as JOBS;

use super::raw::call;
use super::world::rule;
use crate::limits::wait_for;
use crate::suite::Scenario;
use crate::world::{PROGRAMS, shell_path};
use palisade::plan::{OriginKind, Scope};
use rustix::fs::{Mode, OFlags, fstat};
use rustix::process::{Pid, Signal, WaitOptions, waitpid};
use rustix::termios::{
    OptionalActions, Winsize, tcgetattr, tcgetwinsize, tcsetattr, tcsetpgrp, tcsetwinsize,
};
use screen::{Screen, in_shell, inner_shell, waiting};
use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// What the program of this test does when it is run at the terminal.
pub fn inside(what: &str) {
    let stdin = rustix::stdio::stdin();
    match what {
        // Says so, and waits for a signal.
        "wait" => {
            println!("now waiting");
            sleep(Duration::from_secs(600));
        }
        "size" => {
            let size = tcgetwinsize(stdin).unwrap();
            println!("rows {} columns {}", size.ws_row, size.ws_col);
        }
        // As an editor does, without undoing it.
        "raw" => {
            let mut modes = tcgetattr(stdin).unwrap();
            modes.make_raw();
            tcsetattr(stdin, OptionalActions::Now, &modes).unwrap();
            println!("now raw");
        }
        "inject" => {
            let byte = b"x".as_ptr() as usize;
            for request in [libc::TIOCSTI, libc::TIOCLINUX] {
                let done = call(libc::SYS_ioctl, [0, request as usize, byte, 0, 0, 0]);
                println!("typed: {:?}", done.err().and_then(|error| error.raw_os_error()));
            }
        }
        // Where each open file is: the streams, and what else leads to a terminal.
        "where" => {
            for number in 0..100 {
                if let Ok(file) = fs::File::open(format!("/proc/self/fd/{number}")) {
                    println!("{number} on {}", fstat(&file).unwrap().st_dev);
                }
            }
            let tty = fs::OpenOptions::new().read(true).write(true).open("/dev/tty").unwrap();
            println!("size {}", tcgetwinsize(&tty).unwrap().ws_row);
        }
        "name" => println!("name {:?}", rustix::termios::ttyname(stdin, Vec::new())),
        // As a shell does with a job that runs anyway: without a word to it.
        other => {
            let job = other.strip_prefix("front:").and_then(|pid| Pid::from_raw(pid.parse().ok()?));
            let job = job.unwrap_or_else(|| panic!("{other}"));
            tcsetpgrp(stdin, job).unwrap();
            waitpid(Some(job), WaitOptions::empty()).unwrap();
        }
    }
}

pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "at a terminal a shell has job control",
        run: |world| {
            let mut screen = inner_shell(world);
            assert!(screen.is_raw());
            // Ctrl-C ends what is in front, not the shell.
            screen.keys(&waiting());
            screen.expect("now waiting");
            screen.keys("\x03");
            screen.expect("inner> ");
            screen.keys("echo code $?\n");
            screen.expect("code 130");
            // Ctrl-Z stops it, and `fg` goes on with it.
            screen.keys(&waiting());
            screen.expect("now waiting");
            screen.keys("\x1a");
            screen.expect("inner> ");
            screen.keys("echo code $?; jobs\n");
            screen.expect(&format!("code {}", 128 + libc::SIGTSTP));
            screen.expect("Stopped");
            screen.keys("fg\n");
            screen.expect("--at-terminal wait");
            sleep(Duration::from_millis(200));
            screen.keys("\x03");
            screen.expect("inner> ");
            screen.keys("echo code $?; exit 7\n");
            screen.expect("code 130");
            assert_eq!(screen.end().code(), Some(7), "{}", screen.text);
            assert!(!screen.text.contains("job control") && !screen.text.contains("tty"), "{}", screen.text);
        },
    },
    Scenario {
        name: "at a terminal the end of input ends a shell",
        run: |world| {
            let mut screen = inner_shell(world);
            screen.keys("\x04");
            assert_eq!(screen.end().code(), Some(0), "{}", screen.text);
        },
    },
    Scenario {
        name: "at a terminal the size is known and followed",
        run: |world| {
            let mut screen = Screen::probe(world, "size");
            screen.expect("rows 31 columns 97");
            assert_eq!(screen.end().code(), Some(0));
            let probe = &PROGRAMS.probe;
            let line =
                format!("trap '{probe} --at-terminal size; exit 5' WINCH; echo ready; while :; do :; done");
            let mut screen = Screen::line(world, &line);
            screen.expect("ready");
            let size = Winsize { ws_row: 12, ws_col: 34, ws_xpixel: 0, ws_ypixel: 0 };
            tcsetwinsize(&screen.keys, size).unwrap();
            screen.expect("rows 12 columns 34");
            assert_eq!(screen.end().code(), Some(5), "{}", screen.text);
        },
    },
    Scenario {
        name: "the terminal has its modes back after every end of a command that changed them",
        run: |world| {
            let raw = format!("{} --at-terminal raw", PROGRAMS.probe);
            let hang = format!("{raw}; : > mark; while :; do :; done");
            for (line, code) in [(format!("{raw}; exit 3"), 3), (format!("{raw}; kill -9 $$"), 137)] {
                let mut screen = Screen::line(world, &line);
                assert_eq!(screen.end().code(), Some(code), "{}", screen.text);
                assert!(screen.text.contains("now raw"), "{}", screen.text);
            }
            for signal in [Signal::TERM, Signal::HUP] {
                let mut screen = Screen::line(world, &hang);
                wait_for(&world.place.rw("mark"));
                assert!(screen.is_raw());
                screen.signal(signal);
                assert_eq!(screen.end().code(), Some(128 + signal.as_raw()), "{}", screen.text);
                fs::remove_file(world.place.rw("mark")).unwrap();
            }
            world.manifest.limits.time_ms = Some(2_000);
            let mut screen = Screen::line(world, &hang);
            assert_eq!(screen.end().code(), Some(124), "{}", screen.text);
            assert!(screen.text.contains("killed: time limit 2 s\r\n"), "{}", screen.text);
            world.manifest.limits.time_ms = None;
            fs::remove_file(world.place.rw("mark")).unwrap();
            let mut screen = Screen::line(world, &hang);
            wait_for(&world.place.rw("mark"));
            fs::remove_file(world.place.rw(".env")).unwrap();
            assert_eq!(screen.end().code(), Some(125), "{}", screen.text);
            assert!(screen.text.contains("violation: protected path"), "{}", screen.text);
            let mut screen = Screen::line(world, "  ");
            assert_eq!(screen.end().code(), Some(125), "{}", screen.text);
        },
    },
    Scenario {
        name: "what is written to a terminal is limited too",
        run: |world| {
            world.manifest.limits.output_bytes = Some(1000);
            let line = "while :; do echo 0123456789; echo 0123456789 >&2; done";
            let mut screen = Screen::line(world, line);
            assert_eq!(screen.end().code(), Some(124), "{}", screen.text);
            let at = screen.text.find("palisade: killed: output limit 1000 bytes").expect("a note");
            assert_eq!(at, 1000, "{}", screen.text);
            // Standard error elsewhere is counted with it.
            let path = world.place.base.join("errors");
            let errors = fs::File::create(&path).unwrap();
            fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o666)).unwrap();
            drop(errors);
            let line = format!("exec 2>'{path}'; exec {}", in_shell(world, &["-c", line]));
            let mut command = world.user(&shell_path());
            command.args(["-c", &line]);
            let mut screen = Screen::start(command);
            assert_eq!(screen.end().code(), Some(124), "{}", screen.text);
            let errors = fs::read_to_string(path).unwrap();
            let at = errors.find("palisade: killed: output limit").expect("a note");
            assert_eq!(screen.text.len() + at, 1000, "{errors}");
        },
    },
    Scenario {
        name: "what palisade says at a terminal is wrapped, but for what is to be copied",
        run: |world| {
            fs::hard_link(world.place.rw(".env"), world.place.rw("other name")).unwrap();
            let mut screen = Screen::line(world, "echo ran");
            assert_eq!(screen.end().code(), Some(125), "{}", screen.text);
            let lines: Vec<&str> = screen.text.lines().collect();
            assert!(lines.len() > 3, "{}", screen.text);
            assert!(lines.iter().all(|line| line.len() <= 80 || line.contains('`')), "{}", screen.text);
            let path = world.place.rw(".env");
            assert!(
                screen.text.contains(&format!("`cp -p {path} {path}.x && mv {path}.x {path}`")),
                "{}",
                screen.text
            );
        },
    },
    Scenario {
        name: "nothing can be typed into the terminal from behind the walls",
        run: |world| {
            let mut screen = Screen::probe(world, "inject");
            assert_eq!(screen.end().code(), Some(0));
            assert_eq!(screen.text, "typed: Some(1)\r\ntyped: Some(1)\r\n");
        },
    },
    Scenario {
        name: "the terminal outside cannot be reached",
        run: |world| {
            let mut screen = Screen::probe(world, "where");
            assert_eq!(screen.end().code(), Some(0), "{}", screen.text);
            let ours = fstat(&screen.terminal).unwrap().st_dev;
            let devices: Vec<&str> =
                screen.text.lines().filter_map(|line| line.split_once(" on ").map(|(_, on)| on)).collect();
            assert!(devices.len() >= 3, "{}", screen.text);
            assert!(!devices.contains(&ours.to_string().as_str()), "{ours}: {}", screen.text);
            assert!(screen.text.contains("size 31"), "/dev/tty is the one inside: {}", screen.text);
        },
    },
    Scenario {
        name: "the terminal has a name where the profile needs terminals",
        run: |world| {
            let operations = "read write metadata";
            for (path, scope) in [("/dev/pts", Scope::Subtree), ("/dev/ptmx", Scope::Literal)] {
                world.rule(rule(true, operations, scope, path, OriginKind::Need));
            }
            let mut screen = Screen::probe(world, "name");
            assert_eq!(screen.end().code(), Some(0), "{}", screen.text);
            assert_eq!(screen.text, "name Ok(\"/dev/pts/0\")\r\n");
        },
    },
    Scenario {
        name: "a signal reaches the command at a terminal, and what is in front of it",
        run: |world| {
            let line = "trap 'echo caught; exit 9' TERM; echo ready; while :; do :; done";
            let mut screen = Screen::line(world, line);
            screen.expect("ready");
            screen.signal(Signal::TERM);
            screen.expect("caught");
            assert_eq!(screen.end().code(), Some(9), "{}", screen.text);
            let mut screen = inner_shell(world);
            for _ in 0..2 {
                screen.keys(&waiting());
                screen.expect("now waiting");
                screen.signal(Signal::INT);
                screen.expect("inner> ");
            }
            screen.keys("echo code $?; exit\n");
            screen.expect("code 130");
            screen.end();
        },
    },
    Scenario {
        name: "a terminal that is hung up ends the command",
        run: |world| {
            let line = "echo ready; while :; do :; done";
            let mut screen = Screen::line(world, line);
            screen.expect("ready");
            let null = rustix::fs::open("/dev/null", OFlags::RDWR, Mode::empty()).unwrap();
            screen.keys = null.try_clone().unwrap();
            screen.terminal = null;
            let until = Instant::now() + Duration::from_secs(30);
            while screen.child.try_wait().unwrap().is_none() {
                assert!(Instant::now() < until, "it goes on");
                sleep(Duration::from_millis(20));
            }
        },
    },
    Scenario {
        name: "without a terminal there is none inside, and nothing waits",
        run: |world| {
            let line = "read line < /dev/tty && exit 4; read line && exit 5; echo none";
            let output = world.palisade(&["-c", line]).output().unwrap();
            assert_eq!(output.stdout, b"none\n", "{}", crate::suite::show(&output));
            // Input that is a file and output that is a terminal: both are passed on.
            let input = world.place.base.join("input");
            fs::write(&input, "text\n").unwrap();
            let ours = in_shell(world, &["-c", "read line; echo \"got $line\""]);
            let line = format!("exec {ours} < '{input}'");
            let mut command = world.user(&shell_path());
            command.args(["-c", &line]);
            let mut screen = Screen::start(command);
            screen.expect("got text");
            assert_eq!(screen.end().code(), Some(0), "{}", screen.text);
        },
    },
];
