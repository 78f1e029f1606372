//! The woodpecker toy: a sleeve that jams and slides on a pole, a bird on a spring that knocks against it.
//!
//! Data and states of the Siconos project lie beside the project, in `../shared/validation/woodpecker_toy`; where they do not,
//! there is nothing to compare with. The toy is three linear coordinates with three contacts; impacts there are instants, here
//! stiff laws of some ten microseconds.

use std::path::Path;

use kreisel::dae::{Dae, Equations, Point, Shape};
use kreisel::element::contact::NormalLaw;
use kreisel::integrate::{ErrorControl, GeneralizedAlpha, Initial, Method, Parameters, Settings};
use kreisel::lie::Space;
use serde_json::Value;

/// Gap g₀ + w·q, tangential velocity t·v, friction and normal law.
struct Touching {
    gap: f64,
    normal: [f64; 3],
    tangent: [f64; 3],
    friction: f64,
    law: NormalLaw,
}

struct Toy {
    mass: [[f64; 3]; 3],
    spring: f64,
    weight: [f64; 3],
    contacts: [Touching; 3],
}

/// Speed below which friction is not fully developed; the toy creeps by less than it times the length of a jam.
const CREEP: f64 = 2e-4;

fn dot(a: &[f64; 3], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl Toy {
    fn new(problem: &Value) -> Self {
        let number = |table: &str, key: &str| problem[table][key].as_f64().unwrap();
        let length = |key: &str| number("geometry", key);
        let [l_m, l_g, h_s, l_s] = ["l_M", "l_G", "h_S", "l_S"].map(length);
        let [h_m, r_m, r_o] = ["h_M", "r_M", "r_O"].map(length);
        let (sleeve, bird) = (number("masses", "m_M"), number("masses", "m_S"));
        let (j_m, j_s) = (number("inertias", "J_M"), number("inertias", "J_S"));
        let g = problem["g"].as_f64().unwrap();
        let restitution = |index: usize| problem["contacts"][index]["restitution"].as_f64().unwrap();
        let friction = |index: usize| problem["contacts"][index]["mu"].as_f64().unwrap();
        // Depths stay below some micrometres; without rebound a strong damper takes the place of a restitution of zero.
        let law = |index: usize| match restitution(index) {
            0.0 => NormalLaw::Linear { stiffness: 4e7, damping: 1500.0, transition: 1e-8 },
            e => NormalLaw::hertz(2e11, e, 1e-3),
        };
        let contact = |index: usize, gap: f64, normal: [f64; 3], tangent: [f64; 3]| Touching {
            gap,
            normal,
            tangent,
            friction: friction(index),
            law: law(index),
        };
        Self {
            mass: [
                [bird + sleeve, bird * l_m, bird * l_g],
                [bird * l_m, j_m + bird * l_m * l_m, bird * l_m * l_g],
                [bird * l_g, bird * l_m * l_g, j_s + bird * l_g * l_g],
            ],
            spring: problem["spring_c_phi"].as_f64().unwrap(),
            weight: [-(bird + sleeve) * g, -bird * l_m * g, -bird * l_g * g],
            contacts: [
                contact(0, l_m + l_g - l_s - r_o, [0.0, 0.0, -h_s], [1.0, l_m, l_g - l_s]),
                contact(1, r_m - r_o, [0.0, h_m, 0.0], [1.0, r_m, 0.0]),
                contact(2, r_m - r_o, [0.0, -h_m, 0.0], [1.0, r_m, 0.0]),
            ],
        }
    }
}

impl Dae for Toy {
    fn shape(&self) -> Shape {
        Shape::new(Space::vector(3)).with_memory(3)
    }

    fn evaluate(&self, at: &Point, out: &mut Equations) {
        let (q, v) = (at.configuration, at.velocity);
        let twist = self.spring * (q[1] - q[2]);
        let elastic = [0.0, twist, -twist];
        for (i, elastic) in elastic.iter().enumerate() {
            out.equilibrium[i] = dot(&self.mass[i], at.acceleration) + elastic - self.weight[i];
        }
        for (contact, speed) in self.contacts.iter().zip(at.memory) {
            let depth = -contact.gap - dot(&contact.normal, q);
            let rate = -dot(&contact.normal, v);
            let pressing = contact.law.at(depth, rate, *speed, 1e-3).force;
            let rubbing = contact.friction * pressing * (dot(&contact.tangent, v) / CREEP).tanh();
            for i in 0..3 {
                out.equilibrium[i] -= pressing * contact.normal[i] - rubbing * contact.tangent[i];
            }
        }
    }

    /// The speed at which a contact closes, as long as it is open.
    fn remember(&self, at: &Point, memory: &mut [f64]) {
        for (contact, speed) in self.contacts.iter().zip(memory) {
            if contact.gap + dot(&contact.normal, at.configuration) > 0.0 {
                *speed = (-dot(&contact.normal, at.velocity)).max(0.0);
            }
        }
    }
}

/// Time in s of the first peck. Until then the toy slides, jams, is released and swings; at the peck two contacts meet at
/// once with friction, where Newton's restitution of the data and laws of depth and speed part.
const FIRST_PECK: f64 = 0.081;

#[test]
fn the_woodpecker_slides_jams_and_swings_as_published() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/validation/woodpecker_toy");
    let Ok(text) = std::fs::read_to_string(folder.join("case.json")) else {
        eprintln!("skipped: no data in {}", folder.display());
        return;
    };
    let case: Value = serde_json::from_str(&text).unwrap();
    let toy = Toy::new(&case["problem"]);
    let numbers = |value: &Value| -> Vec<f64> {
        value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
    };
    let initial = &case["problem"]["initial"];
    let mut settings = Settings::new(Method::Index2, Parameters::chung_hulbert(0.8).unwrap(), 1e-6);
    settings.error_control = Some(ErrorControl { atol: 1e-9, ..ErrorControl::new(1e-6, 0.3) });
    let start = Initial::new(0.0, numbers(&initial["q"]), numbers(&initial["v"]));
    let mut run = GeneralizedAlpha::with(settings).start(&toy, start).unwrap();
    for row in case["external_reference"][0]["value"].as_array().unwrap() {
        let row = numbers(row);
        if row[0] > FIRST_PECK {
            break;
        }
        run.advance(row[0]).unwrap();
        let q = &run.state().configuration;
        let errors = [q[0] - row[1], q[1] - row[3], q[2] - row[5]].map(f64::abs);
        // The data's own tolerances.
        assert!(errors[0] < 2e-4 && errors[1] < 5e-3 && errors[2] < 5e-3, "t = {}: {errors:?}", row[0]);
    }
}
