//! Addresses in the form that Linux programs hold them, which UADDR2TADDR and
//! TADDR2UADDR speak (RFC 1833 §2.2.1).

use std::net::{IpAddr, SocketAddr};

/// Linux's numbers of the address families, for its form of an address.
const AF_INET: u16 = 2;
const AF_INET6: u16 = 10;

/// An address as Linux programs hold it: `sockaddr_in` or `sockaddr_in6`.
pub(crate) fn of_addr(addr: SocketAddr) -> Vec<u8> {
    let port = addr.port().to_be_bytes();
    match addr.ip() {
        IpAddr::V4(ip) => [&AF_INET.to_ne_bytes()[..], &port, &ip.octets(), &[0; 8]].concat(),
        IpAddr::V6(ip) => {
            [&AF_INET6.to_ne_bytes()[..], &port, &[0; 4], &ip.octets(), &[0; 4]].concat()
        }
    }
}

pub(crate) fn to_addr(bytes: &[u8]) -> Option<SocketAddr> {
    let (family, rest) = bytes.split_first_chunk()?;
    let (port, rest) = rest.split_first_chunk()?;
    let port = u16::from_be_bytes(*port);
    match u16::from_ne_bytes(*family) {
        AF_INET => {
            let octets: &[u8; 4] = rest.first_chunk()?;
            Some(SocketAddr::new(IpAddr::from(*octets), port))
        }
        AF_INET6 => {
            let octets: &[u8; 16] = rest.get(4..)?.first_chunk()?;
            Some(SocketAddr::new(IpAddr::from(*octets), port))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_laid_out_as_linux_does() {
        let v4: SocketAddr = "127.0.0.1:2049".parse().unwrap();
        let [a, b] = AF_INET.to_ne_bytes();
        let wire = [a, b, 8, 1, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(of_addr(v4), wire);
        let v6: SocketAddr = "[2001:db8::7]:111".parse().unwrap();
        assert_eq!(of_addr(v6).len(), 28);
        for addr in [v4, v6] {
            let wire = of_addr(addr);
            assert_eq!(to_addr(&wire), Some(addr));
            let needed = if addr.is_ipv4() { 8 } else { 24 };
            for len in 0..needed {
                assert_eq!(to_addr(&wire[..len]), None);
            }
        }
        assert_eq!(to_addr(&[0; 28]), None);
    }
}
