//! A joint of one's own: a point that must stay on a parabola, outside the library.

#![allow(clippy::print_stdout, reason = "an example shows its result")]

// ANCHOR: joint
use kreisel::joint::{Joint, JointFacts, Rows};
use kreisel::kinematics::{Motion, NodeId};
use kreisel::lie::{Vector3, Vector6};

/// The body's origin stays on the curve z = x²/(2 r), y = 0 of the world.
struct OnParabola {
    node: [NodeId; 1],
    /// Radius r of curvature at the lowest point, in m.
    radius: f64,
}

impl Joint for OnParabola {
    fn facts(&self) -> JointFacts<'_> {
        JointFacts::new(&self.node, 2)
    }

    fn evaluate(&self, at: &Motion, out: &mut Rows) {
        let (node, x) = (&at.nodes[0], at.nodes[0].pose.position);
        if let Some(violation) = out.holonomic.violation.take() {
            violation[0] = x.z - x.x * x.x / (2.0 * self.radius);
            violation[1] = x.y;
        }
        // Gradients along the twist in body axes: a gradient in world axes turned by Rᵀ.
        if let Some(gradient) = out.holonomic.gradient.take() {
            let world = [Vector3::new(-x.x / self.radius, 0.0, 1.0), Vector3::y()];
            for (row, gradient) in gradient.rows.iter_mut().zip(world) {
                let body = node.rotation.tr_mul(&gradient);
                row[0] = Vector6::new(0.0, 0.0, 0.0, body.x, body.y, body.z);
            }
        }
    }
}
// ANCHOR_END: joint

// ANCHOR: run
use kreisel::element::Body;
use kreisel::integrate::{INDEX2, Integrator};
use kreisel::lie::{Group, Matrix3, Pose, UnitQuaternion};
use kreisel::system::SystemBuilder;

/// Lets a bead swing on the parabola and gives the change of its energy over 5 s, relative to what it has to
/// swing.
pub fn run() -> Result<f64, Box<dyn std::error::Error>> {
    let (mass, radius, gravity) = (0.5, 1.0, 9.81);
    let mut builder = SystemBuilder::new();
    let start = Pose::new(UnitQuaternion::identity(), Vector3::new(0.8, 0.0, 0.32));
    let bead = builder.node("bead", Group::Se3, start, Vector6::zeros());
    let weight = Vector3::new(0.0, 0.0, -gravity);
    builder.element("bead", Body::new(bead, mass, 1e-3 * Matrix3::identity(), weight));
    builder.joint("wire", OnParabola { node: [bead], radius });
    let (system, initial) = builder.build(0.0)?;
    let mut run = Integrator::new(INDEX2, 1.0, 1e-3)?.start(&system, initial)?;
    run.advance(5.0)?;
    let (q, v) = (&run.values().configuration, &run.values().velocity);
    let kinetic = 0.5 * mass * v[3..].iter().map(|v| v * v).sum::<f64>();
    Ok(((kinetic + mass * gravity * q[6]) / (mass * gravity * 0.32) - 1.0).abs())
}
// ANCHOR_END: run

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("energy on the wire is kept to {:.1e}", run()?);
    Ok(())
}
