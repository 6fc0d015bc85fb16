//! The bar: sign, workspace switch, places, theme, account. Menus are `<details>`, so they open without script.

use evalkit_core::view::session::Session;
use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use leptos_router::hooks::use_location;

use crate::pages::sign_in::SignOut;
use crate::theme::ThemeSwitch;
use crate::ui::{DialogOpener, Icon, Logo};

/// The bar.
#[component]
pub fn Bar(
    /// Who looks.
    session: StoredValue<Session>,
    /// The list of keys.
    keys_dialog: DialogOpener,
) -> impl IntoView {
    let location = use_location();
    let path = Memo::new(move |_| location.pathname.get());
    let (person, workspaces) =
        session.with_value(|session| (session.person.clone(), session.workspaces.clone()));
    let known = StoredValue::new(workspaces.clone());
    // The workspace of the address, else one's own.
    let here = Memo::new(move |_| {
        path.with(|path| {
            workspace_of(path)
                .filter(|name| known.with_value(|known| known.iter().any(|it| it == name)))
                .map(str::to_owned)
        })
        .or_else(|| known.with_value(|known| known.first().cloned()))
    });
    let signed_in = person.is_some();
    view! {
        <header class="bar">
            <div class="wrap">
                <a class="word" href="/"><Logo/>"Evalkit"</a>
                {signed_in
                    .then(|| {
                        view! {
                            <details class="menu hidden sm:block" name="bar">
                                <summary class="btn plain sm">
                                    <span class="sr-only">"Workspace: "</span>
                                    {move || here.get()}
                                    <Icon name="down"/>
                                </summary>
                                <div class="float">
                                    {workspaces
                                        .iter()
                                        .map(|name| {
                                            let (name, this, href) = (name.clone(), name.clone(), format!("/w/{name}"));
                                            view! {
                                                <a
                                                    class="menu-item id"
                                                    href=href
                                                    aria-current=move || {
                                                        (here.get().as_deref() == Some(this.as_str())).then_some("true")
                                                    }
                                                >
                                                    {name}
                                                </a>
                                            }
                                        })
                                        .collect_view()}
                                </div>
                            </details>
                            <nav class="places" aria-label="Main"><Places path here class=""/></nav>
                        }
                    })}
                <div class="ml-auto flex items-center gap-1.5">
                    <ThemeSwitch/>
                    {person
                        .map(|person| {
                            let (name, title) = (person.display_name.clone(), person.display_name.clone());
                            let initials = crate::ui::initials(&name);
                            view! {
                                <details class="menu right min-[900px]:hidden" name="bar">
                                    <summary class="btn plain sm">
                                        <Icon name="menu"/>
                                        <span class="sr-only">"Menu"</span>
                                    </summary>
                                    <nav class="float" aria-label="Main, narrow">
                                        <Places path here class="menu-item"/>
                                        <hr/>
                                        {workspaces
                                            .iter()
                                            .map(|name| {
                                                view! { <a class="menu-item id" href=format!("/w/{name}")>{name.clone()}</a> }
                                            })
                                            .collect_view()}
                                    </nav>
                                </details>
                                <details class="menu right" name="bar">
                                    <summary class="avatar" title=title>
                                        <span aria-hidden="true">{initials}</span>
                                        <span class="sr-only">"Account of " {name.clone()}</span>
                                    </summary>
                                    <div class="float">
                                        <p class="px-3.5 py-1.5">
                                            <span class="font-semibold block">{name}</span>
                                            <span class="meta">
                                                <span class="id">{person.name}</span>
                                                {person.owner.then_some(", owner of this server")}
                                            </span>
                                        </p>
                                        <hr/>
                                        <a class="menu-item" href="/settings/tokens"><Icon name="key"/>"Access tokens"</a>
                                        <button type="button" class="menu-item needs-script" on:click=move |_| keys_dialog.open()>
                                            <Icon name="note"/>
                                            "Keys"
                                        </button>
                                        // A full page load: everything of the session leaves the page with it.
                                        <form method="post" action=SignOut::url()>
                                            <button class="menu-item"><Icon name="out"/>"Sign out"</button>
                                        </form>
                                    </div>
                                </details>
                            }
                        })}
                </div>
            </div>
        </header>
    }
}

#[component]
fn Places(path: Memo<String>, here: Memo<Option<String>>, class: &'static str) -> impl IntoView {
    let place = move |name: &'static str, suffix: &'static str| {
        view! {
            <a
                class=class
                href=move || here.get().map_or_else(|| "/".to_owned(), |workspace| format!("/w/{workspace}{suffix}"))
                aria-current=move || (section(&path.read()) == name).then_some("page")
            >
                {name}
            </a>
        }
    };
    view! {
        <a class=class href="/" aria-current=move || (section(&path.read()) == "Home").then_some("page")>"Home"</a>
        {place("Datasets", "")}
        {place("Runs", "/runs")}
        {place("Agents", "/agents")}
    }
}

/// `ws` of `/w/ws/…`.
fn workspace_of(path: &str) -> Option<&str> {
    path.strip_prefix("/w/")?
        .split('/')
        .next()
        .filter(|name| !name.is_empty())
}

/// The place of the bar that a path belongs to.
fn section(path: &str) -> &'static str {
    if path == "/" {
        return "Home";
    }
    match path.strip_prefix("/w/").map(|rest| rest.split('/').nth(1)) {
        Some(None | Some("" | "d")) => "Datasets",
        Some(Some("runs")) => "Runs",
        Some(Some("agents")) => "Agents",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_paths() {
        assert_eq!(section("/"), "Home");
        assert_eq!(section("/w/research"), "Datasets");
        assert_eq!(section("/w/research/d/credit/c/a.b"), "Datasets");
        assert_eq!(section("/w/research/runs/4"), "Runs");
        assert_eq!(section("/w/research/agents"), "Agents");
        assert_eq!(section("/settings/tokens"), "");
        assert_eq!(workspace_of("/w/research/runs"), Some("research"));
        assert_eq!(workspace_of("/w/"), None);
        assert_eq!(workspace_of("/kit"), None);
    }
}
