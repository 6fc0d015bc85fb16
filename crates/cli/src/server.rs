//! A server over HTTP. What it refuses comes back as a [`Failure`] with its code and next step; no redirect is followed,
//! and a token goes to the origin it is for and nowhere else.

use std::net::IpAddr;
use std::time::Duration;

use evalkit_core::api::Whoami;
use evalkit_core::error::{Code, Fault};
use futures::StreamExt as _;
use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use url::{Host, Url};

use crate::command::Context;
use crate::credentials::Credentials;
use crate::exit::{Exit, Failure};
use crate::project::{DEFAULT_SERVER, Project};

/// The largest reply that is read whole, bytes.
const LARGEST: usize = 512 << 20;
/// The largest error that is read, bytes.
const LARGEST_ERROR: usize = 4 << 20;
const CONNECT: Duration = Duration::from_secs(10);
const REPLY: Duration = Duration::from_secs(300);

/// A server, and who asks it.
#[derive(Debug, Clone)]
pub(crate) struct Server {
    base: Url,
    token: Option<String>,
    client: reqwest::Client,
}

impl Server {
    /// The server of the environment or the project, with the token for it.
    pub(crate) fn of(project: &Project, context: &Context) -> Result<Self, Failure> {
        let mut server = Self::without_token(project, context)?;
        let environment = &context.environment;
        let origin = server.origin();
        server.token = match &environment.token {
            // A token in the environment does not say where it is from. A project file alone cannot claim it.
            Some(token) if environment.server.is_some() || server.is_loopback() => {
                Some(token.clone())
            }
            Some(_) => {
                return Err(Failure::misuse(
                    format!(
                        "EVALKIT_TOKEN is set, and only the project file names the server {origin}."
                    ),
                    format!(
                        "Set EVALKIT_SERVER={origin} too, if that is the server the token is for."
                    ),
                ));
            }
            None => Credentials::read(environment.config.as_deref())?
                .of(&origin)
                .map(|stored| stored.token.clone()),
        };
        if server.token.is_none() {
            return Err(Failure::misuse(
                format!("You are not logged in to {origin}."),
                format!(
                    "Make an access token at {origin}/settings/tokens, then paste it into `evalkit login --token-stdin`."
                ),
            ));
        }
        Ok(server)
    }

    /// The server alone, for logging in.
    pub(crate) fn without_token(project: &Project, context: &Context) -> Result<Self, Failure> {
        let written = context
            .environment
            .server
            .as_deref()
            .or(project.server.as_deref())
            .unwrap_or(DEFAULT_SERVER);
        let base = Url::parse(written)
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https") && url.host().is_some())
            .filter(|url| url.username().is_empty() && url.password().is_none())
            .ok_or_else(|| {
                Failure::misuse(
                    format!("`{written}` is no address of a server."),
                    "Write it like http://127.0.0.1:3000, in EVALKIT_SERVER or `server` of evalkit.yaml.",
                )
            })?;
        let client = client(is_loopback(&base), base.scheme() == "http")?;
        Ok(Self {
            base,
            token: None,
            client,
        })
    }

    /// The same server, asked with another token.
    pub(crate) fn with_token(&self, token: &str) -> Self {
        Self {
            token: Some(token.to_owned()),
            ..self.clone()
        }
    }

    /// Scheme, host and port.
    pub(crate) fn origin(&self) -> String {
        self.base.origin().ascii_serialization()
    }

    fn is_loopback(&self) -> bool {
        is_loopback(&self.base)
    }

    /// The address of a page.
    pub(crate) fn page(&self, path: &str) -> String {
        format!("{}{path}", self.origin())
    }

    fn request(&self, method: Method, path: &[&str]) -> Result<RequestBuilder, Failure> {
        let mut url = self.base.clone();
        url.set_query(None);
        url.set_fragment(None);
        url.path_segments_mut()
            .map_err(|()| Failure::misuse("The server's address has no path.", "Check it."))?
            .pop_if_empty()
            .push("api")
            .extend(path);
        let request = self.client.request(method, url);
        Ok(match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        })
    }

    async fn send(&self, request: RequestBuilder) -> Result<Response, Failure> {
        let response = request
            .send()
            .await
            .map_err(|error| self.unreachable(&error))?;
        if response.status().is_success() {
            return Ok(response);
        }
        Err(self.refused(response).await)
    }

    async fn json<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<T, Failure> {
        let response = self.send(request.timeout(REPLY)).await?;
        let bytes = self.body(response, LARGEST).await?;
        serde_json::from_slice(&bytes).map_err(|error| {
            Failure::misuse(
                format!(
                    "{} answered something else than expected: {error}.",
                    self.origin()
                ),
                "Check that it is an Evalkit server of this version.",
            )
        })
    }

    /// Asks for data.
    pub(crate) async fn get<T: DeserializeOwned>(&self, path: &[&str]) -> Result<T, Failure> {
        self.json(self.request(Method::GET, path)?).await
    }

    /// Sends data and takes data back.
    pub(crate) async fn post<B: Serialize, T: DeserializeOwned>(
        &self,
        path: &[&str],
        body: &B,
    ) -> Result<T, Failure> {
        self.json(self.request(Method::POST, path)?.json(body))
            .await
    }

    /// Asks for something to be done that takes no data, and takes data back.
    pub(crate) async fn act<T: DeserializeOwned>(&self, path: &[&str]) -> Result<T, Failure> {
        self.json(self.request(Method::POST, path)?).await
    }

    /// Sends data.
    pub(crate) async fn put<B: Serialize>(&self, path: &[&str], body: &B) -> Result<(), Failure> {
        let request = self.request(Method::PUT, path)?.json(body).timeout(REPLY);
        self.send(request).await.map(drop)
    }

    /// Sends a file's bytes, streamed.
    pub(crate) async fn upload(
        &self,
        path: &[&str],
        file: tokio::fs::File,
        bytes: u64,
    ) -> Result<(), Failure> {
        let chunks = futures::stream::unfold(
            (file, vec![0u8; 1 << 16]),
            |(mut file, mut buffer)| async move {
                use tokio::io::AsyncReadExt as _;
                match file.read(&mut buffer).await {
                    Ok(0) => None,
                    Ok(n) => Some((
                        Ok::<_, std::io::Error>(buffer[..n].to_vec()),
                        (file, buffer),
                    )),
                    Err(error) => Some((Err(error), (file, buffer))),
                }
            },
        );
        let request = self
            .request(Method::PUT, path)?
            .header("content-type", "application/octet-stream")
            .header("content-length", bytes)
            .body(reqwest::Body::wrap_stream(chunks));
        self.send(request).await.map(drop)
    }

    /// Asks for something to be removed.
    pub(crate) async fn delete(&self, path: &[&str]) -> Result<(), Failure> {
        let request = self.request(Method::DELETE, path)?.timeout(REPLY);
        self.send(request).await.map(drop)
    }

    /// Opens a stream: server-sent events after the id `after`, or lines.
    pub(crate) async fn open(
        &self,
        path: &[&str],
        after: Option<&str>,
    ) -> Result<Response, Failure> {
        let mut request = self.request(Method::GET, path)?;
        if let Some(after) = after {
            request = request
                .header("accept", "text/event-stream")
                .header("last-event-id", after);
        }
        self.send(request).await
    }

    /// Who asks.
    pub(crate) async fn whoami(&self) -> Result<Whoami, Failure> {
        self.get(&["whoami"]).await
    }

    async fn body(&self, response: Response, largest: usize) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::new();
        let mut chunks = response.bytes_stream();
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.map_err(|error| self.unreachable(&error))?;
            if bytes.len() + chunk.len() > largest {
                return Err(Failure::misuse(
                    format!(
                        "{} answered more than {} MiB.",
                        self.origin(),
                        largest >> 20
                    ),
                    "Check the address of the server.",
                ));
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes)
    }

    /// The failure of an answer that is no success.
    async fn refused(&self, response: Response) -> Failure {
        let status = response.status();
        let bytes = self.body(response, LARGEST_ERROR).await.unwrap_or_default();
        if let Ok(fault) = serde_json::from_slice::<Fault>(&bytes) {
            return self.fault(fault);
        }
        let next = if status == StatusCode::NOT_FOUND || status.is_redirection() {
            "Check that it is an Evalkit server of this version."
        } else {
            "Try again; the server's log says more."
        };
        Failure::misuse(
            format!("{} answered with status {status}.", self.origin()),
            next,
        )
    }

    fn fault(&self, fault: Fault) -> Failure {
        let exit = match fault.code {
            // What was asked is sound, and the server's state says no.
            Code::Lint | Code::Fixtures | Code::Conflict => Exit::NotMet,
            _ => Exit::Misuse,
        };
        let next = if fault.code == Code::SignIn {
            let origin = self.origin();
            format!(
                "Make an access token at {origin}/settings/tokens, then paste it into `evalkit login --token-stdin`."
            )
        } else {
            fault.next
        };
        let request = fault.request_id.map(|id| format!("request {id}"));
        Failure {
            code: Some(fault.code.as_str().to_owned()),
            details: fault.details.into_iter().chain(request).collect(),
            ..Failure::new(exit, fault.message, next)
        }
    }

    fn unreachable(&self, error: &reqwest::Error) -> Failure {
        let mut cause: &dyn std::error::Error = error;
        while let Some(deeper) = cause.source() {
            cause = deeper;
        }
        let next = if self.is_loopback() {
            "Start it with `evalkit serve`, or name another one in EVALKIT_SERVER."
        } else {
            "Check the address and the network."
        };
        Failure::misuse(
            format!("{} cannot be reached: {cause}.", self.origin()),
            next,
        )
    }
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(ip)) => IpAddr::V4(ip).is_loopback(),
        Some(Host::Ipv6(ip)) => IpAddr::V6(ip).is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the egress guard keeps a server from calling what it should not; a command calls the one server that its user named"
)]
fn client(loopback: bool, plain: bool) -> Result<reqwest::Client, Failure> {
    // A provider that is installed already is the same one.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = reqwest::Client::builder()
        .user_agent(concat!("evalkit/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(CONNECT);
    if loopback {
        builder = builder.no_proxy();
    }
    if plain {
        // Redirects are never followed, so a plain address needs no certificates; reading the store costs time.
        builder = builder.tls_certs_only([]);
    }
    builder.build().map_err(|error| {
        Failure::misuse(
            format!("Secure connections cannot be set up: {error}."),
            "Check the certificates of this system.",
        )
    })
}
