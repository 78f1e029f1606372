//! Everything behind the `kreisel` command, as a library so that it can be tested without a process.
//!
//! [`command`] turns arguments into work and results into exit codes, one file per subcommand. [`reproduce`]
//! says which experiments of the papers are meant and what came out; `kreisel-papers` computes them.
//! [`shipped`] holds the models of `models/`. [`figure`] draws series as SVG and [`picture`] machines as PNG.
//! [`output`] is the only place that touches stdout and files.

pub mod command;
pub mod figure;
mod live;
pub mod output;
pub mod picture;
pub mod reproduce;
pub mod shipped;
mod signals;
mod sweep_page;
