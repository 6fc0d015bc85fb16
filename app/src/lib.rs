//! The web app: pages, components and server functions, the same code on server (`ssr`) and in the browser (`hydrate`).
//!
//! Where a thing goes: a component that two pages use is in `ui`; what stands around every page is in `frame`; a page and
//! its server functions are one file of `pages`; how server functions reach the store and the engine is in `server`.

pub mod act;
pub mod app;
pub mod ask;
pub mod chunk;
pub mod failure;
pub mod frame;
pub mod load;
pub mod pages;
#[cfg(feature = "ssr")]
pub mod server;
pub mod session;
#[cfg(feature = "ssr")]
pub mod shell;
pub mod theme;
pub mod ui;

pub use app::App;
