//! How a page gets its data: one server function, one resource made at the top of the page component, read with `Suspend`.

use evalkit_core::error::Code;
use leptos::prelude::*;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::pages::errors::FaultPage;
use crate::ui::{Clock, Skeleton};

/// A page's data and the server's clock at that moment: times on the page count from there on both sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Loaded<T> {
    /// Microseconds since 1970-01-01 UTC.
    pub now: i64,
    /// What the page shows.
    pub data: T,
}

/// What every page's server function answers.
pub type Answer<T> = Result<Loaded<T>, Failure>;

/// Shows a page once its data is there: bones while it is not, the fault's page when it failed. While the address changes
/// within the page, the old view stays until the new data is there.
pub fn page<T, V>(
    resource: Resource<Answer<T>>,
    label: &'static str,
    view: impl Fn(T) -> V + Clone + Send + Sync + 'static,
) -> impl IntoView
where
    T: Clone + Send + Sync + Serialize + for<'de> Deserialize<'de> + 'static,
    V: IntoView + 'static,
{
    let clock = use_context::<Clock>();
    view! {
        <Transition fallback=move || {
            view! { <div class="wrap pt-8"><Skeleton label=label/></div> }
        }>
            {move || {
                let view = view.clone();
                Suspend::new(async move {
                    match resource.await {
                        Ok(loaded) => {
                            if let Some(clock) = clock {
                                clock.0.set(loaded.now);
                            }
                            view(loaded.data).into_any()
                        }
                        Err(Failure(fault)) => {
                            status(fault.code);
                            view! { <FaultPage fault/> }.into_any()
                        }
                    }
                })
            }}
        </Transition>
    }
}

/// Sets the HTTP status of the page being rendered; nothing in the browser.
pub fn status(code: Code) {
    #[cfg(feature = "ssr")]
    if let (Some(response), Ok(status)) = (
        use_context::<leptos_axum::ResponseOptions>(),
        http::StatusCode::from_u16(code.status()),
    ) {
        response.set_status(status);
    }
    #[cfg(not(feature = "ssr"))]
    let _ = code;
}
