//! Spellings of addresses, each with what the policy must say (T17's table, without a network).

use super::*;

fn egress(loopback: bool, allow: &[&str]) -> Egress {
    Egress::new(EgressSettings {
        allow: allow
            .iter()
            .map(|entry| AllowRule::parse(entry).unwrap())
            .collect(),
        listens_on_loopback: loopback,
    })
}

/// Spellings of loopback.
const LOOPBACK: [&str; 24] = [
    "http://127.0.0.1/",
    "http://127.0.0.1:8080/run",
    "http://127.1:8080/",
    "http://127.0.1/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7f.1/",
    "http://0x7f.0.0.1/",
    "http://0177.0.0.1/",
    "http://017700000001/",
    "http://0177.0x0.1/",
    "http://127.0.0.1./",
    "http://127.255.255.254/",
    "http://[::1]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[::FFFF:7F00:0001]:9000/",
    "http://localhost:8000/",
    "http://LOCALHOST/",
    "http://localhost./",
    "http://agent.localhost/",
    "http://１２７.０.０.１/",
    "http://%31%32%37.0.0.1/",
];

/// Addresses that need a rule.
const NEEDS_RULE: [&str; 28] = [
    "https://10.0.0.1/",
    "https://10.255.255.255/",
    "https://167772161/",
    "https://0xa.1/",
    "https://012.0.0.1/",
    "https://172.16.0.1/",
    "https://172.31.255.255/",
    "https://192.168.0.1/",
    "https://0xc0a80001/",
    "https://192.168.257/",
    "https://100.64.0.1/",
    "https://100.127.255.255/",
    "https://198.18.0.1/",
    "https://203.0.113.5/",
    "https://240.0.0.1/",
    "https://[fc00::1]/",
    "https://[fdff::1]/",
    "https://[fe80::1]/",
    "https://[fec0::1]/",
    "https://[::ffff:10.0.0.1]/",
    "https://[64:ff9b::10.0.0.1]/",
    "https://[64:ff9b::7f00:1]/",
    "https://[64:ff9b:1::a00:1]/",
    "https://[2002:a00:1::]/",
    "https://[2002:7f00:1::1]/",
    "https://[::10.0.0.1]/",
    "https://[2001:0:1:2:3:4:f5ff:fffe]/",
    "https://[2001:db8::1]/",
];

/// Addresses that nothing opens.
const NEVER: [&str; 16] = [
    "http://169.254.169.254/latest/meta-data/",
    "http://2852039166/",
    "http://0xa9fea9fe/",
    "http://0251.0376.0251.0376/",
    "http://169.254.170.2/v2/credentials",
    "http://[::ffff:169.254.169.254]/",
    "http://[::ffff:a9fe:a9fe]/",
    "http://[64:ff9b::a9fe:a9fe]/",
    "http://[2002:a9fe:a9fe::]/",
    "http://[fd00:ec2::254]/",
    "http://100.100.100.200/",
    "http://0.0.0.0/",
    "http://0/",
    "http://[::]/",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
];

/// Texts that are no usable URL, or only after repair.
const MALFORMED: [&str; 18] = [
    "",
    "agent",
    "//agent.example/",
    "http://",
    "http:///agent.example/",
    "http:agent.example",
    "https:/agent.example",
    "http://exa mple.com/",
    "http://agent.example/\t",
    " http://agent.example/",
    "ht\ntp://agent.example/",
    "http:\\\\agent.example\\",
    "http://agent.example\\@evil.example/",
    "http://[::1/",
    "http://[fe80::1%25eth0]/",
    "http://127.0.0.1.999999/",
    "http://agent.example:99999/",
    "http://%zz/",
];

#[test]
fn the_table_is_as_long_as_promised() {
    assert!(LOOPBACK.len() + NEEDS_RULE.len() + NEVER.len() + MALFORMED.len() >= 60);
}

#[test]
fn every_spelling_of_loopback_is_loopback() {
    for url in LOOPBACK {
        assert!(
            egress(true, &[]).target(url, Trust::Product).is_ok(),
            "{url} is loopback, and the server listens there"
        );
        let denied = egress(false, &[]).target(url, Trust::Product).unwrap_err();
        assert_eq!(
            denied.reason,
            DeniedReason::Address(AddressKind::Loopback),
            "{url}"
        );
        assert!(egress(false, &[]).target(url, Trust::Config).is_ok());
    }
}

#[test]
fn private_addresses_need_a_rule_in_every_spelling() {
    for url in NEEDS_RULE {
        let denied = egress(true, &[]).target(url, Trust::Product).unwrap_err();
        assert!(
            matches!(denied.reason, DeniedReason::Address(kind) if kind.rule() == Rule::NeedsAllow),
            "{url}: {:?}",
            denied.reason
        );
        let lines = denied.lines.clone().unwrap();
        // The refusal prints lines that work as printed.
        let entry = lines.split('"').nth(1).unwrap();
        assert!(
            egress(true, &[entry]).target(url, Trust::Product).is_ok(),
            "{url} is allowed by its own refusal's line {entry}"
        );
        assert!(
            egress(false, &[]).target(url, Trust::Config).is_ok(),
            "{url}"
        );
    }
}

#[test]
fn metadata_and_addresses_of_nobody_are_never_called() {
    for url in NEVER {
        for trust in [Trust::Config, Trust::Product] {
            let denied = egress(true, &["0.0.0.0/0", "::/0"])
                .target(url, trust)
                .unwrap_err();
            assert!(
                matches!(denied.reason, DeniedReason::Address(kind) if kind.rule() == Rule::Never),
                "{url}: {:?}",
                denied.reason
            );
            assert_eq!(denied.lines, None, "{url}");
        }
    }
}

#[test]
fn repaired_and_broken_urls_are_refused() {
    for url in MALFORMED {
        for trust in [Trust::Config, Trust::Product] {
            let denied = egress(true, &["0.0.0.0/0"]).target(url, trust).unwrap_err();
            assert!(
                matches!(denied.reason, DeniedReason::Malformed(_)),
                "{url:?}: {:?}",
                denied.reason
            );
        }
    }
}

#[test]
fn schemes_credentials_and_ports() {
    let open = egress(true, &["agent.example"]);
    for url in [
        "ftp://agent.example/",
        "file:///etc/passwd",
        "gopher://agent.example/",
        "ws://agent.example/",
    ] {
        assert_eq!(
            open.target(url, Trust::Config).unwrap_err().reason,
            DeniedReason::Scheme,
            "{url}"
        );
    }
    for url in [
        "https://user@agent.example/",
        "https://:pw@agent.example/",
        "https://u:p@agent.example/",
        "https://agent.example@127.0.0.1/",
    ] {
        let denied = open.target(url, Trust::Config).unwrap_err();
        assert_eq!(denied.reason, DeniedReason::Credentials, "{url}");
        assert!(!denied.to_string().contains("u:p"));
    }
    for port in [0, 22, 25, 6000, 10080] {
        assert_eq!(
            open.target(&format!("http://agent.example:{port}/"), Trust::Config)
                .unwrap_err()
                .reason,
            DeniedReason::Port(port)
        );
    }
}

#[test]
fn public_hosts_need_https_or_a_rule() {
    let public: std::net::IpAddr = "93.184.215.14".parse().unwrap();
    let private: std::net::IpAddr = "10.1.1.1".parse().unwrap();
    let bare = egress(true, &[]);
    let https = bare
        .target("https://agent.example/run", Trust::Product)
        .unwrap();
    assert_eq!(https.admit(public), Ok(()));
    assert!(
        https.admit(private).is_err(),
        "a name is decided by where it leads"
    );
    let http = bare
        .target("http://agent.example/run?key=s3cret", Trust::Product)
        .unwrap();
    let denied = http.admit(public).unwrap_err();
    assert_eq!(denied.reason, DeniedReason::PlainHttp);
    assert!(!denied.to_string().contains("s3cret"));
    assert_eq!(
        denied.lines.as_deref(),
        Some("egress:\n  allow:\n    - \"agent.example:80\"")
    );
    // A rule for the host opens http and its private addresses, never metadata.
    let named = egress(false, &["agent.example:80"]);
    let http = named
        .target("http://agent.example/run", Trust::Product)
        .unwrap();
    assert_eq!(http.admit(public), Ok(()));
    assert_eq!(http.admit(private), Ok(()));
    assert!(http.admit("169.254.169.254".parse().unwrap()).is_err());
    // Another port and another host stay closed.
    for other in ["http://agent.example:8080/", "http://x.agent.example/"] {
        let target = named.target(other, Trust::Product).unwrap();
        assert!(target.admit(private).is_err(), "{other}");
    }
    // With a list in place, only the line to add is printed.
    let denied = named
        .target("https://192.168.1.1/", Trust::Product)
        .unwrap_err();
    assert_eq!(
        denied.lines.as_deref(),
        Some("    - \"192.168.1.1:443\"   # under egress: allow:")
    );
}

#[test]
fn origins_and_paths_below() {
    let target = egress(true, &[])
        .target("https://api.example:443/v1/?x=1", Trust::Config)
        .unwrap();
    assert_eq!(target.origin(), "https://api.example");
    assert_eq!(
        target.below("chat/completions").url().as_str(),
        "https://api.example/v1/chat/completions?x=1"
    );
}

proptest::proptest! {
    /// An accepted URL never leads to an address that needs a rule, whatever the bytes.
    #[test]
    fn no_text_passes_into_a_private_network(text in "(https?://)?[0-9a-fx.:\\[\\]%@/１。-]{0,40}") {
        if let Ok(target) = egress(false, &[]).target(&text, Trust::Product)
            && let Some(address) = target.literal()
        {
            proptest::prop_assert_eq!(AddressKind::of(address).rule(), Rule::Open);
        }
    }

    /// Every IPv4 address has one kind, in each of its spellings.
    #[test]
    fn spellings_agree(bits in proptest::prelude::any::<u32>()) {
        let v4 = std::net::Ipv4Addr::from(bits);
        let kind = AddressKind::of(v4.into());
        let policy = egress(false, &[]);
        for url in [format!("https://{v4}/"), format!("https://{bits}/"), format!("https://0x{bits:x}/"), format!("https://[::ffff:{v4}]/")] {
            let verdict = policy.target(&url, Trust::Product);
            match kind.rule() {
                Rule::Open => proptest::prop_assert!(verdict.is_ok(), "{}", url),
                _ => proptest::prop_assert_eq!(verdict.unwrap_err().reason, DeniedReason::Address(kind)),
            }
        }
    }
}
