//! Experiments of [BrulsCardonaArnold2012, §7], one file each.

pub mod fig2;
pub mod fig4;
pub mod fig6;
mod flexible;
pub mod values;

pub use flexible::as_published;
