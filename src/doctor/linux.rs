//! Linux: tries every wall, each in a child of its own.

use super::observation::{Found, Missing, Observation, Observations, Setting, Wall};
use super::trial::{Place, Trials};
use crate::exec::apart::{self, Apart, How, Space};
use crate::exec::causes::Cause;
use crate::policy::System;
use crate::sys::linux::Signals;

type Tried = Result<(), apart::Missing>;

/// The program that runs, whatever its path names now (proc_pid_exe(5)).
const THIS_PROGRAM: &str = "/proc/self/exe";

/// Tries everything. The calling process must have one thread. What is made for it is removed again; a signal that would end the program
/// waits until then.
///
/// # Errors
/// Where signals cannot be made to wait.
pub fn observe() -> std::io::Result<Observations> {
    let signals = Signals::block(&[libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT])?;
    let observations = look();
    signals.restore_mask()?;
    Ok(observations)
}

fn look() -> Observations {
    let apart = Apart::new();
    let user_namespace = apart.user_namespace();
    let given = user_namespace.is_ok();
    let inside = |wall, attempt: &dyn Fn() -> Tried| Observation {
        wall,
        found: if given {
            found(attempt())
        } else {
            Found::Untried("rests on the user namespace".to_owned())
        },
    };
    let alone = |wall, tried| Observation { wall, found: found(tried) };
    let place = Place::make();
    let directory = place.as_ref().ok().map(Place::path);
    let mut walls = vec![
        alone(Wall::UserNamespace, user_namespace),
        inside(Wall::PidNamespace, &|| apart.namespace(Space::Pid)),
        inside(Wall::NetworkNamespace, &|| apart.namespace(Space::Network)),
        inside(Wall::IpcNamespace, &|| apart.namespace(Space::Ipc)),
        inside(Wall::UtsNamespace, &|| apart.namespace(Space::Uts)),
        inside(Wall::CgroupNamespace, &|| apart.namespace(Space::Cgroup)),
        alone(Wall::PathResolution, apart.path_resolution()),
        inside(Wall::Mounts, &|| apart.mounts()),
        inside(Wall::Proc, &|| apart.proc()),
        inside(Wall::NestedNamespaces, &|| apart.no_nested_namespaces()),
        inside(Wall::ProcessLimit, &|| apart.process_limit()),
        inside(Wall::Terminals, &|| apart.terminals()),
        inside(Wall::Privileges, &|| apart.privileges()),
        Observation { wall: Wall::Landlock, found: apart.landlock().map_or_else(told, Found::Level) },
        alone(Wall::Filter, apart.filter()),
        alone(Wall::Watch, apart.watch(directory)),
        inside(Wall::MountTable, &|| apart.mount_table()),
        Observation {
            wall: Wall::Placeholders,
            found: match &place {
                Ok(place) => found(apart.placeholder(place.path())),
                Err((path, error)) => {
                    Found::Untried(format!("no directory can be made: {}: {error}", path.display()))
                }
            },
        },
    ];
    walls.push(Observation { wall: Wall::State, found: state(&apart) });
    let surroundings = apart.causes().all().iter().map(|cause| Setting {
        name: cause.name(),
        fact: cause.fact(),
        meaning: cause.meaning().to_owned(),
        always: matches!(cause, Cause::Wsl(_)),
    });
    Observations {
        system: System::Linux,
        root: rustix::process::geteuid().is_root(),
        surroundings: surroundings.collect(),
        walls,
        trials: Trials::run(THIS_PROGRAM.as_ref()),
    }
}

fn state(apart: &Apart) -> Found {
    match apart.state() {
        Ok(_) => Found::Works,
        Err((place, error)) => Found::Missing(Missing {
            error: match place {
                Some(place) => format!("{}: {error}", place.display()),
                None => "neither $XDG_STATE_HOME nor $HOME names a directory".to_owned(),
            },
            help: "set XDG_STATE_HOME to a directory of your own, outside every root".to_owned(),
        }),
    }
}

fn found(tried: Tried) -> Found {
    tried.map_or_else(told, |()| Found::Works)
}

fn told(missing: apart::Missing) -> Found {
    let apart::Missing { error, help, how } = missing;
    match how {
        How::Refused => Found::Missing(Missing { error, help }),
        How::Broken => Found::Broken(error),
        How::Untried => Found::Untried(error),
    }
}
