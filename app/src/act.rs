//! Acts: forms that ask the server to do something. Without script the browser sends them by itself and the server leads on;
//! with script they are sent in place, once, and what came back is shown beside them.

use evalkit_core::error::Fault;
use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use leptos::server_fn::error::ServerFnUrlError;
use serde::de::DeserializeOwned;

use crate::failure::Failure;

/// What a server function does, and how the last form that asked for it fared.
#[derive(Debug, Clone, Copy)]
pub struct Act {
    url: &'static str,
    pending: RwSignal<bool>,
    done: RwSignal<usize>,
    said: RwSignal<Option<Result<String, Fault>>>,
}

impl Act {
    /// The act of a server function. On the server it knows what a form without script was refused for.
    pub fn of<S: ServerFn<Error = Failure>>() -> Self {
        let refused = use_context::<leptos::server::ServerActionError>()
            .filter(|error| error.path() == S::PATH)
            .map(|error| Err(ServerFnUrlError::<Failure>::decode_err(error.err()).0));
        Self {
            url: S::url(),
            pending: RwSignal::new(false),
            done: RwSignal::new(0),
            said: RwSignal::new(refused),
        }
    }

    /// It was asked for and has not answered.
    pub fn pending(self) -> Signal<bool> {
        self.pending.into()
    }

    /// How often it was done.
    pub fn done(self) -> usize {
        self.done.get()
    }

    /// Why it was refused the last time.
    pub fn refused(self) -> Signal<Option<Fault>> {
        let said = self.said;
        Signal::derive(move || said.with(|said| said.as_ref()?.as_ref().err().cloned()))
    }

    /// What it answered the last time.
    pub fn answer<T: DeserializeOwned>(self) -> Option<T> {
        self.said.with(|said| {
            let text = said.as_ref()?.as_ref().ok()?;
            serde_json::from_str(text).ok()
        })
    }
}

/// The form of an act.
#[component]
pub fn ActForm(
    /// What it asks for.
    act: Act,
    /// Its fields and its button.
    children: Children,
) -> impl IntoView {
    #[cfg(feature = "hydrate")]
    let navigate = StoredValue::new(leptos_router::hooks::use_navigate());
    view! {
        <form
            method="post"
            action=act.url
            on:submit=move |event| {
                #[cfg(feature = "hydrate")]
                browser::send(act, &event, navigate.get_value());
                #[cfg(not(feature = "hydrate"))]
                let _ = event;
            }
        >
            {children()}
        </form>
    }
}

#[cfg(feature = "hydrate")]
mod browser {
    use leptos::ev::SubmitEvent;
    use leptos::prelude::*;
    use leptos::task::spawn_local;
    use leptos_router::NavigateOptions;
    use wasm_bindgen::JsCast;

    use super::Act;
    use crate::ask::browser::post;

    const FORM: &str = "application/x-www-form-urlencoded";

    /// Sends the form in place. A second press while the first is on its way does nothing.
    pub fn send(act: Act, event: &SubmitEvent, navigate: impl Fn(&str, NavigateOptions) + 'static) {
        let Some(body) = fields(event) else {
            // The browser sends it by itself.
            return;
        };
        event.prevent_default();
        if act.pending.get_untracked() {
            return;
        }
        act.pending.set(true);
        act.said.set(None);
        spawn_local(async move {
            let reply = post(act.url, FORM, &body).await;
            // The page may have been left meanwhile.
            if act.pending.try_set(false).is_some() {
                return;
            }
            match reply {
                Ok(reply) => {
                    act.said.set(Some(Ok(reply.text)));
                    act.done.update(|n| *n += 1);
                    if let Some(to) = reply.redirect {
                        navigate(&to, NavigateOptions::default());
                    }
                }
                Err(failure) => act.said.set(Some(Err(failure.0))),
            }
        });
    }

    fn fields(event: &SubmitEvent) -> Option<String> {
        let form: web_sys::HtmlFormElement = event.target()?.dyn_into().ok()?;
        let data = web_sys::FormData::new_with_form(&form).ok()?;
        if let Some(button) = event.submitter()
            && let Some(name) = button.get_attribute("name")
        {
            let value = button.get_attribute("value").unwrap_or_default();
            data.append_with_str(&name, &value).ok()?;
        }
        let pairs = web_sys::UrlSearchParams::new_with_str_sequence_sequence(&data).ok()?;
        Some(String::from(pairs.to_string()))
    }
}
