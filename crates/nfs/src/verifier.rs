//! The verifier of an exclusive create (RFC 1813 §3.3.8, RFC 8881 §18.16.3), as it is kept in the
//! file.

use std::net::IpAddr;

use siphasher::sip::SipHasher24;

/// What is kept of a client's verifier. Clients choose theirs from the ticks since boot and a
/// process id, and two that were started together choose the same: so what is kept tells them
/// apart. It is the same after a restart of the server, as is the client's name or address.
fn kept(client: &[u8], verf: [u8; 8]) -> u64 {
    let mut bytes = Vec::with_capacity(verf.len() + client.len());
    bytes.extend_from_slice(&verf);
    bytes.extend_from_slice(client);
    SipHasher24::new_with_key(b"exclusive create").hash(&bytes)
}

/// The verifier of a client that has a name for itself.
pub(crate) fn of_owner(owner: &[u8], verf: [u8; 8]) -> u64 {
    kept(owner, verf)
}

/// The verifier of a client that is known by its address alone.
pub(crate) fn of_address(address: IpAddr, verf: [u8; 8]) -> u64 {
    match address.to_canonical() {
        IpAddr::V4(address) => kept(&address.octets(), verf),
        IpAddr::V6(address) => kept(&address.octets(), verf),
    }
}
