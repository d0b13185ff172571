//! Whole trees, looked at by two threads: most of the time goes to the kernel, which can answer both at once.
//!
//! Which thread meets what is not known beforehand, so whoever walks must give the same whatever the order: what could not be examined is
//! sorted here, what was found by the caller.

use crate::host::{Entry, Host, HostError};
use camino::{Utf8Path, Utf8PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A tree this small is done before another thread has begun.
const ALONE: usize = 32;

/// What a walk gave.
pub struct Walked<J, T> {
    /// One for each thread.
    pub found: Vec<T>,
    /// What could not be examined, and in which walk, in the order of the paths.
    pub unexamined: Vec<(J, HostError)>,
}

/// Shows everything below these directories to `visit`, with what each of them was given; links are not followed. Where `visit` gives
/// `false`, what lies below is left out.
pub fn walk<J, T, V>(host: &dyn Host, directories: Vec<(Utf8PathBuf, J)>, visit: &V) -> Walked<J, T>
where
    J: Copy + Ord + Send,
    T: Default + Send,
    V: Fn(&mut T, &J, &Utf8Path, &Entry) -> bool + Sync,
{
    let mut first = Walker { host, visit, found: T::default(), unexamined: Vec::new() };
    let mut waiting = directories;
    for _ in 0..ALONE {
        let Some(directory) = waiting.pop() else { break };
        first.directory(directory, &mut waiting);
    }
    let mut walkers = vec![first];
    if !waiting.is_empty() {
        walkers.push(Walker { host, visit, found: T::default(), unexamined: Vec::new() });
        let queue = Queue { state: Mutex::new(State { waiting, busy: 0 }), changed: Condvar::new() };
        std::thread::scope(|scope| {
            for walker in &mut walkers {
                let queue = &queue;
                scope.spawn(move || walker.work(queue));
            }
        });
    }
    let mut unexamined = Vec::new();
    let mut found = Vec::with_capacity(walkers.len());
    for walker in walkers {
        unexamined.extend(walker.unexamined);
        found.push(walker.found);
    }
    unexamined.sort_by(|(of, error), (other, another)| {
        of.cmp(other).then_with(|| error.path().cmp(another.path()))
    });
    Walked { found, unexamined }
}

/// Directories that nobody has looked into yet.
struct Queue<J> {
    state: Mutex<State<J>>,
    changed: Condvar,
}

struct State<J> {
    waiting: Vec<(Utf8PathBuf, J)>,
    /// Threads that are looking, and may find more.
    busy: usize,
}

impl<J> Queue<J> {
    fn lock(&self) -> MutexGuard<'_, State<J>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next directories, a few at a time; none once there will be no more.
    fn take(&self) -> Vec<(Utf8PathBuf, J)> {
        let mut state = self.lock();
        while state.waiting.is_empty() && state.busy > 0 {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        // Half of them, so that the other thread finds something too.
        let most = state.waiting.len();
        let taken = state.waiting.split_off(most - most.div_ceil(2).min(ALONE));
        state.busy += usize::from(!taken.is_empty());
        taken
    }
}

/// What a thread has found to be looked into; it is handed over when the thread is done, whatever ends it: the other one waits for it.
struct Found<'q, J> {
    queue: &'q Queue<J>,
    directories: Vec<(Utf8PathBuf, J)>,
}

impl<J> Drop for Found<'_, J> {
    fn drop(&mut self) {
        let mut state = self.queue.lock();
        state.waiting.append(&mut self.directories);
        state.busy -= 1;
        drop(state);
        self.queue.changed.notify_all();
    }
}

struct Walker<'a, J, T, V> {
    host: &'a dyn Host,
    visit: &'a V,
    found: T,
    unexamined: Vec<(J, HostError)>,
}

impl<J: Copy, T, V: Fn(&mut T, &J, &Utf8Path, &Entry) -> bool> Walker<'_, J, T, V> {
    fn work(&mut self, queue: &Queue<J>) {
        loop {
            let taken = queue.take();
            if taken.is_empty() {
                return;
            }
            let mut found = Found { queue, directories: Vec::new() };
            for directory in taken {
                self.directory(directory, &mut found.directories);
            }
        }
    }

    fn directory(&mut self, (directory, of): (Utf8PathBuf, J), below: &mut Vec<(Utf8PathBuf, J)>) {
        let listed = match self.host.list(&directory) {
            Ok(listed) => listed,
            Err(error) => return self.unexamined.push((of, error)),
        };
        for (path, entry) in listed.iter() {
            match entry {
                Ok(entry) => {
                    if (self.visit)(&mut self.found, &of, path, entry) && entry.is_directory() {
                        below.push((path.clone(), of));
                    }
                }
                Err(error) => self.unexamined.push((of, error.clone())),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::LiveHost;

    #[test]
    fn meets_everything_once_whoever_walks_it() {
        let directory = tempfile::tempdir().unwrap();
        let top = Utf8PathBuf::from_path_buf(directory.path().canonicalize().unwrap()).unwrap();
        for number in 0..300 {
            let below = top.join(format!("{}/{}/{number}", number % 7, number % 31));
            std::fs::create_dir_all(&below).unwrap();
            std::fs::write(below.join("file"), "").unwrap();
        }
        std::os::unix::fs::symlink(&top, top.join("link")).unwrap();
        let host = LiveHost::new().unwrap();
        let plain = walkdir::WalkDir::new(&top).min_depth(1).into_iter();
        let mut expected: Vec<Utf8PathBuf> =
            plain.map(|entry| Utf8PathBuf::from_path_buf(entry.unwrap().into_path()).unwrap()).collect();
        expected.sort();
        for _ in 0..20 {
            let walked = walk(&host, vec![(top.clone(), 1)], &|met: &mut Vec<Utf8PathBuf>, &of, path, _| {
                met.push(path.to_path_buf());
                of == 1
            });
            assert_eq!(walked.unexamined, []);
            let mut met: Vec<Utf8PathBuf> = walked.found.into_iter().flatten().collect();
            met.sort();
            assert_eq!(met, expected);
        }
    }

    #[test]
    fn leaves_out_what_is_not_wanted_and_tells_what_cannot_be_examined_in_order() {
        use std::os::unix::ffi::OsStrExt as _;
        let directory = tempfile::tempdir().unwrap();
        let top = Utf8PathBuf::from_path_buf(directory.path().canonicalize().unwrap()).unwrap();
        for number in 0..100 {
            let below = top.join(format!("{number}"));
            std::fs::create_dir_all(below.join("closed")).unwrap();
            let odd = if number % 10 == 0 { below.clone() } else { below.join("closed") };
            std::fs::create_dir(odd.as_std_path().join(std::ffi::OsStr::from_bytes(b"\xff"))).unwrap();
        }
        let host = LiveHost::new().unwrap();
        let walked = walk(&host, vec![(top.clone(), ())], &|_: &mut (), &(), path, _| {
            path.file_name() != Some("closed")
        });
        let told: Vec<String> =
            walked.unexamined.iter().map(|((), error)| error.path().to_string()).collect();
        let mut expected: Vec<String> =
            (0..100).step_by(10).map(|number| format!("{top}/{number}/\\xff")).collect();
        expected.sort();
        assert_eq!(told, expected);
    }
}
