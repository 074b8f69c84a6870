//! Universal addresses: transport addresses as text (RFC 1833 §1; RFC 5665 §5.2.3).
//!
//! The host's address in its usual notation, then the port's two bytes as
//! decimal numbers, each after a dot: `192.0.2.7.8.1` is port 2049.

use std::net::{IpAddr, SocketAddr};

/// Writes an address. The scope of a link-local IPv6 address has no place in it.
pub fn format(addr: SocketAddr) -> String {
    let [high, low] = addr.port().to_be_bytes();
    format!("{}.{high}.{low}", addr.ip())
}

/// Reads an address; `None` if it is not one of IPv4 or IPv6.
pub fn parse(uaddr: &[u8]) -> Option<SocketAddr> {
    let text = std::str::from_utf8(uaddr).ok()?;
    let (rest, low) = text.rsplit_once('.')?;
    let (host, high) = rest.rsplit_once('.')?;
    let port = u16::from_be_bytes([port_byte(high)?, port_byte(low)?]);
    Some(SocketAddr::new(host.parse::<IpAddr>().ok()?, port))
}

fn port_byte(text: &str) -> Option<u8> {
    // `parse` alone would take a plus sign.
    text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_written_and_read_back() {
        for (addr, text) in [
            ("127.0.0.1:2049", "127.0.0.1.8.1"),
            ("0.0.0.0:111", "0.0.0.0.0.111"),
            ("255.255.255.255:65535", "255.255.255.255.255.255"),
            ("[::]:111", "::.0.111"),
            ("[::1]:20048", "::1.78.80"),
            ("[2001:db8::1]:0", "2001:db8::1.0.0"),
            ("[::ffff:192.0.2.1]:2049", "::ffff:192.0.2.1.8.1"),
        ] {
            let addr: SocketAddr = addr.parse().unwrap();
            assert_eq!(format(addr), text);
            assert_eq!(parse(text.as_bytes()), Some(addr));
        }
    }

    #[test]
    fn what_is_no_address_is_not_read() {
        for text in [
            "",
            ".",
            "..",
            "8.1",
            "127.0.0.1",
            "127.0.0.1.8",
            "127.0.0.1.8.256",
            "127.0.0.1.+8.1",
            "127.0.0.1.-8.1",
            "127.0.0.1..1",
            "127.0.0.1.8.1 ",
            "::1",
            "fe80::1%eth0.8.1",
            "/run/rpcbind.sock",
            "localhost.8.1",
        ] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
        assert_eq!(parse(&[0xff, b'.', b'1', b'.', b'1']), None);
    }
}
