//! Fields: label above, hint below, error in words.

use leptos::prelude::*;

/// A label.
#[component]
pub fn Label(
    /// The field's id.
    #[prop(into)]
    of: String,
    /// Its words.
    children: Children,
) -> impl IntoView {
    view! { <label class="label" for=of>{children()}</label> }
}

/// A field with its label, hint and error around it. The field itself gets `id`; name the hint with
/// `aria-describedby="{id}-hint"` and the error with `"{id}-error"`.
#[component]
pub fn Field(
    /// The field's id.
    #[prop(into)]
    id: String,
    /// Its label.
    #[prop(into)]
    label: String,
    /// Said below it; nothing when empty.
    #[prop(optional, into)]
    hint: String,
    /// What is wrong with it, in words.
    #[prop(optional, into)]
    error: Signal<Option<String>>,
    /// The field.
    children: Children,
) -> impl IntoView {
    let error_id = format!("{id}-error");
    let hint_id = format!("{id}-hint");
    view! {
        <div>
            <Label of=id>{label}</Label>
            {children()}
            <p class="text-sm text-inc mt-1 empty:hidden" id=error_id>{move || error.get()}</p>
            {(!hint.is_empty()).then(|| view! { <p class="hint mt-1" id=hint_id>{hint}</p> })}
        </div>
    }
}

/// A line of text with its label.
#[component]
pub fn FieldText(
    /// The name in the form; also the field's id.
    name: &'static str,
    /// Its label.
    #[prop(into)]
    label: String,
    /// Said below it.
    #[prop(optional, into)]
    hint: String,
    /// What is wrong, in words.
    #[prop(optional, into)]
    error: Signal<Option<String>>,
    /// What stands in it.
    #[prop(optional, into)]
    value: String,
    /// `text`, `password`, `url`, `number`.
    #[prop(default = "text")]
    kind: &'static str,
    /// `username`, `current-password`, `new-password`, `off`.
    #[prop(default = "off")]
    autocomplete: &'static str,
    /// Shown while it is empty.
    #[prop(optional, into)]
    placeholder: Option<String>,
    /// Must be filled.
    #[prop(default = true)]
    required: bool,
    /// At most so many characters.
    #[prop(optional)]
    max: Option<u32>,
) -> impl IntoView {
    let described = if hint.is_empty() {
        format!("{name}-error")
    } else {
        format!("{name}-error {name}-hint")
    };
    view! {
        <Field id=name label hint=hint error>
            <input
                class="field"
                class=("border-inc", move || error.read().is_some())
                id=name
                name=name
                type=kind
                value=value
                autocomplete=autocomplete
                placeholder=placeholder
                required=required
                maxlength=max.map(|n| n.to_string())
                aria-invalid=move || error.read().is_some().then_some("true")
                aria-describedby=described
                spellcheck="false"
                autocapitalize="none"
            />
        </Field>
    }
}

/// A choice among few.
#[component]
pub fn Select(
    /// The name in the form; also the field's id.
    name: &'static str,
    /// Its label.
    #[prop(into)]
    label: String,
    /// Value and word of each choice.
    options: Vec<(String, String)>,
    /// The chosen value.
    #[prop(optional, into)]
    value: String,
    /// Said below it.
    #[prop(optional, into)]
    hint: String,
) -> impl IntoView {
    view! {
        <Field id=name label hint=hint>
            <select class="field" id=name name=name>
                {options
                    .into_iter()
                    .map(|(key, word)| {
                        let selected = key == value;
                        view! { <option value=key selected=selected>{word}</option> }
                    })
                    .collect_view()}
            </select>
        </Field>
    }
}

/// A text of several lines. Leptos 0.8 writes the children of `<textarea>` unescaped; this one escapes them itself, so
/// always use it.
#[component]
pub fn Textarea(
    /// The name in the form; also the field's id.
    name: &'static str,
    /// Its label.
    #[prop(into)]
    label: String,
    /// What stands in it, untrusted.
    #[prop(optional, into)]
    value: String,
    /// Said below it.
    #[prop(optional, into)]
    hint: String,
    /// Lines shown.
    #[prop(default = 3)]
    rows: u32,
) -> impl IntoView {
    view! {
        <Field id=name label hint=hint>
            <textarea class="field" id=name name=name rows=rows inner_html=textarea_html(&value)></textarea>
        </Field>
    }
}

/// The escaped content of a `<textarea>`. A first line feed is doubled, because HTML drops one.
fn textarea_html(value: &str) -> String {
    let mut out = String::with_capacity(value.len() + 8);
    if value.starts_with('\n') {
        out.push('\n');
    }
    for c in value.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::textarea_html;

    #[test]
    fn a_textarea_cannot_be_left() {
        assert_eq!(
            textarea_html("</textarea><script>alert(1)</script>"),
            "&lt;/textarea&gt;&lt;script&gt;alert(1)&lt;/script&gt;"
        );
        assert_eq!(textarea_html("\na & 'b'"), "\n\na &amp; &#39;b&#39;");
    }
}
