//! `egress.allow` of `config.yaml`: a list of hosts or networks, with ports (`config.md`).

use std::net::IpAddr;

use ipnet::IpNet;

/// One entry: `agents.internal`, `agents.internal:8080`, `10.0.0.0/8`, `10.1.2.3:8080`, `[fd00::/8]:8080`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AllowRule {
    what: What,
    /// Absent: every port.
    port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum What {
    /// Lower case, IDNA-encoded, without a closing dot.
    Host(String),
    Net(IpNet),
}

/// An entry that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`egress.allow` has the entry `{0}`, which is neither a host nor a network; write for example `agents.internal:8080`, `10.1.2.3:8080`, `10.0.0.0/8` or `[fd00::/8]:8080`"
)]
pub struct AllowRuleError(pub String);

impl AllowRule {
    /// Reads one entry.
    ///
    /// # Errors
    /// [`AllowRuleError`] quoting the entry.
    pub fn parse(text: &str) -> Result<Self, AllowRuleError> {
        let fail = || AllowRuleError(text.to_owned());
        let entry = text.trim();
        if entry.is_empty() || entry.contains(['@', ' ', '?', '#', '*']) || entry.contains("//") {
            return Err(fail());
        }
        if let Ok(net) = entry.parse::<IpNet>() {
            return Ok(Self::net(net, None));
        }
        if let Ok(address) = entry.parse::<IpAddr>() {
            return Ok(Self::net(IpNet::from(address.to_canonical()), None));
        }
        let (host, port) = match entry.rsplit_once(':') {
            Some((host, port)) if !entry.ends_with(']') => {
                let port: u16 = port.parse().map_err(|_| fail())?;
                if port == 0 {
                    return Err(fail());
                }
                (host, Some(port))
            }
            _ => (entry, None),
        };
        // `[fd00::/8]:8080` and `[fd00::1]:8080`: the brackets only part the address from the port.
        let bare: String = host.chars().filter(|c| !matches!(c, '[' | ']')).collect();
        if let Ok(net) = bare.parse::<IpNet>() {
            return Ok(Self::net(net, port));
        }
        if let Ok(address) = bare.parse::<IpAddr>() {
            return Ok(Self::net(IpNet::from(address.to_canonical()), port));
        }
        match url::Host::parse(host) {
            Ok(url::Host::Domain(name)) if !name.contains('/') => Ok(Self {
                what: What::Host(plain_host(&name)),
                port,
            }),
            Ok(url::Host::Ipv4(v4)) => Ok(Self::net(IpNet::from(IpAddr::V4(v4)), port)),
            _ => Err(fail()),
        }
    }

    fn net(net: IpNet, port: Option<u16>) -> Self {
        Self {
            what: What::Net(net.trunc()),
            port,
        }
    }

    /// Whether the entry names `host` (as [`plain_host`] writes it) at `port`.
    pub fn names_host(&self, host: &str, port: u16) -> bool {
        self.covers_port(port) && matches!(&self.what, What::Host(name) if name == host)
    }

    /// Whether the entry's network holds `address` at `port`.
    pub fn holds(&self, address: IpAddr, port: u16) -> bool {
        self.covers_port(port)
            && matches!(&self.what, What::Net(net) if net.contains(&address.to_canonical()))
    }

    fn covers_port(&self, port: u16) -> bool {
        self.port.is_none_or(|own| own == port)
    }
}

/// Lower case and without the closing dot of a fully qualified name, so that one host has one spelling.
pub fn plain_host(host: &str) -> String {
    host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_every_form() -> Result<(), AllowRuleError> {
        let host = AllowRule::parse("Agents.Internal:8080")?;
        assert!(host.names_host("agents.internal", 8080));
        assert!(!host.names_host("agents.internal", 80));
        assert!(!host.names_host("x.agents.internal", 8080));
        let any_port = AllowRule::parse("agents.internal.")?;
        assert!(any_port.names_host("agents.internal", 9));
        let ten = |n: u8| IpAddr::from([10, 1, 2, n]);
        assert!(AllowRule::parse("10.0.0.0/8")?.holds(ten(3), 1));
        assert!(AllowRule::parse("10.1.2.3")?.holds(ten(3), 1));
        assert!(!AllowRule::parse("10.1.2.3")?.holds(ten(4), 1));
        let with_port = AllowRule::parse("10.0.0.0/8:8080")?;
        assert!(with_port.holds(ten(3), 8080) && !with_port.holds(ten(3), 8081));
        for text in ["fd00::/8", "[fd00::/8]:443", "[fd00::1]"] {
            assert!(
                AllowRule::parse(text)?.holds(IpAddr::from([0xfd00, 0, 0, 0, 0, 0, 0, 1]), 443),
                "{text}"
            );
        }
        assert!(
            AllowRule::parse("10.1.2.3:8080")?.holds("::ffff:10.1.2.3".parse().unwrap(), 8080),
            "a mapped address is its IPv4 address"
        );
        Ok(())
    }

    #[test]
    fn entries_that_are_refused() {
        for bad in [
            "",
            " ",
            "http://x",
            "a@b",
            "x:0",
            "x:99999",
            "*.internal",
            "10.0.0.0/99",
            "a b",
            "x:y",
            "foo/8",
            "[fd00::]/8",
        ] {
            assert!(AllowRule::parse(bad).is_err(), "{bad:?}");
        }
    }
}
