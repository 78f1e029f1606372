//! Experiments of [ArnoldCardonaBruls2015], one file each.

pub mod eq53;
