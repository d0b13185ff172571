//! Lays a cable between two network namespaces (rtnetlink(7), veth(4)), and leads everything over it.

use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, bind, recv, sendto, socket_with,
};
use std::net::Ipv4Addr;

/// The near end, and the far one. Both are of a range that counts as public.
pub const NEAR: Ipv4Addr = Ipv4Addr::new(11, 0, 0, 1);
pub const FAR: Ipv4Addr = Ipv4Addr::new(11, 0, 0, 2);

// linux/rtnetlink.h, linux/if_link.h.
const NEWLINK: u16 = 16;
const NEWADDR: u16 = 20;
const NEWROUTE: u16 = 24;
const CREATE: u16 = 0x400;

fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let mut bytes = u16::try_from(4 + value.len()).unwrap().to_ne_bytes().to_vec();
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

fn link(index: u32, up: bool) -> Vec<u8> {
    let mut bytes = vec![0; 4];
    bytes.extend(index.to_ne_bytes());
    let flag = u32::from(up);
    bytes.extend(flag.to_ne_bytes());
    bytes.extend(flag.to_ne_bytes());
    bytes
}

/// Lays it from here into the namespace of a process; both ends are index 2 of their namespaces where those are fresh.
pub fn cable(to: u32) {
    let peer = [link(0, false), attribute(3, b"far\0"), attribute(19, &to.to_ne_bytes())].concat();
    let data = attribute(1, &peer);
    let info = [attribute(1, b"veth\0"), attribute(2, &data)].concat();
    ask(NEWLINK, CREATE, &[link(0, false), attribute(3, b"near\0"), attribute(18, &info)].concat()).unwrap();
}

/// Brings the devices of this namespace up, and gives the cable's end its address.
pub fn up(own: Ipv4Addr) {
    let cable = index_of_cable();
    let mut address = vec![2, 24, 0, 0];
    address.extend(cable.to_ne_bytes());
    address.extend(attribute(2, &own.octets()));
    address.extend(attribute(1, &own.octets()));
    ask(NEWLINK, 0, &link(1, true)).unwrap();
    ask(NEWADDR, CREATE, &address).unwrap();
    ask(NEWLINK, 0, &link(cable, true)).unwrap();
}

fn index_of_cable() -> u32 {
    let names = std::fs::read_to_string("/proc/net/dev").unwrap();
    let name = ["near", "far"].into_iter().find(|name| names.contains(&format!("{name}:"))).unwrap();
    rustix::net::netdevice::name_to_index(socket(), name).unwrap()
}

/// The rest of the world is at the other end.
pub fn default_route(through: Ipv4Addr) {
    let mut route = vec![2, 0, 0, 0, 254, 4, 0, 1];
    route.extend([0; 4]);
    route.extend(attribute(5, &through.octets()));
    ask(NEWROUTE, CREATE, &route).unwrap();
}

/// Every address is of this machine.
pub fn answer_for_everybody() {
    let mut route = vec![2, 0, 0, 0, 255, 4, 254, 2];
    route.extend([0; 4]);
    route.extend(attribute(4, &1u32.to_ne_bytes()));
    ask(NEWROUTE, CREATE, &route).unwrap();
}

fn socket() -> OwnedFd {
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None).unwrap();
    bind(&socket, &SocketAddrNetlink::new(0, 0)).unwrap();
    socket
}

fn ask(kind: u16, flags: u16, body: &[u8]) -> Result<(), Errno> {
    let socket = socket();
    let mut message = u32::try_from(16 + body.len()).unwrap().to_ne_bytes().to_vec();
    message.extend(kind.to_ne_bytes());
    message.extend((5 | flags).to_ne_bytes());
    message.extend([0; 8]);
    message.extend(body);
    sendto(&socket, &message, SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
    let mut answer = [0; 1024];
    let (length, _) = recv(&socket, &mut answer, RecvFlags::empty())?;
    assert!(length >= 20);
    match i32::from_ne_bytes(answer[16..20].try_into().unwrap()) {
        0 => Ok(()),
        code => Err(Errno::from_raw_os_error(-code)),
    }
}
