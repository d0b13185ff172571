//! Finds and kills every process that runs under the policy of one run, wherever it has gone: another session, another parent. There are
//! no namespaces that would end with it, but the kernel tells for each process what its policy lets it read.

use std::io;

/// How often all processes are looked at. Each time nothing new can come from those that were killed the time before.
const ROUNDS: usize = 50;

/// What the sweep asks of the system.
pub trait Processes {
    /// The numbers of all processes.
    ///
    /// # Errors
    /// Where the kernel does not tell.
    fn all(&self) -> io::Result<Vec<i32>>;
    /// Whether the policy of a process lets it read a file. `None` where it has gone, or the kernel does not tell.
    fn may_read(&self, process: i32, path: &str) -> Option<bool>;
    fn kill(&self, process: i32);
    /// Makes sure that both paths are there: of what is missing the kernel may tell nothing.
    ///
    /// # Errors
    /// Where they are not and cannot be made.
    fn restore(&self) -> io::Result<()>;
    /// Lets those that were killed go away.
    fn pause(&self);
}

/// Kills until nothing is left to kill. Gives what is left after the last round, which is nothing unless it multiplies faster than it dies.
///
/// # Errors
/// As [`Processes::all`] and [`Processes::restore`]; processes may be left then.
pub fn sweep(processes: &impl Processes, scratch: &str, sentinel: &str) -> io::Result<Vec<i32>> {
    let mut found = Vec::new();
    for round in 0..ROUNDS {
        if round > 0 {
            processes.pause();
        }
        processes.restore()?;
        found.clear();
        for process in processes.all()? {
            if is_ours(processes, process, scratch, sentinel) {
                // At once, so that its number cannot have come to be another's.
                processes.kill(process);
                found.push(process);
            }
        }
        if found.is_empty() {
            break;
        }
    }
    Ok(found)
}

/// Only a plain yes and a plain no make it ours: what the kernel says nothing about belongs to somebody else.
fn is_ours(processes: &impl Processes, process: i32, scratch: &str, sentinel: &str) -> bool {
    processes.may_read(process, scratch) == Some(true) && processes.may_read(process, sentinel) == Some(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::{Cell, RefCell};
    use std::collections::BTreeMap;

    const SCRATCH: &str = "/private/tmp/one/tmp";
    const SENTINEL: &str = "/private/tmp/one/tmp/.palisade-sentinel";

    #[derive(Debug, Clone, Copy, PartialEq)]
    enum Kind {
        Free,
        /// Under the policy of this run, and that many times as many after each round that it outlives.
        Ours {
            children: usize,
        },
        /// Under the same profile, with another scratch.
        Concurrent,
        /// Under a policy that may read everything but what one file holds.
        Strange,
        Gone,
    }

    /// A machine whose processes die when killed, unless `immortal`.
    #[derive(Default)]
    struct Machine {
        processes: RefCell<BTreeMap<i32, Kind>>,
        killed: RefCell<Vec<i32>>,
        rounds: Cell<usize>,
        immortal: bool,
        restored: Cell<usize>,
    }

    impl Machine {
        fn with(kinds: &[Kind]) -> Self {
            let machine = Self::default();
            *machine.processes.borrow_mut() = (100..).zip(kinds.iter().copied()).collect();
            machine
        }
    }

    impl Processes for Machine {
        fn all(&self) -> io::Result<Vec<i32>> {
            self.rounds.set(self.rounds.get() + 1);
            let seen: Vec<i32> = self.processes.borrow().keys().copied().collect();
            // What forks between being listed and being killed.
            let parents: Vec<usize> = (self.processes.borrow().values())
                .filter_map(|kind| if let Kind::Ours { children } = kind { Some(*children) } else { None })
                .collect();
            let mut all = self.processes.borrow_mut();
            for children in parents {
                for _ in 0..children {
                    let next = all.keys().last().map_or(100, |last| last + 1);
                    all.insert(next, Kind::Ours { children: children - 1 });
                }
            }
            Ok(seen)
        }

        fn may_read(&self, process: i32, path: &str) -> Option<bool> {
            assert!(self.restored.get() == self.rounds.get(), "asked about paths that may be missing");
            let sentinel = path == SENTINEL;
            assert!(sentinel || path == SCRATCH, "{path}");
            match self.processes.borrow().get(&process)? {
                Kind::Free => Some(true),
                Kind::Ours { .. } => Some(!sentinel),
                Kind::Concurrent => Some(false),
                Kind::Strange => (!sentinel).then_some(true),
                Kind::Gone => None,
            }
        }

        fn kill(&self, process: i32) {
            self.killed.borrow_mut().push(process);
            if !self.immortal {
                self.processes.borrow_mut().remove(&process);
            }
        }

        fn restore(&self) -> io::Result<()> {
            self.restored.set(self.restored.get() + 1);
            Ok(())
        }

        fn pause(&self) {}
    }

    fn run(machine: &Machine) -> Vec<i32> {
        sweep(machine, SCRATCH, SENTINEL).unwrap()
    }

    #[test]
    fn only_what_runs_under_this_policy_dies() {
        let leaf = Kind::Ours { children: 0 };
        let machine =
            Machine::with(&[Kind::Free, leaf, Kind::Concurrent, Kind::Strange, Kind::Gone, leaf, Kind::Free]);
        assert!(run(&machine).is_empty());
        assert_eq!(*machine.killed.borrow(), [101, 105]);
        assert_eq!(machine.rounds.get(), 2, "looks again until there is none");
    }

    #[test]
    fn one_look_is_enough_where_nothing_is_left() {
        let machine = Machine::with(&[Kind::Free, Kind::Concurrent]);
        assert!(run(&machine).is_empty());
        assert_eq!((machine.rounds.get(), machine.killed.borrow().len()), (1, 0));
    }

    #[test]
    fn what_forks_while_it_is_hunted_is_hunted_down() {
        let machine = Machine::with(&[Kind::Ours { children: 5 }, Kind::Free]);
        assert!(run(&machine).is_empty());
        let left: Vec<Kind> = machine.processes.borrow().values().copied().collect();
        assert_eq!(left, [Kind::Free]);
        assert!(machine.rounds.get() > 5);
    }

    #[test]
    fn it_gives_up_and_says_so() {
        let machine = Machine { immortal: true, ..Machine::with(&[Kind::Ours { children: 0 }, Kind::Free]) };
        assert_eq!(run(&machine), [100]);
        assert_eq!(machine.rounds.get(), ROUNDS);
    }
}
