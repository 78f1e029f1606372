//! Experiments of [BrulsCardonaArnold2012, §7], one file each.

pub mod fig2;
