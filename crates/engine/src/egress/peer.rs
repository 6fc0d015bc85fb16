//! The two checks inside the connector: every resolved address, and the address of the peer once connected.
//!
//! Literals never reach a resolver, and a resolver's result is not yet a connection, so each is checked where it happens.

use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper_util::client::legacy::connect::{Connection, HttpInfo};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tower::{Layer, Service};

use super::target::Target;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Resolves through the system and refuses the name when any of its addresses is refused.
#[derive(Debug, Clone)]
pub(super) struct GuardedResolver(pub(super) Target);

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let target = self.0.clone();
        Box::pin(async move {
            let found: Vec<SocketAddr> =
                tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            for address in &found {
                target.admit(address.ip())?;
            }
            Ok::<Addrs, BoxError>(Box::new(found.into_iter()))
        })
    }
}

/// Checks the peer of each new connection before the request is written to it.
#[derive(Debug, Clone)]
pub(super) struct PeerLayer(pub(super) Target);

impl<S> Layer<S> for PeerLayer {
    type Service = PeerGuard<S>;

    fn layer(&self, inner: S) -> PeerGuard<S> {
        PeerGuard {
            target: self.0.clone(),
            inner,
        }
    }
}

/// The service of [`PeerLayer`].
#[derive(Debug, Clone)]
pub(super) struct PeerGuard<S> {
    target: Target,
    inner: S,
}

/// The connection had no readable peer address; treated as refused, because nothing can vouch for it.
#[derive(Debug, thiserror::Error)]
#[error("the connection does not say which address it is connected to")]
pub(super) struct UnknownPeer;

impl<S, R> Service<R> for PeerGuard<S>
where
    S: Service<R>,
    S::Response: Connection,
    S::Error: Into<BoxError>,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, request: R) -> Self::Future {
        let connecting = self.inner.call(request);
        let target = self.target.clone();
        Box::pin(async move {
            let connection = connecting.await.map_err(Into::into)?;
            let mut extras = http::Extensions::new();
            connection.connected().get_extras(&mut extras);
            let peer = extras.get::<HttpInfo>().ok_or(UnknownPeer)?.remote_addr();
            target.admit(peer.ip())?;
            Ok(connection)
        })
    }
}
