//! Job control of the shell that palisade is started from.

use super::screen::{Screen, in_shell};
use crate::limits::wait_for;
use crate::suite::Scenario;
use crate::world::{PROGRAMS, shell_path};
use rustix::termios::{InputModes, LocalModes, OptionalActions, tcgetattr, tcsetattr};
use std::fs;
use std::thread::sleep;
use std::time::Duration;

pub const SCENARIOS: &[Scenario] = &[
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
        name: "a job from the background gets the modes that the terminal has when it comes to the front",
        run: |world| {
            let ours = in_shell(world, &["-c", "read line; echo \"got <$line>\""]);
            let mut screen = Screen::shell(world);
            // As shells do that edit their lines.
            let modes = tcgetattr(&screen.terminal).unwrap();
            let mut editing = modes.clone();
            editing.input_modes.remove(InputModes::ICRNL);
            editing.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
            tcsetattr(&screen.terminal, OptionalActions::Now, &editing).unwrap();
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
            tcsetattr(&screen.terminal, OptionalActions::Now, &modes).unwrap();
            screen.keys("fg\r");
            screen.expect("exec");
            for _ in 0..500 {
                if screen.is_raw() {
                    break;
                }
                sleep(Duration::from_millis(10));
            }
            // The key that ends a line is no line feed.
            screen.keys("one\r");
            screen.expect("got <one>");
            screen.expect("outer> ");
            screen.keys("exit\r");
            screen.end();
        },
    },
    Scenario {
        name: "a running job notices by itself that it is in front",
        run: |world| {
            let line = ": > mark; while [ ! -e go ]; do :; done; read line; echo \"got $line\"";
            let ours = in_shell(world, &["-c", line]);
            let (mark, probe) = (world.place.rw("mark"), &PROGRAMS.probe);
            let line = format!(
                "{ours} & while [ ! -e '{mark}' ]; do :; done; echo behind; exec '{probe}' --at-terminal front:$!"
            );
            let mut command = world.user(&shell_path());
            command.args(["-mc", &line]);
            let mut screen = Screen::start(command);
            screen.expect("behind");
            for _ in 0..500 {
                if screen.is_raw() {
                    break;
                }
                sleep(Duration::from_millis(10));
            }
            assert!(screen.is_raw(), "{}", screen.text);
            fs::write(world.place.rw("go"), "").unwrap();
            screen.keys("one\r");
            screen.expect("got one");
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
];
