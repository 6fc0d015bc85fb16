//! What kind of address an IP address is.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The kinds that the rules tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AddressKind {
    /// On the public internet.
    Public,
    /// `127.0.0.0/8`, `::1`.
    Loopback,
    /// RFC 1918 and IPv6 unique local.
    Private,
    /// `100.64.0.0/10`, behind a carrier's translation.
    Shared,
    /// IPv6 link-local and site-local.
    LinkLocal,
    /// Where clouds serve credentials: `169.254.0.0/16` and the well-known single addresses.
    Metadata,
    /// `0.0.0.0/8` and `::`: on Linux another spelling of loopback.
    Unspecified,
    /// Multicast and broadcast.
    Multicast,
    /// Documentation, benchmarks, protocol assignments, reserved for the future.
    Reserved,
    /// An IPv6 form (NAT64, 6to4, Teredo, IPv4-compatible) around an IPv4 address that is not public.
    Translated,
}

/// What the policy does with a kind of address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// Called; over `http:` only with an allow rule.
    Open,
    /// Called while the server listens on loopback, or with an allow rule.
    Loopback,
    /// Called with an allow rule only.
    NeedsAllow,
    /// Never called, whatever is allowed.
    Never,
}

impl AddressKind {
    /// The kind of `address`. IPv4-mapped IPv6 addresses are their IPv4 address.
    pub fn of(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(v4) => Self::of_v4(v4),
            IpAddr::V6(v6) => Self::of_v6(v6),
        }
    }

    fn of_v4(v4: Ipv4Addr) -> Self {
        let [a, b, c, d] = v4.octets();
        match (a, b, c, d) {
            (169, 254, ..) | (100, 100, 100, 200) | (192, 0, 0, 192) | (168, 63, 129, 16) => {
                Self::Metadata
            }
            (0, ..) => Self::Unspecified,
            (127, ..) => Self::Loopback,
            (10, ..) | (192, 168, ..) => Self::Private,
            (172, 16..=31, ..) => Self::Private,
            (100, 64..=127, ..) => Self::Shared,
            (224..=239, ..) | (255, 255, 255, 255) => Self::Multicast,
            (192, 0, 0 | 2, _)
            | (192, 88, 99, _)
            | (198, 18 | 19, ..)
            | (198, 51, 100, _)
            | (203, 0, 113, _)
            | (240..=255, ..) => Self::Reserved,
            _ => Self::Public,
        }
    }

    fn of_v6(v6: Ipv6Addr) -> Self {
        /// Addresses at which clouds answer metadata over IPv6.
        const METADATA: [Ipv6Addr; 3] = [
            Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254),
            Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254),
            Ipv6Addr::new(0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42),
        ];
        if METADATA.contains(&v6) {
            return Self::Metadata;
        }
        if v6.is_unspecified() {
            return Self::Unspecified;
        }
        if v6.is_loopback() {
            return Self::Loopback;
        }
        if let Some(inner) = embedded_v4(v6) {
            return match Self::of_v4(inner) {
                Self::Public => Self::Public,
                Self::Metadata => Self::Metadata,
                Self::Unspecified => Self::Unspecified,
                Self::Multicast => Self::Multicast,
                _ => Self::Translated,
            };
        }
        match v6.segments() {
            [0xff00..=0xffff, ..] => Self::Multicast,
            [0xfe80..=0xfeff, ..] => Self::LinkLocal,
            [0xfc00..=0xfdff, ..] => Self::Private,
            // Discard, benchmarks and ORCHID, documentation, SRv6.
            [0x100, 0, 0, 0 | 1, ..]
            | [0x2001, 2..=0x1ff, ..]
            | [0x2001, 0xdb8, ..]
            | [0x3fff, 0..=0x0fff, ..]
            | [0x5f00, ..] => Self::Reserved,
            [0x2000..=0x3fff, ..] => Self::Public,
            _ => Self::Reserved,
        }
    }

    /// What the policy does with it.
    pub const fn rule(self) -> Rule {
        match self {
            Self::Public => Rule::Open,
            Self::Loopback => Rule::Loopback,
            Self::Private | Self::Shared | Self::LinkLocal | Self::Reserved | Self::Translated => {
                Rule::NeedsAllow
            }
            Self::Metadata | Self::Unspecified | Self::Multicast => Rule::Never,
        }
    }

    /// For messages: "a private address".
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Public => "a public address",
            Self::Loopback => "a loopback address",
            Self::Private => "a private address",
            Self::Shared => "an address behind a carrier's translation (100.64.0.0/10)",
            Self::LinkLocal => "a link-local address",
            Self::Metadata => "a cloud metadata address",
            Self::Unspecified => "the unspecified address",
            Self::Multicast => "a multicast or broadcast address",
            Self::Reserved => "a reserved address",
            Self::Translated => "an IPv6 form of an IPv4 address that is not public",
        }
    }
}

/// The IPv4 address inside NAT64, 6to4, Teredo and IPv4-compatible forms.
fn embedded_v4(v6: Ipv6Addr) -> Option<Ipv4Addr> {
    let join = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        Ipv4Addr::new(a, b, c, d)
    };
    match v6.segments() {
        // NAT64: the well-known prefix, and the local-use prefix in its /96 form.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(join(high, low)),
        [0x64, 0xff9b, 1, _, _, _, high, low] => Some(join(high, low)),
        // 6to4.
        [0x2002, high, low, ..] => Some(join(high, low)),
        // Teredo keeps the client's address inverted.
        [0x2001, 0, .., high, low] => Some(join(!high, !low)),
        // IPv4-compatible, deprecated, and IPv4-translated (SIIT).
        [0, 0, 0, 0, 0, 0, high, low] => Some(join(high, low)),
        [0, 0, 0, 0, 0xffff, 0, high, low] => Some(join(high, low)),
        _ => None,
    }
}
