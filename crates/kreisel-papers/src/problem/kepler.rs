//! A small mass around a large one on an ellipse: slow when far, fast when near.
//!
//! r̈ = −r/|r|³, so the period of an orbit with half axis 1 is 2π. With the eccentric anomaly E of Kepler's
//! equation t = E − e sin E, counted from the nearest point, x = cos E − e and y = √(1 − e²) sin E.

use kreisel::dae::{Dae, Initial, Point, Residual, Shape};
use kreisel::lie::Space;

/// An orbit of half axis 1 in the plane.
#[derive(Clone, Copy, Debug)]
pub struct Kepler {
    /// Eccentricity e, from 0 for a circle to below 1.
    pub eccentricity: f64,
}

impl Kepler {
    /// Initial values at the farthest point.
    pub fn initial(&self) -> Initial {
        let (q, v) = self.solution(0.0);
        Initial::new(0.0, q, v)
    }

    /// Position and velocity at a time after the farthest point.
    pub fn solution(&self, time: f64) -> ([f64; 2], [f64; 2]) {
        let e = self.eccentricity;
        let mean = time + std::f64::consts::PI;
        let mut anomaly = mean;
        // E lies within e of the mean anomaly; 60 halvings reach round-off.
        let (mut low, mut high) = (mean - e, mean + e);
        for _ in 0..60 {
            anomaly = 0.5 * (low + high);
            if anomaly - e * anomaly.sin() > mean {
                high = anomaly;
            } else {
                low = anomaly;
            }
        }
        let (sin, cos) = anomaly.sin_cos();
        let (rate, minor) = (1.0 / (1.0 - e * cos), (1.0 - e * e).sqrt());
        ([cos - e, minor * sin], [-sin * rate, minor * cos * rate])
    }
}

impl Dae for Kepler {
    fn shape(&self) -> Shape {
        Shape::new(Space::vector(2))
    }

    fn residual(&self, at: &Point, out: &mut Residual) {
        let (q, a) = (at.configuration, at.acceleration);
        let cube = (q[0] * q[0] + q[1] * q[1]).powf(1.5);
        out.equilibrium[0] = a[0] + q[0] / cube;
        out.equilibrium[1] = a[1] + q[1] / cube;
    }
}
