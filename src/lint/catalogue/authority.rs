//! Programs, sockets and ports by which a command acts with rights that are not its own.

use super::{Place, place};
use camino::Utf8Path;

/// A program that does what it is told with rights from outside the walls.
pub struct Lender {
    pub name: &'static str,
    /// What it lends, as the end of a sentence about it.
    pub lends: &'static str,
    /// Whether it can do so only over the network.
    pub by_network: bool,
}

const fn local(name: &'static str, lends: &'static str) -> Lender {
    Lender { name, lends, by_network: false }
}

const fn remote(name: &'static str, lends: &'static str) -> Lender {
    Lender { name, lends, by_network: true }
}

const ENGINE: &str =
    "asks a container engine to start what it is told, with any directory of this machine in it";
const ROOT: &str = "runs a command as another user";
const BUS: &str = "asks other programs of the session to act";
const SERVICE: &str = "has the system start programs, outside of all walls";
const LATER: &str = "has a command run later, outside of all walls";
const WINDOWS: &str = "types and clicks in other programs' windows";
const CLUSTER: &str = "acts on a cluster with the caller's rights";
const CLOUD: &str = "acts on a cloud account with the caller's rights";
const FORGE: &str = "acts on a forge with the caller's rights";
const MACHINE: &str = "runs commands on other machines with the caller's keys";

/// Tools that lend authority, from the manual of each. Those that need the network for it are harmless without.
pub const LENDERS: &[Lender] = &[
    local("docker", ENGINE),
    local("docker-compose", ENGINE),
    local("podman", ENGINE),
    local("nerdctl", ENGINE),
    local("ctr", ENGINE),
    local("crictl", ENGINE),
    local("lxc", ENGINE),
    local("incus", ENGINE),
    local("machinectl", ENGINE),
    local("colima", ENGINE),
    local("limactl", ENGINE),
    local("virsh", "has a hypervisor start machines"),
    local("sudo", ROOT),
    local("sudoedit", ROOT),
    local("su", ROOT),
    local("doas", ROOT),
    local("pkexec", ROOT),
    local("run0", ROOT),
    local("runuser", ROOT),
    local("at", LATER),
    local("batch", LATER),
    local("crontab", LATER),
    local("systemctl", SERVICE),
    local("systemd-run", SERVICE),
    local("launchctl", SERVICE),
    local("service", SERVICE),
    local("initctl", SERVICE),
    local("dbus-send", BUS),
    local("busctl", BUS),
    local("gdbus", BUS),
    local("qdbus", BUS),
    local("xdg-open", BUS),
    local("gio", BUS),
    local("flatpak-spawn", "has a program run outside the sandbox it is in"),
    local("osascript", "tells other programs of the session what to do"),
    local("automator", "tells other programs of the session what to do"),
    local("shortcuts", "tells other programs of the session what to do"),
    local("open", "has the session start programs, outside of all walls"),
    local("security", "reads the keychain"),
    local("secret-tool", "reads the keyring"),
    local("pass", "reads passwords"),
    local("op", "reads passwords"),
    local("xdotool", WINDOWS),
    local("ydotool", WINDOWS),
    local("wtype", WINDOWS),
    local("cliclick", WINDOWS),
    local("xclip", "reads and writes the clipboard"),
    local("xsel", "reads and writes the clipboard"),
    local("wl-paste", "reads the clipboard"),
    local("pbpaste", "reads the clipboard"),
    local("tccutil", "changes what programs may do on this Mac"),
    local("defaults", "changes the settings of other programs"),
    remote("ssh", MACHINE),
    remote("scp", MACHINE),
    remote("sftp", MACHINE),
    remote("mosh", MACHINE),
    remote("ansible", MACHINE),
    remote("ansible-playbook", MACHINE),
    remote("kubectl", CLUSTER),
    remote("oc", CLUSTER),
    remote("helm", CLUSTER),
    remote("flux", CLUSTER),
    remote("argocd", CLUSTER),
    remote("aws", CLOUD),
    remote("gcloud", CLOUD),
    remote("gsutil", CLOUD),
    remote("az", CLOUD),
    remote("doctl", CLOUD),
    remote("hcloud", CLOUD),
    remote("oci", CLOUD),
    remote("flyctl", CLOUD),
    remote("fly", CLOUD),
    remote("vercel", CLOUD),
    remote("netlify", CLOUD),
    remote("wrangler", CLOUD),
    remote("heroku", CLOUD),
    remote("terraform", CLOUD),
    remote("tofu", CLOUD),
    remote("pulumi", CLOUD),
    remote("gh", FORGE),
    remote("glab", FORGE),
    remote("hub", FORGE),
    remote("vault", "reads secrets with the caller's token"),
];

/// The lender of that name.
pub fn lender(name: &str) -> Option<&'static Lender> {
    LENDERS.iter().find(|lender| lender.name == name)
}

const ENGINES: &str = "a container engine takes orders there, and starts what it is told as root";

/// Sockets by which other programs take orders: docker(1), containerd, podman-system-service(1), ssh-agent(1), gpg-agent(1),
/// dbus-daemon(1), pipewire(1), X(7), and the published escapes through them (GHSA-27vp-2mmc-vmh3).
pub const SOCKETS: &[Place] = &[
    place("/run/docker.sock", ENGINES),
    place("/private/var/run/docker.sock", ENGINES),
    place("~/.docker/run/docker.sock", ENGINES),
    place("~/.docker/desktop/docker.sock", ENGINES),
    place("~/.colima/default/docker.sock", ENGINES),
    place("~/.orbstack/run/docker.sock", ENGINES),
    place("~/.rd/docker.sock", ENGINES),
    place("/run/user/UID/docker.sock", ENGINES),
    place("/run/user/UID/podman/podman.sock", ENGINES),
    place("/run/podman/podman.sock", ENGINES),
    place("/run/containerd/containerd.sock", ENGINES),
    place("/run/crio/crio.sock", ENGINES),
    place("/run/user/UID/bus", "every program of the session takes orders there"),
    place("/run/dbus/system_bus_socket", "the system's services take orders there"),
    place("/run/systemd/private", "systemd takes orders there"),
    place("/run/user/UID/systemd/private", "systemd takes orders there"),
    place("/run/user/UID/gnupg/S.gpg-agent", "gpg-agent signs and decrypts there"),
    place("/run/user/UID/gnupg/S.gpg-agent.ssh", "gpg-agent signs there"),
    place("~/.gnupg/S.gpg-agent", "gpg-agent signs and decrypts there"),
    place("~/.gnupg/S.gpg-agent.ssh", "gpg-agent signs there"),
    place("~/.gnupg/S.keyboxd", "gpg keeps its keys there"),
    place("/run/user/UID/keyring/ssh", "the keyring signs there"),
    place("/run/user/UID/keyring/control", "the keyring takes orders there"),
    place("/run/user/UID/ssh-agent.socket", "ssh-agent signs there"),
    place("~/.1password/agent.sock", "1Password signs there"),
    place("~/Library/Group Containers/2BUA8C4S2C.com.1password/t/agent.sock", "1Password signs there"),
    place("~/.bitwarden-ssh-agent.sock", "Bitwarden signs there"),
    place("/run/user/UID/wayland-0", "the session's windows are drawn there"),
    place("/run/user/UID/pipewire-0", "microphone and screen are read there"),
    place("/tmp/.X11-unix/X0", "every window of the session can be read and typed into there"),
    place("/run/libvirt/libvirt-sock", "a hypervisor takes orders there"),
    place("/run/snapd.socket", "snapd takes orders there"),
];

/// Parts of paths by which such sockets are known wherever they are, from the same manuals; of systemd-resolved(8), nscd(8) and avahi-daemon(8)
/// those that look up names, which is a way out.
const SOCKET_NAMES: &[(&str, &str)] = &[
    ("docker.sock", ENGINES),
    ("podman.sock", ENGINES),
    ("containerd.sock", ENGINES),
    ("crio.sock", ENGINES),
    ("buildkitd.sock", ENGINES),
    ("S.gpg-agent", "gpg-agent signs and decrypts there"),
    ("S.gpg-agent.extra", "gpg-agent signs and decrypts there"),
    ("S.gpg-agent.ssh", "gpg-agent signs there"),
    ("S.keyboxd", "gpg keeps its keys there"),
    ("ssh-agent.socket", "ssh-agent signs there"),
    ("ssh-agent.sock", "ssh-agent signs there"),
    ("system_bus_socket", "the system's services take orders there"),
    ("libvirt-sock", "a hypervisor takes orders there"),
    ("snapd.socket", "snapd takes orders there"),
    ("mDNSResponder", "names are looked up there, which is a way out"),
    ("io.systemd.Resolve", "names are looked up there, which is a way out"),
];
const SOCKET_PLACES: &[(&str, &str)] = &[
    ("/tmp/.X11-unix/", "every window of the session can be read and typed into there"),
    ("/private/tmp/com.apple.launchd.", "an agent of the session signs or takes orders there"),
    ("/tmp/ssh-", "ssh-agent signs there"),
    ("/tmp/dbus-", "every program of the session takes orders there"),
    ("/run/systemd/", "systemd and its services take orders there"),
    ("/run/nscd/", "names are looked up there, which is a way out"),
    ("/run/avahi-daemon/", "names are looked up there, which is a way out"),
];

/// What takes orders at a socket of such a name or in such a place, wherever exactly.
pub fn usual_name(path: &Utf8Path) -> Option<&'static str> {
    let name = path.file_name()?;
    let named = SOCKET_NAMES.iter().find(|(known, _)| *known == name);
    let text = path.as_str();
    let text = text.strip_prefix("/var").filter(|rest| rest.starts_with("/run/")).unwrap_or(text);
    let placed = || SOCKET_PLACES.iter().find(|(place, _)| text.starts_with(place));
    let wayland = || name.starts_with("wayland-").then_some("the session's windows are drawn there");
    let session = || {
        let of_user = text.strip_prefix("/run/user/")?.split_once('/')?.1;
        (of_user == "bus").then_some("every program of the session takes orders there")
    };
    named.or_else(placed).map(|(_, what)| *what).or_else(wayland).or_else(session)
}

/// Ports at which a service does what it is told, mostly by anybody who can reach it, from the manual of each service.
pub const PORTS: &[(u16, &str)] = &[
    (22, "ssh: a shell on that machine"),
    (2375, "docker without a password: it starts what it is told as root"),
    (2376, "docker: it starts what it is told as root"),
    (2379, "etcd: the state of a cluster"),
    (3389, "the remote desktop of that machine"),
    (5037, "adb: a shell on every phone there"),
    (5900, "the remote desktop of that machine"),
    (5985, "WinRM: a shell on that machine"),
    (6379, "redis, which writes files where it is told"),
    (6443, "kubernetes: the API of a cluster"),
    (9222, "a browser's debugger, with every session in it"),
    (9229, "node's debugger: it runs what it is told"),
    (10250, "kubelet: it runs commands in every container there"),
];

/// Ports at which a service of this machine does what it is told, and takes whoever reaches it for its user: no stranger is expected on the
/// loopback device. From the manual of each.
pub const LOCAL_PORTS: &[(u16, &str)] = &[
    (2345, "delve, a debugger: it runs what it is told"),
    (2377, "docker: the state of a swarm"),
    (4243, "docker without a password: it starts what it is told as root"),
    (4444, "selenium: a browser, with every session in it"),
    (5005, "java's debugger: it runs what it is told"),
    (5678, "python's debugger: it runs what it is told"),
    (6000, "X: every window of the session can be read and typed into"),
    (8001, "kubectl proxy: the API of a cluster, with the user's own rights"),
    (8888, "jupyter: it runs what it is told"),
    (9515, "chromedriver: a browser, with every session in it"),
];

/// Forges whose ssh is for git alone and gives no shell, from their documentation.
pub const GIT_BY_SSH: &[&str] = &[
    "github.com",
    "ssh.github.com",
    "gitlab.com",
    "altssh.gitlab.com",
    "bitbucket.org",
    "altssh.bitbucket.org",
    "codeberg.org",
    "git.sr.ht",
    "ssh.dev.azure.com",
    "gitea.com",
];
