//! The contract of every kind of part, on the machine of its sample at random motions: derivatives are those
//! of the equations, power is stored, lost or applied, and a machine without ground does not see where it is.
//!
//! A new kind is checked without a line here.

#![allow(clippy::unwrap_used, reason = "a failure is the message")]

use kreisel::dae::{Dae, Values};
use kreisel::kinematics::NodeId;
use kreisel::lie::{Group, Pose, UnitQuaternion, Vector3, space};
use kreisel::machine::{Machine, PartEntry};
use kreisel::model::Document;
use kreisel::part::{kinds, parts};
use kreisel::run::RunEnding;
use kreisel::system::System;

use crate::common::sample_machine;
use crate::system::{all_equations, check_derivatives, noise};

/// Random motions of each sample: enough for shapes that touch in every fourth.
const MOTIONS: u64 = 24;

/// A motion near the initial one, whatever the constraints say. What the machine remembers is that of its
/// start.
fn random_motion(machine: &Machine, seed: u64) -> Values {
    let plan = machine.plan().unwrap();
    let mut motion = machine.start(&plan).unwrap().integration().values().clone();
    let mut next = noise(seed);
    let mut numbers = |count: usize, size: f64| -> Vec<f64> { (0..count).map(|_| size * next()).collect() };
    let space = machine.system().shape().space;
    let (start, count) = (motion.configuration.clone(), motion.velocity.len());
    space.compose_exp(&start, &numbers(count, 0.2), &mut motion.configuration);
    motion.time = 0.3;
    motion.velocity = numbers(count, 1.0);
    motion.acceleration = numbers(count, 2.0);
    motion.multipliers = numbers(motion.multipliers.len(), 5.0);
    motion.nonholonomic_multipliers = numbers(motion.nonholonomic_multipliers.len(), 5.0);
    motion.internal_states = numbers(motion.internal_states.len(), 1.0);
    motion
}

/// Every sample with its random motions.
fn for_all(mut check: impl FnMut(&PartEntry, &System, &Values)) {
    for entry in parts() {
        let machine = sample_machine(entry, entry.sample);
        for seed in 1..=MOTIONS {
            check(entry, machine.system(), &random_motion(&machine, seed));
        }
    }
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |largest, value| largest.max(value.abs()))
}

#[test]
fn every_sample_has_its_part_and_can_be_run() {
    for entry in parts() {
        let document = Document::from_text("sample", entry.sample, &kinds(), &[]).unwrap();
        assert!(document.parts_of(entry.kind.name).next().is_some(), "{}", entry.kind.name);
        let machine = sample_machine(entry, entry.sample);
        let plan = machine.plan().unwrap();
        let mut run = machine.start(&plan).unwrap_or_else(|error| panic!("{}: {error}", entry.kind.name));
        let ending = run.advance_to(plan.end_time / 100.0, &mut ());
        assert_eq!(ending, RunEnding::Done, "{}", entry.kind.name);
    }
}

#[test]
fn derivatives_of_every_part_are_those_of_its_equations() {
    for_all(|entry, system, motion| {
        let size = largest(&all_equations(system, &motion.point()));
        check_derivatives(entry.kind.name, system, &motion.point(), size);
    });
}

/// Step of the difference of energies: ε E/δ and δ² are both about 1e-10.
const STEP: f64 = 1e-5;

/// Change of the stored energy along a motion.
fn storing(system: &System, motion: &Values) -> f64 {
    let energy = |time: f64| {
        let mut moved = motion.clone();
        moved.time += time;
        let increment: Vec<f64> = motion.velocity.iter().map(|v| time * v).collect();
        system.shape().space.compose_exp(&motion.configuration, &increment, &mut moved.configuration);
        moved.velocity.iter_mut().zip(&motion.acceleration).for_each(|(v, a)| *v += time * a);
        system.energies(&moved.point()).total()
    };
    (energy(STEP) - energy(-STEP)) / (2.0 * STEP)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[test]
fn power_through_every_part_is_stored_lost_or_applied() {
    for_all(|entry, system, motion| {
        let (at, shape) = (motion.point(), system.shape());
        let found = all_equations(system, &at);
        let (equilibrium, rest) = found.split_at(shape.velocity_count());
        let nonholonomic = &rest[shape.constraint_count()..][..shape.nonholonomic_count()];
        let hidden = &rest[rest.len() - shape.constraint_count()..];
        // r·v = dE/dt + lost − applied + λ·(B v + Φ_t) + ψ·κ: the last two vanish where the constraints hold.
        let power = system.power(&at);
        let reactions =
            dot(&motion.multipliers, hidden) + dot(&motion.nonholonomic_multipliers, nonholonomic);
        let storing = storing(system, motion);
        let taken = dot(equilibrium, &motion.velocity);
        let balance = taken - (storing + power.dissipated - power.applied + reactions);
        let size: f64 =
            1.0 + equilibrium.iter().zip(&motion.velocity).map(|(r, v)| (r * v).abs()).sum::<f64>();
        // The difference of energies is good to 1e-9 of what is stored in a second; stiff springs have more.
        assert!(balance.abs() < 1e-7 * size, "{}: {balance:e} of {taken}", entry.kind.name);
        // A carcass or bristles, bent as their states say, give back some of what they took.
        let gives_back = !shape.internal_states.is_empty();
        assert!(gives_back || power.dissipated >= 0.0, "{} dissipates {}", entry.kind.name, power.dissipated);
    });
}

/// Words by which a sample names directions of the world.
const WORLD: [&str; 3] = ["[[force]]", ".position.", ".velocity."];

/// The sample with a free body in the place of the ground, and without weight.
fn without_ground(entry: &PartEntry) -> Option<Machine> {
    if WORLD.iter().any(|word| entry.sample.contains(word)) {
        return None;
    }
    let base =
        "[[body]]\nname = 'base'\nmass = 2\ninertia = [1, 2, 2]\nshape = { kind = 'sphere', radius = 0.3 }\n";
    let gravity =
        if entry.sample.contains("[gravity]") { "" } else { "[gravity]\nacceleration = [0, 0, 0]\n" };
    let (head, parts) = entry.sample.split_at(entry.sample.find("[[").unwrap());
    Some(sample_machine(entry, &format!("{head}{gravity}{base}{}", parts.replace("'ground'", "'base'"))))
}

/// Turns the part of a vector of velocities or forces that has world axes.
fn turned(system: &System, vector: &mut [f64], turn: &UnitQuaternion) {
    let space = system.shape().space;
    for node in 0..system.node_count() {
        let range = space.velocity_range(node);
        let part = match system.node_group(NodeId(node)) {
            Group::Se3 => continue,
            // Rotation in body axes, then translation in those of the world.
            Group::So3xR3 => &mut vector[range][3..],
            _ => &mut vector[range],
        };
        let in_world = turn * space::vector3(part);
        space::write_vector3(&in_world, part);
    }
}

#[test]
fn a_machine_without_ground_moves_alike_wherever_it_is() {
    let mut checked = Vec::new();
    let world = Pose::new(
        UnitQuaternion::from_scaled_axis(Vector3::new(0.8, -1.1, 0.5)),
        Vector3::new(3.0, -2.0, 1.0),
    );
    for entry in parts() {
        let Some(machine) = without_ground(entry) else { continue };
        let system = machine.system();
        let space = system.shape().space;
        for seed in 1..=MOTIONS {
            let here = random_motion(&machine, seed);
            let mut there = here.clone();
            for node in 0..system.node_count() {
                let q = &mut there.configuration[space.coordinate_range(node)];
                match system.node_group(NodeId(node)) {
                    Group::Vector(_) => space::write_vector3(&world.transform_point(&space::vector3(q)), q),
                    _ => space::write_pose(&world.compose(&space::pose(q)), q),
                }
            }
            turned(system, &mut there.velocity, &world.rotation);
            turned(system, &mut there.acceleration, &world.rotation);
            let mut expected = all_equations(system, &here.point());
            turned(system, &mut expected, &world.rotation);
            let found = all_equations(system, &there.point());
            let size = 1.0 + largest(&expected);
            for (index, (expected, found)) in expected.iter().zip(&found).enumerate() {
                // Positions of 4 m are rounded at 1e-15 m; stiffnesses up to 1e5 times the forces multiply
                // this.
                let error = (expected - found).abs();
                assert!(error < 1e-10 * size, "{}: equation {index}: {expected} {found}", entry.kind.name);
            }
        }
        checked.push(entry.kind.name);
    }
    assert!(checked.len() > 30, "{checked:?}");
}
