//! What every machine must obey: forces, joints, contacts and beams against closed forms, energy and independent computations.

mod assembly;
mod beams;
#[path = "../common/mod.rs"]
mod common;
mod contact;
mod control;
mod drives;
mod elements;
mod energy;
mod events;
mod forces;
mod forces_displacement;
mod joints;
mod loops;
mod masses;
mod modes;
mod nonholonomic;
mod parts;
mod redundancy;
mod rolling;
mod states;
mod statics;
mod system;
