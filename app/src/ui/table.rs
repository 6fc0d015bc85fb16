//! Tables: hairlines only, figures right, wide ones scroll inside their own focusable region.

use leptos::prelude::*;

/// A region that scrolls sideways and takes focus.
#[component]
pub fn ScrollTable(
    /// What the table lists.
    #[prop(into)]
    label: String,
    /// Further classes.
    #[prop(optional, into)]
    class: String,
    /// The table.
    children: Children,
) -> impl IntoView {
    view! {
        <div class=format!("scroll-x {class}") tabindex="0" role="group" aria-label=label>
            {children()}
        </div>
    }
}

/// A column head that sorts by a link.
#[component]
pub fn SortHead(
    /// The column.
    #[prop(into)]
    name: String,
    /// Where a click leads.
    #[prop(into)]
    href: String,
    /// `ascending`, `descending`, or nothing when another column sorts.
    sorted: Option<&'static str>,
    /// Figures stand right.
    #[prop(optional)]
    num: bool,
    /// Further classes.
    #[prop(optional)]
    class: &'static str,
) -> impl IntoView {
    let arrow = match sorted {
        Some("ascending") => " ↑",
        Some(_) => " ↓",
        None => "",
    };
    view! {
        <th scope="col" class=class class:num=num aria-sort=sorted>
            <a class="quiet" href=href>{name}{arrow}</a>
        </th>
    }
}

/// Previous and next page, by links.
#[component]
pub fn Pager(
    /// From 1.
    page: u32,
    /// Rows a page.
    per_page: u32,
    /// Rows that fit.
    found: u64,
    /// The address of a page.
    href: impl Fn(u32) -> String + Send + Sync + 'static,
) -> impl IntoView {
    let page = page.max(1);
    let pages = found.div_ceil(u64::from(per_page.max(1))).max(1);
    let first = u64::from(page - 1) * u64::from(per_page) + 1;
    let last = (u64::from(page) * u64::from(per_page)).min(found);
    (pages > 1).then(|| {
        view! {
            <nav class="pager" aria-label="Pages">
                {(page > 1)
                    .then(|| view! { <a class="btn sm" rel="prev" href=href(page - 1)><super::Icon name="left"/>"Previous"</a> })}
                <span class="meta">
                    {super::grouped(first)} " to " {super::grouped(last)} " of " {super::grouped(found)}
                </span>
                {(u64::from(page) < pages)
                    .then(|| view! { <a class="btn sm" rel="next" href=href(page + 1)>"Next"<super::Icon name="right"/></a> })}
            </nav>
        }
    })
}
