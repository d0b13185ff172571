//! The first message of a TLS client (RFC 8446, 4.1.2), as much of it as a server name needs.

/// One for this name, in one record.
pub fn client_hello(name: &str) -> Vec<u8> {
    let with_length = |bytes: &[u8]| [&u16::try_from(bytes.len()).unwrap().to_be_bytes(), bytes].concat();
    let entry = [&[0], with_length(name.as_bytes()).as_slice()].concat();
    let names = [&[0, 0], with_length(&with_length(&entry)).as_slice()].concat();
    let mut body = vec![3, 3];
    body.extend([7; 32]);
    body.push(0);
    body.extend(with_length(&[0x13, 0x01]));
    body.extend([1, 0]);
    body.extend(with_length(&names));
    let mut message = vec![1];
    message.extend(&u32::try_from(body.len()).unwrap().to_be_bytes()[1..]);
    message.extend(body);
    [&[0x16, 3, 1], with_length(&message).as_slice()].concat()
}
