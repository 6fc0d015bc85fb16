//! Addresses at which an agent fetches the fixtures of its case: signed, short-lived, GET only (`runs.md`, D15, D16).

use hmac::{Hmac, Mac as _};
use sha2::Sha256;
use url::Url;

/// An agent may fetch a fixture this long after its deadline, seconds.
const GRACE_S: u64 = 300;

/// Signs and checks fixture addresses with a key of this deployment.
#[derive(Clone)]
pub struct FixtureLinks {
    base: String,
    key: [u8; 32],
}

/// An address that is not served: altered, expired, or signed by another deployment. All look alike from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this address is not valid, or not any more")]
pub struct LinkRefused;

impl FixtureLinks {
    /// Links below `public_url`, signed with `key`.
    pub fn new(public_url: &str, key: [u8; 32]) -> Self {
        Self {
            base: public_url.trim_end_matches('/').to_owned(),
            key,
        }
    }

    /// The path that the server routes, with its parameters named as [`FixtureLinks::check`] takes them.
    pub const ROUTE: &'static str = "/agent/runs/{run}/fixtures/{sha256}/{key}";

    /// The address of a fixture of `run_id`, valid for the call's time and five minutes. `now_s` is in Unix seconds.
    pub fn link(
        &self,
        run_id: &str,
        key: &str,
        sha256: &str,
        now_s: u64,
        allowed_s: u64,
    ) -> String {
        let expires = now_s.saturating_add(allowed_s).saturating_add(GRACE_S);
        let signature = hex::encode(
            self.mac(run_id, key, sha256, expires)
                .finalize()
                .into_bytes(),
        );
        match Url::parse(&self.base) {
            Ok(mut url) => {
                if let Ok(mut path) = url.path_segments_mut() {
                    path.pop_if_empty()
                        .extend(["agent", "runs", run_id, "fixtures", sha256, key]);
                }
                url.query_pairs_mut()
                    .append_pair("expires", &expires.to_string())
                    .append_pair("signature", &signature);
                url.to_string()
            }
            // The deployment's own address was checked at start; nothing can be fetched from one that is none.
            Err(_) => String::new(),
        }
    }

    /// Whether the parts of an address belong together and have not expired.
    ///
    /// # Errors
    /// [`LinkRefused`], the same for every cause.
    pub fn check(
        &self,
        run_id: &str,
        key: &str,
        sha256: &str,
        expires: u64,
        signature: &str,
        now_s: u64,
    ) -> Result<(), LinkRefused> {
        let signature = hex::decode(signature).map_err(|_| LinkRefused)?;
        self.mac(run_id, key, sha256, expires)
            .verify_slice(&signature)
            .map_err(|_| LinkRefused)?;
        if now_s > expires {
            return Err(LinkRefused);
        }
        Ok(())
    }

    fn mac(&self, run_id: &str, key: &str, sha256: &str, expires: u64) -> Hmac<Sha256> {
        // A key shorter than the hash's block is padded with zeros by definition; done here, nothing can fail.
        let mut block = [0; 64];
        block[..32].copy_from_slice(&self.key);
        let mut mac = Hmac::<Sha256>::new(&block.into());
        for part in [
            "evalkit.fixture/1",
            run_id,
            key,
            sha256,
            &expires.to_string(),
        ] {
            // Lengths before parts, so that no two lists of parts sign alike.
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part.as_bytes());
        }
        mac
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_opens_its_own_fixture_until_it_expires() {
        let links = FixtureLinks::new("https://evalkit.example/sub/", [7; 32]);
        let url = links.link("r1", "Über 1.txt", "ab12", 1_000, 30);
        let url = Url::parse(&url).unwrap();
        assert_eq!(
            url.path(),
            "/sub/agent/runs/r1/fixtures/ab12/%C3%9Cber%201.txt"
        );
        let signature = url
            .query_pairs()
            .find(|(k, _)| k == "signature")
            .unwrap()
            .1
            .into_owned();
        let check = |run: &str, key: &str, hash: &str, expires, now| {
            links.check(run, key, hash, expires, &signature, now)
        };
        assert_eq!(check("r1", "Über 1.txt", "ab12", 1_330, 1_330), Ok(()));
        assert_eq!(
            check("r1", "Über 1.txt", "ab12", 1_330, 1_331),
            Err(LinkRefused)
        );
        assert_eq!(
            check("r2", "Über 1.txt", "ab12", 1_330, 1_000),
            Err(LinkRefused)
        );
        assert_eq!(check("r1", "other", "ab12", 1_330, 1_000), Err(LinkRefused));
        assert_eq!(
            check("r1", "Über 1.txt", "ab13", 1_330, 1_000),
            Err(LinkRefused)
        );
        assert_eq!(
            check("r1", "Über 1.txt", "ab12", 9_330, 1_000),
            Err(LinkRefused)
        );
        assert_eq!(
            links.check("r1", "Über 1.txt", "ab12", 1_330, "zz", 1_000),
            Err(LinkRefused)
        );
        let other = FixtureLinks::new("https://evalkit.example/sub", [8; 32]);
        assert_eq!(
            other.check("r1", "Über 1.txt", "ab12", 1_330, &signature, 1_000),
            Err(LinkRefused)
        );
    }
}
