//! A terminal that a test types into and reads from.

use crate::raw::at_terminal;
use crate::world::{PROGRAMS, World, shell_path};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{LocalModes, Termios, Winsize, tcgetattr, tcsetwinsize};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// A terminal, and a program at it.
pub struct Screen {
    pub keys: OwnedFd,
    /// Kept open, so that its modes can be looked at in the end.
    pub terminal: OwnedFd,
    pub child: Child,
    modes: Termios,
    pub text: String,
    seen: usize,
}

impl Screen {
    pub fn start(mut command: Command) -> Self {
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
    pub fn probe(world: &World, what: &str) -> Self {
        Self::start(world.palisade(&["--", PROGRAMS.probe.as_str(), "--at-terminal", what]))
    }

    pub fn line(world: &World, line: &str) -> Self {
        Self::start(world.palisade(&["-c", line]))
    }

    /// An interactive shell that the user works in, without walls.
    pub fn shell(world: &World) -> Self {
        let mut command = world.user(&shell_path());
        command.arg("-i").env("PS1", "outer> ").env_remove("ENV");
        let mut screen = Self::start(command);
        screen.expect("outer> ");
        screen
    }

    pub fn keys(&mut self, keys: &str) {
        rustix::io::write(&self.keys, keys.as_bytes()).unwrap();
    }

    /// Waits until the terminal shows this, after what was waited for before.
    #[track_caller]
    pub fn expect(&mut self, wanted: &str) {
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
    pub fn rest(&mut self) -> &str {
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

    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits for the end, after which the terminal must be as it was.
    #[track_caller]
    pub fn end(&mut self) -> ExitStatus {
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

    pub fn is_raw(&self) -> bool {
        !tcgetattr(&self.terminal).unwrap().local_modes.contains(LocalModes::ICANON)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A shell behind the walls that is used by hand.
pub fn inner_shell(world: &mut World) -> Screen {
    world.manifest.environment.set.insert("PS1".into(), "inner> ".into());
    let shell = shell_path();
    let mut screen = Screen::start(world.palisade(&["--", shell.as_str(), "-i"]));
    screen.expect("inner> ");
    screen
}

pub fn waiting() -> String {
    format!("{} --at-terminal wait\n", PROGRAMS.probe)
}

/// The command line of `palisade exec`, for a shell.
pub fn in_shell(world: &World, how: &[&str]) -> String {
    let command = world.palisade(how);
    let words = std::iter::once(PROGRAMS.palisade.to_string())
        .chain(command.get_args().map(|word| word.to_string_lossy().into_owned()))
        .map(|word| format!("'{}'", word.replace('\'', "'\\''")));
    words.collect::<Vec<_>>().join(" ")
}
