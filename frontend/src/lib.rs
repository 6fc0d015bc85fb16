//! What the browser runs: takes over the page that the server rendered.

use wasm_bindgen::prelude::wasm_bindgen;

/// Called once by the page's own script, after the module was loaded.
#[wasm_bindgen]
pub fn hydrate() {
    console_error_panic_hook::set_once();
    leptos::mount::hydrate_body(evalkit_app::App);
}
