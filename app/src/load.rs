//! How a page gets its data: one server function, one resource made at the top of the page component, read with `Suspend`.
//!
//! Data travels as JSON text and is read where it is shown. So all pages share one kind of resource and one way of reading,
//! which the browser loads once; what a page adds is its own types and its view (ADR 0024).

use std::fmt::Debug;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;

use evalkit_core::error::Code;
use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use leptos_meta::Title;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::failure::Failure;
use crate::pages::errors::FaultPage;
use crate::ui::{Clock, Skeleton, Still, StillPart};

/// A page's data, the parts that the server drew of it, and the server's clock at that moment: times on the page count from
/// there on both sides.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Loaded<T> {
    /// Microseconds since 1970-01-01 UTC.
    pub now: i64,
    data: Box<RawValue>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    parts: Vec<String>,
    #[serde(skip)]
    of: PhantomData<fn() -> T>,
}

/// What every page's server function answers.
pub type Answer<T> = Result<Loaded<T>, Failure>;

/// The parts of a page that the server drew, in the order in which it did.
#[derive(Debug, Clone, Default)]
pub struct Parts(Arc<Vec<String>>);

impl Parts {
    /// The part at a place; empty while a page is taken over, whose document has it already.
    pub fn part(&self, place: usize) -> Still {
        Still::new(self.0.get(place).cloned().unwrap_or_default())
    }
}

impl From<Vec<String>> for Parts {
    fn from(parts: Vec<String>) -> Self {
        Self(Arc::new(parts))
    }
}

#[cfg(feature = "ssr")]
impl<T: Serialize> Loaded<T> {
    /// What a page shows, as of `now`, with the parts drawn of it.
    ///
    /// # Errors
    /// `S-INTERNAL` when the data cannot be written as JSON, which no page's can.
    pub fn new(now: i64, data: &T, parts: Vec<String>) -> Answer<T> {
        let data = serde_json::value::to_raw_value(data).map_err(|error| {
            tracing::error!(%error, "a page's data could not be written");
            Failure::internal()
        })?;
        Ok(Self {
            now,
            data,
            parts,
            of: PhantomData,
        })
    }
}

impl<T: DeserializeOwned> Loaded<T> {
    /// What the page shows.
    ///
    /// # Errors
    /// `S-INTERNAL` when the server's answer is of another version.
    pub fn open(&self) -> Result<T, Failure> {
        read(&self.data)
    }

    /// What the server drew of it.
    pub fn parts(self) -> Parts {
        self.parts.into()
    }
}

fn read<T: DeserializeOwned>(data: &RawValue) -> Result<T, Failure> {
    serde_json::from_str(data.get()).map_err(|_| Failure::other_version())
}

/// Any page's answer as its resource keeps it. The drawn parts are not sent a second time: the document has them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Kept {
    now: i64,
    data: Box<RawValue>,
    #[serde(skip)]
    parts: Parts,
}

impl<T> From<Loaded<T>> for Kept {
    fn from(loaded: Loaded<T>) -> Self {
        Self {
            now: loaded.now,
            data: loaded.data,
            parts: loaded.parts.into(),
        }
    }
}

/// The resource of a page.
pub type PageResource = Resource<Result<Kept, Failure>>;

type Fetch = Pin<Box<dyn Future<Output = Result<Kept, Failure>> + Send>>;

/// A page's data, asked for anew by the server function that `ask` gives whenever `key` changes.
pub fn resource<K, S, T>(
    key: impl Fn() -> K + Clone + Send + Sync + 'static,
    ask: impl Fn(K) -> S + Send + Sync + 'static,
) -> PageResource
where
    K: Debug + 'static,
    S: ServerFn<Output = Loaded<T>, Error = Failure> + Serialize + 'static,
    T: 'static,
{
    let source = key.clone();
    made(
        Box::new(move || format!("{:?}", source())),
        Box::new(move || {
            let input = ask(untrack(&key));
            let answer = crate::ask::page(input);
            Box::pin(async move { answer.await.map(Kept::from) })
        }),
    )
}

fn made(
    source: Box<dyn Fn() -> String + Send + Sync>,
    fetch: Box<dyn Fn() -> Fetch + Send + Sync>,
) -> PageResource {
    Resource::new(source, move |_| fetch())
}

/// Shows a page once its data is there: bones while it is not, the fault's page when it failed. While the address changes
/// within the page, the old view stays until the new data is there.
pub fn page<T, V>(
    resource: PageResource,
    label: &'static str,
    view: impl Fn(T, Parts) -> V + Send + Sync + 'static,
) -> AnyView
where
    T: DeserializeOwned,
    V: IntoAny,
{
    shown(
        resource,
        label,
        Arc::new(move |kept| {
            let data = read(&kept.data)?;
            Ok(view(data, kept.parts.clone()).into_any())
        }),
    )
}

/// Shows a page of which everything is drawn by the server. Its data is its title.
pub fn still_page(resource: PageResource, label: &'static str) -> AnyView {
    page(resource, label, |title: String, parts| {
        view! {
            <Title text=title/>
            <StillPart part=parts.part(0)/>
        }
    })
}

type View = Arc<dyn Fn(&Kept) -> Result<AnyView, Failure> + Send + Sync>;

fn shown(resource: PageResource, label: &'static str, view: View) -> AnyView {
    let clock = use_context::<Clock>();
    view! {
        <Transition fallback=move || {
            view! { <div class="wrap pt-8"><Skeleton label=label/></div> }
        }>
            {move || {
                let view = Arc::clone(&view);
                Suspend::new(async move {
                    let shown = resource
                        .await
                        .and_then(|kept| {
                            if let Some(clock) = clock {
                                clock.0.set(kept.now);
                            }
                            view(&kept)
                        });
                    shown
                        .unwrap_or_else(|Failure(fault)| {
                            status(fault.code);
                            view! { <FaultPage fault/> }.into_any()
                        })
                })
            }}
        </Transition>
    }
    .into_any()
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
