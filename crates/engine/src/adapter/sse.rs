//! The reply of the Agent Run API as server-sent events: any number of `progress`, then one `result`.

use evalkit_core::run::AgentErrorClass;
use eventsource_stream::{EventStreamError, Eventsource as _};
use futures::StreamExt as _;
use futures::stream;

use super::AgentFailure;
use crate::egress::{Answer, CallFailure};

/// The data of the `result` event. The stream is not read further.
///
/// # Errors
/// The stream's own failure, or `cut` when it ends without a result.
pub(super) async fn result(answer: &mut Answer, cap: u64) -> Result<Vec<u8>, AgentFailure> {
    let bytes = stream::unfold(answer, |answer| async move {
        match answer.chunk(cap).await {
            Ok(Some(bytes)) => Some((Ok(bytes), answer)),
            Ok(None) => None,
            Err(failure) => Some((Err(failure), answer)),
        }
    });
    let mut events = std::pin::pin!(bytes.eventsource());
    while let Some(event) = events.next().await {
        match event {
            Ok(event) if event.event == "result" => return Ok(event.data.into_bytes()),
            Ok(_) => {}
            Err(EventStreamError::Transport(failure)) => return Err(CallFailure::into(failure)),
            Err(EventStreamError::Utf8(_) | EventStreamError::Parser(_)) => {
                return Err(AgentFailure::of(
                    AgentErrorClass::NotJson,
                    "The reply is not a stream of server-sent events, which its content type promises.",
                ));
            }
        }
    }
    Err(AgentFailure::of(
        AgentErrorClass::Cut,
        "The event stream ended without a `result` event.",
    )
    .again(super::Again::Soon))
}
