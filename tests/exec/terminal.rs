//! Use at a terminal: a real one, a pseudo-terminal that the test types into and reads from.

use crate::limits::wait_for;
use crate::raw::{at_terminal, call};
use crate::suite::Scenario;
use crate::world::{PROGRAMS, World, rule, shell_path};
use palisade::plan::{OriginKind, Scope};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags, fstat};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{OptionalActions, Termios, Winsize, tcgetattr, tcgetwinsize, tcsetattr, tcsetwinsize};
use std::fs;
use std::process::{Child, Command, ExitStatus, Stdio};
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
        other => panic!("{other}"),
    }
}

/// A terminal, and a program at it.
struct Screen {
    keys: OwnedFd,
    /// Kept open, so that its modes can be looked at in the end.
    terminal: OwnedFd,
    child: Child,
    modes: Termios,
    text: String,
    seen: usize,
}

impl Screen {
    fn start(mut command: Command) -> Self {
        let keys = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&keys).unwrap();
        unlockpt(&keys).unwrap();
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let terminal = ioctl_tiocgptpeer(&keys, flags).unwrap();
        tcsetwinsize(&terminal, Winsize { ws_row: 31, ws_col: 97, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        let modes = tcgetattr(&terminal).unwrap();
        at_terminal(&mut command);
        let stream = || Stdio::from(terminal.try_clone().unwrap());
        command.stdin(stream()).stdout(stream()).stderr(stream());
        let child = command.spawn().unwrap();
        Self { keys, terminal, child, modes, text: String::new(), seen: 0 }
    }

    /// The test's program at the terminal of a world.
    fn probe(world: &World, what: &str) -> Self {
        Self::start(world.palisade(&["--", PROGRAMS.probe.as_str(), "--at-terminal", what]))
    }

    fn line(world: &World, line: &str) -> Self {
        Self::start(world.palisade(&["-c", line]))
    }

    /// An interactive shell that the user works in, without walls.
    fn shell(world: &World) -> Self {
        let mut command = world.user(&shell_path());
        command.arg("-i").env("PS1", "outer> ").env_remove("ENV");
        let mut screen = Self::start(command);
        screen.expect("outer> ");
        screen
    }

    fn keys(&mut self, keys: &str) {
        rustix::io::write(&self.keys, keys.as_bytes()).unwrap();
    }

    /// Waits until the terminal shows this, after what was waited for before.
    #[track_caller]
    fn expect(&mut self, wanted: &str) {
        let until = Instant::now() + Duration::from_secs(30);
        loop {
            if let Some(at) = self.text[self.seen..].find(wanted) {
                self.seen += at + wanted.len();
                return;
            }
            assert!(
                Instant::now() < until,
                "no {wanted:?} in {:?} after {:?}",
                &self.text[self.seen..],
                &self.text[..self.seen]
            );
            self.read(Duration::from_millis(100));
        }
    }

    /// Everything the terminal has shown, once nothing more comes.
    fn rest(&mut self) -> &str {
        while self.read(Duration::from_millis(300)) {}
        &self.text
    }

    fn read(&mut self, patience: Duration) -> bool {
        let mut fds = [PollFd::new(&self.keys, PollFlags::IN)];
        let patience = Timespec { tv_sec: 0, tv_nsec: i64::from(patience.subsec_nanos()) };
        if poll(&mut fds, Some(&patience)).unwrap() == 0 {
            return false;
        }
        let mut bytes = [0; 4096];
        let length = rustix::io::read(&self.keys, &mut bytes).unwrap();
        self.text.push_str(&String::from_utf8_lossy(&bytes[..length]));
        true
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits for the end, after which the terminal must be as it was.
    #[track_caller]
    fn end(&mut self) -> ExitStatus {
        let until = Instant::now() + Duration::from_secs(30);
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(Instant::now() < until, "it goes on: {:?}", self.text);
            self.read(Duration::from_millis(50));
        };
        self.rest();
        let modes = tcgetattr(&self.terminal).unwrap();
        let all = |modes: &Termios| {
            let Termios { input_modes, output_modes, control_modes, local_modes, .. } = modes;
            (*input_modes, *output_modes, *control_modes, *local_modes)
        };
        assert_eq!(all(&modes), all(&self.modes), "{}", self.text);
        status
    }

    fn is_raw(&self) -> bool {
        !tcgetattr(&self.terminal).unwrap().local_modes.contains(rustix::termios::LocalModes::ICANON)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A shell behind the walls that is used by hand.
fn inner_shell(world: &mut World) -> Screen {
    world.manifest.environment.set.insert("PS1".into(), "inner> ".into());
    let shell = shell_path();
    let mut screen = Screen::start(world.palisade(&["--", shell.as_str(), "-i"]));
    screen.expect("inner> ");
    screen
}

fn waiting() -> String {
    format!("{} --at-terminal wait\n", PROGRAMS.probe)
}

/// The command line of `palisade exec`, for a shell.
fn in_shell(world: &World, how: &[&str]) -> String {
    let command = world.palisade(how);
    let words = std::iter::once(PROGRAMS.palisade.to_string())
        .chain(command.get_args().map(|word| word.to_string_lossy().into_owned()))
        .map(|word| format!("'{}'", word.replace('\'', "'\\''")));
    words.collect::<Vec<_>>().join(" ")
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
        name: "a command that is stopped stops palisade, and everything with it, until `fg`",
        run: |world| {
            let probe = &PROGRAMS.probe;
            let line = format!("(while :; do echo x >> grows; done) & {probe} --at-terminal wait");
            let ours = in_shell(world, &["-c", &line]);
            let mut screen = Screen::shell(world);
            screen.keys(&format!("{ours}\n"));
            screen.expect("now waiting");
            wait_for(&world.place.rw("grows"));
            screen.keys("\x1a");
            screen.expect("outer> ");
            assert!(!screen.is_raw());
            screen.keys("jobs\n");
            screen.expect("Stopped");
            screen.expect("outer> ");
            let length = || fs::metadata(world.place.rw("grows")).unwrap().len();
            let before = length();
            sleep(Duration::from_millis(200));
            assert_eq!(length(), before);
            screen.keys("fg\n");
            for _ in 0..500 {
                if length() > before && screen.is_raw() {
                    break;
                }
                sleep(Duration::from_millis(10));
            }
            assert!(length() > before && screen.is_raw(), "{}", screen.text);
            screen.keys("\x03");
            screen.expect("outer> ");
            screen.keys("echo code $?; exit\n");
            screen.expect("code 130");
            screen.end();
        },
    },
    Scenario {
        name: "a background job that wants the terminal is stopped, and goes on in front",
        run: |world| {
            let ours =
                in_shell(world, &["-c", "read line; echo \"got $line\"; read line; echo \"and $line\""]);
            let mut screen = Screen::shell(world);
            screen.keys(&format!("{ours} &\n"));
            screen.expect("outer> ");
            for _ in 0..200 {
                screen.keys("jobs\n");
                screen.expect("outer> ");
                if screen.text.contains("Stopped") {
                    break;
                }
                sleep(Duration::from_millis(50));
            }
            assert!(screen.text.contains("Stopped"), "{}", screen.text);
            screen.keys("fg\n");
            screen.expect("exec");
            sleep(Duration::from_millis(300));
            screen.keys("one\n");
            screen.expect("got one");
            screen.keys("two\n");
            screen.expect("and two");
            screen.expect("outer> ");
            screen.keys("exit\n");
            screen.end();
        },
    },
    Scenario {
        name: "a command of which only the output is redirected is stopped with palisade",
        run: |world| {
            let ours = in_shell(world, &["-c", ": > mark; while :; do echo x >> grows; done"]);
            let mut screen = Screen::shell(world);
            screen.keys(&format!("{ours} > /dev/null\n"));
            wait_for(&world.place.rw("mark"));
            wait_for(&world.place.rw("grows"));
            screen.keys("\x1a");
            screen.expect("outer> ");
            let length = || fs::metadata(world.place.rw("grows")).unwrap().len();
            let before = length();
            sleep(Duration::from_millis(200));
            assert_eq!(length(), before);
            screen.keys("fg\n");
            screen.expect("exec");
            for _ in 0..500 {
                if length() > before {
                    break;
                }
                sleep(Duration::from_millis(10));
            }
            assert!(length() > before);
            screen.keys("\x03");
            screen.expect("outer> ");
            screen.keys("exit\n");
            screen.end();
        },
    },
    Scenario {
        name: "a background job without a terminal of its own does not take what is typed for others",
        run: |world| {
            let ours = in_shell(world, &["-c", "while read line; do echo \"taken $line\"; done; echo end"]);
            let mut screen = Screen::shell(world);
            screen.keys(&format!("{ours} > '{}' &\n", world.place.rw("output")));
            screen.expect("outer> ");
            wait_for(&world.place.rw("output"));
            for _ in 0..500 {
                if fs::read_to_string(world.place.rw("output")).unwrap() == "end\n" {
                    break;
                }
                sleep(Duration::from_millis(10));
            }
            assert_eq!(fs::read_to_string(world.place.rw("output")).unwrap(), "end\n");
            screen.keys("exit\n");
            screen.end();
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
