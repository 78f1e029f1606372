//! A force of one's own: air drag that grows with the square of the speed, as an element outside the library.

#![allow(clippy::print_stdout, reason = "an example shows its result")]

// ANCHOR: force
use kreisel::element::{Element, ElementFacts, Forces};
use kreisel::kinematics::{Motion, NodeId};

/// Drag −c |v| v at the centre of mass of a body.
pub struct Drag {
    /// The body's node.
    pub node: [NodeId; 1],
    /// c in N s²/m².
    pub coefficient: f64,
}

impl Element for Drag {
    fn facts(&self) -> ElementFacts<'_> {
        ElementFacts::on(&self.node)
    }

    fn evaluate(&self, at: &Motion, out: &mut Forces) {
        let velocity = at.nodes[0].linear_velocity();
        // Velocities and forces are in body axes; what slows the body down stands with a plus.
        if let Some(wrenches) = out.wrenches.take() {
            let mut force = wrenches[0].fixed_rows_mut::<3>(3);
            force += self.coefficient * velocity.norm() * velocity;
        }
        // What the drag takes out of the machine; without this the energy balance does not close.
        if let Some(power) = out.power.take() {
            power.dissipated = self.coefficient * velocity.norm().powi(3);
        }
    }
}
// ANCHOR_END: force

// ANCHOR: run
use kreisel::element::Body;
use kreisel::integrate::{INDEX3, Integrator};
use kreisel::lie::{Group, Matrix3, Pose, Vector3, Vector6};
use kreisel::system::SystemBuilder;

/// Drops a ball of 0.1 kg for 3 s and gives the error against v = v∞ tanh(g t / v∞).
pub fn run() -> Result<f64, Box<dyn std::error::Error>> {
    let (mass, coefficient, gravity) = (0.1, 0.01, 9.81);
    let mut builder = SystemBuilder::new();
    let ball = builder.node("ball", Group::Se3, Pose::identity(), Vector6::zeros());
    let weight = Vector3::new(0.0, 0.0, -gravity);
    builder.element("ball", Body::new(ball, mass, 1e-4 * Matrix3::identity(), weight));
    builder.element("drag", Drag { node: [ball], coefficient });
    let (system, initial) = builder.build(0.0)?;
    let mut run = Integrator::new(INDEX3, 0.9, 1e-3)?.start(&system, initial)?;
    run.advance(3.0)?;
    let limit = (mass * gravity / coefficient).sqrt();
    let exact = -limit * (gravity * 3.0 / limit).tanh();
    Ok((run.values().velocity[5] - exact).abs())
}
// ANCHOR_END: run

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("falling speed is met to {:.1e} m/s", run()?);
    Ok(())
}
