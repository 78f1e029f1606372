//! What every machine must obey: forces, joints, contacts and beams against closed forms, energy and
//! independent computations.

mod assembly;
mod beams;
mod block_starts;
mod bodies;
#[path = "../common/mod.rs"]
mod common;
mod contact;
mod control;
mod counts;
mod couplings;
mod drives;
mod elements;
mod energy;
mod events;
mod forces;
mod forces_displacement;
mod joints;
mod jumps;
mod loops;
mod masses;
mod modes;
mod nonholonomic;
mod parts;
mod plane;
mod redundancy;
mod rolling;
mod start;
mod states;
mod statics;
mod system;
mod tyres;
mod work;
