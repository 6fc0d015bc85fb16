//! What the browser runs: takes over the page that the server rendered.

use wasm_bindgen::prelude::wasm_bindgen;

/// Called once by the page's own script, after the module was loaded.
#[wasm_bindgen]
pub async fn hydrate() {
    console_error_panic_hook::set_once();
    evalkit_app::app::take_over().await;
}
