//! Bytes in bulk, and connections that break.

use super::*;
use crate::network::relay::{Over, copy, pump, reset};
use std::fs::{File, OpenOptions};
use std::io::Seek;

/// Bytes that differ from place to place.
fn bulk(length: usize) -> Vec<u8> {
    let mut state = 1u32;
    std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    })
    .take(length)
    .collect()
}

#[test]
fn bulk_passes_both_ways_at_once() {
    let sent = bulk(8 * 1024 * 1024 + 13);
    for door in DOORS {
        let stage = Stage::tunnel(door, "ok.com:443");
        let mut server = stage.server();
        let mut client = stage.client.try_clone().unwrap();
        let mut theirs = server.try_clone().unwrap();
        let (up, down) = thread::scope(|scope| {
            scope.spawn(|| {
                (&stage.client).write_all(&[b"\0", &sent[..]].concat()).unwrap();
                stage.client.shutdown(Shutdown::Write).unwrap();
            });
            scope.spawn(|| {
                theirs.write_all(&sent).unwrap();
                theirs.shutdown(Shutdown::Write).unwrap();
            });
            let down = scope.spawn(|| hear_all(&mut client));
            (hear_all(&mut server), down.join().unwrap())
        });
        assert!(up[1..] == sent[..] && down == sent, "{door:?}");
        let (_, _, record) = stage.end();
        let closed = &record.closed[0];
        assert_eq!((closed.up, closed.down), (sent.len() as u64 + 1, sent.len() as u64));
    }
}

#[test]
fn a_lost_side_ends_the_other() {
    for door in DOORS {
        let mut stage = Stage::tunnel(door, "ok.com:443");
        let mut server = stage.server();
        stage.say("\0");
        hear(&mut server, 1);
        reset(&server);
        drop(server);
        let lost = stage.client.read(&mut [0]).unwrap_err();
        assert_eq!(lost.kind(), std::io::ErrorKind::ConnectionReset, "{door:?}");
        assert_eq!(stage.end().2.closed.len(), 1);

        let mut stage = Stage::tunnel(door, "ok.com:443");
        let mut server = stage.server();
        stage.say("\0");
        hear(&mut server, 1);
        reset(&stage.client);
        drop(stage.client);
        stage.worker.join().unwrap();
        let lost = server.read(&mut [0]).unwrap_err();
        assert_eq!(lost.kind(), std::io::ErrorKind::ConnectionReset, "{door:?}");
    }
}

#[test]
fn what_the_kernel_does_not_move_is_copied() {
    let sent = bulk(1024 * 1024 + 7);
    let from = || {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&sent).unwrap();
        file.rewind().unwrap();
        file
    };
    type Way = fn(File, File, &mut u64) -> Over;
    // splice(2) refuses files that are appended to.
    for (append, way) in [(true, pump as Way), (false, pump as Way), (false, copy as Way)] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("to");
        let to = OpenOptions::new().create(true).write(true).append(append).open(&path).unwrap();
        let mut count = 0;
        assert_eq!(way(from(), to, &mut count), Over::Ended);
        assert_eq!(count, sent.len() as u64);
        assert!(std::fs::read(&path).unwrap() == sent, "append: {append}");
    }
    let mut count = 0;
    let read_only = File::open("/").unwrap();
    assert_eq!(pump(from(), &read_only, &mut count), Over::Unwritten);
    assert_eq!(copy(from(), &read_only, &mut count), Over::Unwritten);
    assert_eq!((copy(&read_only, from(), &mut count), count), (Over::Unread, 0));
}
