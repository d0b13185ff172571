//! From a list of system calls and actions to a program of classic BPF (linux/filter.h, seccomp(2)).

use super::{Action, Test};
use seccompiler::sock_filter;

const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
const AND: u16 = (libc::BPF_ALU | libc::BPF_AND | libc::BPF_K) as u16;
const JUMP: u16 = (libc::BPF_JMP | libc::BPF_JA) as u16;
const EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
const AT_LEAST: u16 = (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16;
const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;

/// Offsets into `struct seccomp_data`.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const ARGUMENTS: u32 = 16;

const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
const ASK: u32 = libc::SECCOMP_RET_USER_NOTIF;
const KILL: u32 = libc::SECCOMP_RET_KILL_PROCESS;

fn fail(errno: i32) -> u32 {
    libc::SECCOMP_RET_ERRNO | errno as u32
}

fn op(code: u16, k: u32) -> sock_filter {
    sock_filter { code, jt: 0, jf: 0, k }
}

fn branch(code: u16, k: u32, jt: u8, jf: u8) -> sock_filter {
    sock_filter { code, jt, jf, k }
}

/// A program that kills the process on another architecture, gives `ENOSYS` for numbers above `last`, does as the list says, and allows
/// what is not on it.
pub fn compile(architecture: u32, last: u32, actions: &[(i64, Action)]) -> Vec<sock_filter> {
    let mut program =
        vec![op(LOAD, ARCHITECTURE), branch(EQUAL, architecture, 1, 0), op(RETURN, KILL), op(LOAD, NUMBER)];
    program.extend(search(&ranges(last, actions)));
    program
}

/// From which number on which action is taken; `None` allows.
fn ranges(last: u32, actions: &[(i64, Action)]) -> Vec<(u32, Option<Action>)> {
    let mut sorted: Vec<(u32, Action)> =
        actions.iter().map(|&(number, action)| (number as u32, action)).collect();
    sorted.sort_by_key(|&(number, _)| number);
    let mut ranges = vec![(0, None)];
    for (number, action) in sorted {
        ranges.push((number, Some(action)));
        ranges.push((number + 1, None));
    }
    ranges.push((last + 1, Some(Action::Fail(libc::ENOSYS))));
    // Of two that begin at the same number the later one holds; what goes on as before is no range of its own.
    ranges.reverse();
    ranges.dedup_by_key(|&mut (number, _)| number);
    ranges.reverse();
    ranges.dedup_by(|next, before| next.1 == before.1);
    ranges
}

fn search(ranges: &[(u32, Option<Action>)]) -> Vec<sock_filter> {
    match ranges {
        [] | [(_, None)] => vec![op(RETURN, ALLOW)],
        [(_, Some(action))] => perform(*action),
        _ => {
            let (low, high) = ranges.split_at(ranges.len() / 2);
            let low = search(low);
            let pivot = high.first().map_or(0, |&(number, _)| number);
            // Jumps by condition reach 255 instructions, the plain one any number.
            let mut block = match u8::try_from(low.len()) {
                Ok(length) => vec![branch(AT_LEAST, pivot, length, 0)],
                Err(_) => vec![branch(AT_LEAST, pivot, 0, 1), op(JUMP, low.len() as u32)],
            };
            block.extend(low);
            block.extend(search(high));
            block
        }
    }
}

fn perform(action: Action) -> Vec<sock_filter> {
    match action {
        Action::Fail(errno) => vec![op(RETURN, fail(errno))],
        Action::Ask => vec![op(RETURN, ASK)],
        Action::Only(alternatives) => {
            let mut block: Vec<sock_filter> =
                alternatives.iter().flat_map(|tests| alternative(tests)).collect();
            block.push(op(RETURN, fail(libc::EPERM)));
            block
        }
    }
}

/// Returns "allow" where all tests hold, and falls through to what follows otherwise.
fn alternative(tests: &[Test]) -> Vec<sock_filter> {
    let mut block = vec![op(RETURN, ALLOW)];
    for test in tests.iter().rev() {
        let mut checked = vec![op(LOAD, ARGUMENTS + 8 * test.argument)];
        if test.mask != u32::MAX {
            checked.push(op(AND, test.mask));
        }
        // After the comparisons: first the way out for a value that equals none, then the rest of the alternative.
        let rest = block.len() as u32;
        for (at, &value) in test.values.iter().enumerate() {
            let to_end = (test.values.len() - at - 1) as u8;
            checked.push(branch(EQUAL, value, to_end + 1, 0));
        }
        if test.not {
            checked.push(op(JUMP, 1));
            checked.push(op(JUMP, rest));
        } else {
            checked.push(op(JUMP, rest));
        }
        checked.extend(block);
        block = checked;
    }
    block
}

#[cfg(test)]
mod tests {
    use super::super::{actions, is, is_not, masked};
    use super::*;
    use crate::manifest::Network;
    use proptest::prelude::*;

    /// Runs a program on what the kernel would give it.
    fn run(program: &[sock_filter], architecture: u32, number: u32, arguments: [u32; 6]) -> u32 {
        let (mut at, mut accumulator) = (0, 0);
        loop {
            let &sock_filter { code, jt, jf, k } = &program[at];
            at += 1;
            let decide = |holds| usize::from(if holds { jt } else { jf });
            match code {
                LOAD => {
                    accumulator = match k {
                        NUMBER => number,
                        ARCHITECTURE => architecture,
                        offset => arguments[((offset - ARGUMENTS) / 8) as usize],
                    }
                }
                AND => accumulator &= k,
                JUMP => at += k as usize,
                EQUAL => at += decide(accumulator == k),
                AT_LEAST => at += decide(accumulator >= k),
                RETURN => return k,
                other => panic!("unknown instruction {other:#x}"),
            }
        }
    }

    fn expected(actions: &[(i64, Action)], last: u32, number: u32, arguments: [u32; 6]) -> u32 {
        if number > last {
            return fail(libc::ENOSYS);
        }
        let holds = |test: &Test| {
            let value = arguments[test.argument as usize] & test.mask;
            test.values.contains(&value) != test.not
        };
        match actions.iter().find(|(of, _)| *of == i64::from(number)) {
            None => ALLOW,
            Some((_, Action::Fail(errno))) => fail(*errno),
            Some((_, Action::Ask)) => ASK,
            Some((_, Action::Only(any))) if any.iter().any(|tests| tests.iter().all(holds)) => ALLOW,
            Some(_) => fail(libc::EPERM),
        }
    }

    #[test]
    fn every_number_gets_its_action() {
        for (network, unix) in [Network::Off, Network::All].into_iter().zip([false, true]) {
            let actions = actions(network, unix);
            let program = compile(7, 469, &actions);
            for number in (0..600).chain([0x4000_0000, 0x4000_0027, u32::MAX]) {
                for word in [0, 1, 2, 3, 6, 8, 10, 16, 17, 0x5412, 0x541c, 0x80000, 0x1000_0000] {
                    let arguments = [word, word ^ 8, 0, word, 0, 0];
                    assert_eq!(
                        run(&program, 7, number, arguments),
                        expected(&actions, 469, number, arguments)
                    );
                }
            }
            assert_eq!(run(&program, 8, 0, [0; 6]), KILL);
        }
    }

    #[test]
    fn no_number_is_listed_twice() {
        let mut numbers: Vec<i64> =
            actions(Network::All, true).into_iter().map(|(number, _)| number).collect();
        numbers.sort_unstable();
        let all = numbers.len();
        numbers.dedup();
        assert_eq!(numbers.len(), all);
    }

    #[test]
    fn sockets_are_of_the_internet_or_not_at_all() {
        let open = compile(7, 469, &actions(Network::All, false));
        let shut = compile(7, 469, &actions(Network::Off, false));
        let socket = |program: &[sock_filter], domain: i32, kind: i32, protocol: i32| {
            run(program, 7, libc::SYS_socket as u32, [domain as u32, kind as u32, protocol as u32, 0, 0, 0])
                == ALLOW
        };
        assert!(socket(&open, libc::AF_INET6, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0));
        assert!(socket(&open, libc::AF_INET, libc::SOCK_DGRAM, libc::IPPROTO_UDP));
        assert!(socket(&open, libc::AF_NETLINK, libc::SOCK_RAW, 0));
        assert!(!socket(&open, libc::AF_NETLINK, libc::SOCK_RAW, 15));
        assert!(!socket(&open, libc::AF_INET, libc::SOCK_RAW, 0));
        assert!(!socket(&open, libc::AF_UNIX, libc::SOCK_STREAM, 0));
        assert!(!socket(&shut, libc::AF_INET, libc::SOCK_STREAM, 0));
        for network in [Network::Off, Network::Only] {
            let unix = compile(7, 469, &actions(network, true));
            assert!(socket(&unix, libc::AF_UNIX, libc::SOCK_STREAM | libc::SOCK_NONBLOCK, 0));
            assert!(socket(&unix, libc::AF_UNIX, libc::SOCK_SEQPACKET, 0));
            for kind in [libc::SOCK_DGRAM, libc::SOCK_RAW, 0, 4] {
                assert!(!socket(&unix, libc::AF_UNIX, kind, 0));
            }
            assert_eq!(socket(&unix, libc::AF_INET, libc::SOCK_STREAM, 0), network == Network::Only);
            assert!(!socket(&unix, libc::AF_VSOCK, libc::SOCK_STREAM, 0));
            assert_eq!(run(&unix, 7, libc::SYS_connect as u32, [3, 0, 0, 0, 0, 0]), ASK);
        }
    }

    const CHOICES: [Action; 6] = [
        Action::Ask,
        Action::Fail(1),
        Action::Fail(38),
        Action::Only(&[&[is(0, &[1, 2, 3])]]),
        Action::Only(&[
            &[is(0, &[2, 10]), masked(1, 0xf, &[1, 2]), is(2, &[0, 6, 17])],
            &[is(0, &[16]), is_not(2, &[1, 5])],
        ]),
        Action::Only(&[&[is_not(1, &[3, 4, 5])], &[masked(0, 8, &[8])]]),
    ];

    proptest! {
        #[test]
        fn any_list_is_compiled_as_it_reads(
            list in proptest::collection::btree_map(0i64..60, 0usize..6, 0..40),
            number in 0u32..70,
            arguments in proptest::array::uniform6(0u32..20),
        ) {
            let actions: Vec<_> = list.into_iter().map(|(number, choice)| (number, CHOICES[choice])).collect();
            let program = compile(7, 60, &actions);
            prop_assert_eq!(run(&program, 7, number, arguments), expected(&actions, 60, number, arguments));
        }
    }
}
