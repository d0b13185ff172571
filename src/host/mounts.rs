//! What is mounted where: the same directory of one file system can be seen at several places, as by `mount --bind`.

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

/// A mount that can be reached: one that no other covers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mount {
    /// Where it is mounted.
    pub place: Utf8PathBuf,
    /// The file system: `major:minor` of its device, which subvolumes share (proc_pid_mountinfo(5)).
    pub device: String,
    /// The directory or file of that file system which is seen there.
    pub root: Utf8PathBuf,
}

/// A line of the table, as the kernel writes it.
struct Line {
    id: u32,
    parent: u32,
    mount: Mount,
}

/// Where nothing of a user's lies, and which is full of mounts.
const SYSTEM: [&str; 3] = ["/proc", "/sys", "/dev"];

/// Where the kernel has the table for this process.
pub const TABLE: &str = "/proc/self/mountinfo";

/// The mounts of this machine, as [`parse`] gives them.
///
/// # Errors
/// As read(2).
pub fn read() -> std::io::Result<Vec<Mount>> {
    std::fs::read(TABLE).map(|table| parse(&table))
}

/// The same on whichever system this is. On macOS no mount shows a directory a second time: there are none that matter.
///
/// # Errors
/// As read(2).
pub fn here() -> std::io::Result<Vec<Mount>> {
    if cfg!(target_os = "linux") { read() } else { Ok(Vec::new()) }
}

/// The mounts of a table in the form of /proc/self/mountinfo, sorted by place; those that are covered by others, and those of the
/// system's own views, left out. Nothing where every file system is seen at one place only, so that no path has two names.
pub fn parse(table: &[u8]) -> Vec<Mount> {
    let lines: Vec<Line> = table.split(|byte| *byte == b'\n').filter_map(line).collect();
    let is_top = |line: &&Line| line.mount.place == "/" && !lines.iter().any(|other| other.id == line.parent);
    let Some(top) = lines.iter().find(is_top) else { return Vec::new() };
    // A path is walked from the top on: at each mount point it goes over to what is mounted there, as often as something is.
    let holder = |path: &Utf8Path| {
        let mut at = top;
        loop {
            let over = lines
                .iter()
                .filter(|line| line.parent == at.id && line.id != at.id)
                .filter(|line| path.starts_with(&line.mount.place))
                .min_by_key(|line| line.mount.place.as_str().len());
            match over {
                Some(over) => at = over,
                None => return at.id,
            }
        }
    };
    let is_system = |place: &Utf8Path| SYSTEM.iter().any(|system| place.starts_with(system));
    let mut mounts: Vec<Mount> = lines
        .iter()
        .filter(|line| !is_system(&line.mount.place) && holder(&line.mount.place) == line.id)
        .map(|line| line.mount.clone())
        .collect();
    let mut devices: Vec<&str> = mounts.iter().map(|mount| mount.device.as_str()).collect();
    devices.sort_unstable();
    let distinct = devices.len();
    devices.dedup();
    if devices.len() == distinct {
        return Vec::new();
    }
    mounts.sort_by(|a, b| a.place.cmp(&b.place));
    mounts
}

/// `id parent major:minor root place …` (proc_pid_mountinfo(5)).
fn line(text: &[u8]) -> Option<Line> {
    let mut fields = text.split(|byte| *byte == b' ');
    let number = |field: &[u8]| std::str::from_utf8(field).ok()?.parse().ok();
    let (id, parent) = (number(fields.next()?)?, number(fields.next()?)?);
    let device = String::from_utf8_lossy(fields.next()?).into_owned();
    let (root, place) = (unescaped(fields.next()?), unescaped(fields.next()?));
    Some(Line { id, parent, mount: Mount { place: place.into(), device, root: root.into() } })
}

/// Blanks, line ends and backslashes are written as three octal digits. What is no UTF-8 becomes another name in the same directory,
/// which is all that matters here.
fn unescaped(field: &[u8]) -> String {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&byte, after)) = rest.split_first() {
        let digits = after.get(..3).filter(|_| byte == b'\\');
        let code = digits.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok());
        bytes.push(code.unwrap_or(byte));
        rest = if code.is_some() { after.get(3..).unwrap_or_default() } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The mount on which a path is: of those that can be reached, the longest that holds it.
pub fn holder<'a>(mounts: &'a [Mount], path: &Utf8Path) -> Option<&'a Mount> {
    let holding = mounts.iter().filter(|mount| path.starts_with(&mount.place));
    holding.max_by_key(|mount| mount.place.as_str().len())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = "\
22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw
30 27 254:0 /home/u/.ssh /home/u/work/a\\040b rw,relatime - ext4 /dev/vda rw
31 27 0:40 / /mnt rw - tmpfs none rw
32 31 254:0 /srv /mnt/x rw - ext4 /dev/vda rw
33 32 0:41 / /mnt/x rw - tmpfs none rw
34 27 0:42 / /opt rw - tmpfs none rw
35 34 0:43 / /opt rw - tmpfs none rw
36 27 0:44 / /opt/below rw - tmpfs none rw
";

    fn places(table: &str) -> Vec<String> {
        let mounts = parse(table.as_bytes());
        mounts.into_iter().map(|it| format!("{} {}{}", it.place, it.device, it.root)).collect()
    }

    #[test]
    fn the_mounts_that_can_be_reached_are_kept() {
        assert_eq!(
            places(LINES),
            ["/ 254:0/", "/home/u/work/a b 254:0/home/u/.ssh", "/mnt 0:40/", "/mnt/x 0:41/", "/opt 0:43/"]
        );
        let mounts = parse(LINES.as_bytes());
        let on = |path: &str| holder(&mounts, path.into()).map(|mount| mount.place.as_str());
        assert_eq!(on("/home/u/work/a b/id"), Some("/home/u/work/a b"));
        assert_eq!(on("/home/u/work/a"), Some("/"));
        assert_eq!(on("/mnt/xy"), Some("/mnt"));
    }

    #[test]
    fn where_nothing_is_seen_twice_there_is_nothing_to_tell() {
        let once = LINES.replace("254:0 /home", "254:1 /home");
        assert!(places(&once).is_empty());
        assert!(places("").is_empty());
        assert!(places("nonsense\n1 2\n\\\n5 6 7:8 / /x\\04").is_empty());
    }
}
