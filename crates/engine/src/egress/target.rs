//! A URL after its one parse, with the policy's decision.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use url::{Host, Url};

use super::address::{AddressKind, Rule};
use super::allow::plain_host;
use super::denied::{Denied, DeniedReason};
use super::scrub::shown_url;
use super::{EgressSettings, Trust};

/// Longer URLs are refused, bytes.
const MAX_URL_BYTES: usize = 2_048;

/// Ports that browsers refuse because they belong to other protocols (Fetch standard, port blocking).
const BAD_PORTS: [u16; 83] = [
    0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101,
    102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427,
    465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990,
    993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667,
    6668, 6669, 6679, 6697, 10080,
];

/// An address that may be called, as far as can be told without the network.
#[derive(Debug, Clone)]
pub struct Target {
    url: Url,
    /// Lower case, no closing dot; brackets dropped from IPv6 literals.
    host: String,
    port: u16,
    trust: Trust,
    settings: Arc<EgressSettings>,
}

impl Target {
    pub(super) fn parse(
        settings: Arc<EgressSettings>,
        text: &str,
        trust: Trust,
    ) -> Result<Self, Denied> {
        let malformed = |what| Denied {
            shown: String::new(),
            reason: DeniedReason::Malformed(what),
            lines: None,
        };
        // The URL standard repairs these silently; two readers of one repaired text is how guards are passed by.
        if text.len() > MAX_URL_BYTES {
            return Err(malformed("it is longer than 2,048 bytes"));
        }
        if text
            .chars()
            .any(|c| c.is_control() || c.is_whitespace() || c == '\\')
        {
            return Err(malformed(
                "it holds a blank, a control character or a backslash",
            ));
        }
        let url = Url::parse(text).map_err(|_| malformed("it cannot be parsed"))?;
        let denied = |reason| Denied {
            shown: shown_url(&url),
            reason,
            lines: None,
        };
        if !matches!(url.scheme(), "http" | "https") {
            return Err(denied(DeniedReason::Scheme));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(denied(DeniedReason::Credentials));
        }
        // `http:host` and `http:///host` are repaired to `http://host` as well.
        if !has_plain_authority(text) {
            return Err(malformed("the host does not follow `://`"));
        }
        let port = url
            .port_or_known_default()
            .ok_or_else(|| malformed("it has no port"))?;
        if BAD_PORTS.contains(&port) {
            return Err(denied(DeniedReason::Port(port)));
        }
        let host = match url.host() {
            Some(Host::Domain(name)) => plain_host(name),
            Some(Host::Ipv4(v4)) => v4.to_string(),
            Some(Host::Ipv6(v6)) => v6.to_string(),
            None => return Err(malformed("it has no host")),
        };
        if host.is_empty() {
            return Err(malformed("it has no host"));
        }
        let target = Self {
            url,
            host,
            port,
            trust,
            settings,
        };
        if let Some(address) = target.literal() {
            target.admit(address)?;
        } else if target.host == "localhost" || target.host.ends_with(".localhost") {
            target.admit(IpAddr::V4(Ipv4Addr::LOCALHOST))?;
        }
        Ok(target)
    }

    /// The address, when the host is a literal.
    pub fn literal(&self) -> Option<IpAddr> {
        match self.url.host() {
            Some(Host::Ipv4(v4)) => Some(IpAddr::V4(v4)),
            Some(Host::Ipv6(v6)) => Some(IpAddr::V6(v6)),
            _ => None,
        }
    }

    /// Decides one address the host stands for: as a literal, from the resolver, or as the peer of a connection.
    ///
    /// # Errors
    /// [`Denied`] with the lines to add, where the operator could allow it.
    pub fn admit(&self, address: IpAddr) -> Result<(), Denied> {
        let kind = AddressKind::of(address);
        let rule = kind.rule();
        if rule == Rule::Never {
            return Err(Denied {
                shown: shown_url(&self.url),
                reason: DeniedReason::Address(kind),
                lines: None,
            });
        }
        if self.trust == Trust::Config || self.is_allowed(address) {
            return Ok(());
        }
        let reason = match rule {
            Rule::Loopback if self.settings.listens_on_loopback => return Ok(()),
            Rule::Open if self.url.scheme() == "https" => return Ok(()),
            Rule::Open => DeniedReason::PlainHttp,
            Rule::Loopback | Rule::NeedsAllow | Rule::Never => DeniedReason::Address(kind),
        };
        let entry = match self.literal().map(|literal| literal.to_canonical()) {
            Some(IpAddr::V4(v4)) => format!("{v4}:{}", self.port),
            Some(IpAddr::V6(v6)) => format!("[{v6}]:{}", self.port),
            None => format!("{}:{}", self.host, self.port),
        };
        Err(Denied {
            shown: shown_url(&self.url),
            reason,
            lines: Some(Denied::lines_for(&entry, !self.settings.allow.is_empty())),
        })
    }

    fn is_allowed(&self, address: IpAddr) -> bool {
        self.settings
            .allow
            .iter()
            .any(|rule| rule.names_host(&self.host, self.port) || rule.holds(address, self.port))
    }

    /// Resolves the host and decides every address, as a connection would: for checks before anything is stored.
    /// A name that does not resolve is no refusal here, because each connection decides again.
    ///
    /// # Errors
    /// [`Denied`] for the first address that the rules do not let through.
    pub async fn preflight(&self) -> Result<(), Denied> {
        if self.literal().is_some() {
            return Ok(());
        }
        if let Ok(found) = tokio::net::lookup_host((self.host.as_str(), self.port)).await {
            for address in found {
                self.admit(address.ip())?;
            }
        }
        Ok(())
    }

    /// The URL as it will be called.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// `scheme://host:port`, the part that a stored secret is bound to (D10).
    pub fn origin(&self) -> String {
        self.url.origin().ascii_serialization()
    }

    /// The URL without credentials and query, for people and logs.
    pub fn shown(&self) -> String {
        shown_url(&self.url)
    }

    /// The same host with `tail` (`chat/completions`) after the path: for APIs below a base URL.
    #[must_use]
    pub fn below(&self, tail: &str) -> Self {
        let mut target = self.clone();
        let path = format!(
            "{}/{}",
            self.url.path().trim_end_matches('/'),
            tail.trim_start_matches('/')
        );
        target.url.set_path(&path);
        target
    }
}

/// Whether the text has exactly `scheme://` before the host.
fn has_plain_authority(text: &str) -> bool {
    text.split_once(':')
        .is_some_and(|(_, rest)| rest.starts_with("//") && !rest.starts_with("///"))
}
