//! What the literature says of every model of `models/`.

#[path = "../common/mod.rs"]
mod common;
mod models;
