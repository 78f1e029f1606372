//! Velocity of the centre of mass in world axes and in body axes [ArnoldCardonaBruls2015, Fig. 4].
//!
//! u(t) on SO(3)×R³ changes slowly, U(t) on SE(3) turns with the top. They are the same velocity, u = R U, to
//! the accuracy of the integrator: their difference falls with h².

use super::super::heavy_top::{GROUPS, Moment, TopRun, over_time};
use super::super::{Check, ExperimentError, Outcome, Progress, Table, number};
use kreisel::integrate::{INDEX3, Start};
use kreisel::report::figure::{FigureStyle, Panel};

/// The paper's step size, and twice it to see the order.
const STEPS: [f64; 2] = [5e-5, 2.5e-5];

/// Runs both groups and turns one velocity into the other.
pub fn run(progress: &Progress) -> Result<Outcome, ExperimentError> {
    progress.expect(GROUPS.len() * STEPS.len());
    let mut outcome = Outcome::new(
        Table::new(["h", "max ‖u‖", "max ‖u − R U‖"]),
        FigureStyle::side_by_side([
            Panel::linear("world axes, from SO(3)×R³"),
            Panel::linear("body axes, from SE(3)"),
        ]),
    );
    let mut differences = Vec::new();
    for step in STEPS {
        let run = |group| {
            progress.advance();
            TopRun::new(group, INDEX3, step)?.starting(Start::OrderPreserving).run()
        };
        let [world, body] = [run(GROUPS[0])?, run(GROUPS[1])?];
        let pairs = || world.all().iter().zip(body.all());
        let difference = pairs().map(|(a, b)| (a.velocity - b.rotation * b.velocity).norm());
        let difference = difference.fold(0.0, f64::max);
        let speed = world.all().iter().map(|moment| moment.velocity.norm()).fold(0.0, f64::max);
        outcome.table.row([number(step), number(speed), number(difference)]);
        differences.push(difference / speed);
        if step == STEPS[1] {
            draw(&mut outcome, world.all(), body.all());
        }
    }
    // Errors of 0.16 in q at h = 1e-3 on SE(3) are 40² times smaller here; R U carries those of R.
    let name = "max ‖u − R U‖ / max ‖u‖ at h = 2.5e-5";
    outcome.check(Check::at_most(name, 0.16 / 1600.0, differences[1]));
    // At such small steps nothing but the leading term is seen.
    outcome.check(Check::slope("order of u − R U", 2.0, &STEPS, &differences, 0.05));
    Ok(outcome)
}

/// With as many points as a figure can show.
fn draw(outcome: &mut Outcome, world: &[Moment], body: &[Moment]) {
    let thinned = |moments: &[Moment]| moments.iter().step_by(40).cloned().collect::<Vec<_>>();
    let (world, body) = (thinned(world), thinned(body));
    for (component, digit) in ["₁", "₂", "₃"].iter().enumerate() {
        let of = |moment: &Moment| moment.velocity[component];
        outcome.curve(over_time(&format!("u{digit}"), &world, of, "velocity u [m/s]"));
        outcome.curve(over_time(&format!("U{digit}"), &body, of, "velocity U [m/s]").in_panel(1));
    }
}
