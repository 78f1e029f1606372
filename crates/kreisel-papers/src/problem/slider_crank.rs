//! A planar slider-crank of three rigid bodies [JayNegrut2008, Fig. 5].
//!
//! Each body has the coordinates x, y of its centre and its angle: nine coordinates and eight constraints, of
//! which the first two pin the crank to the ground. The paper refers to another one for the data; the numbers
//! here are ordinary ones for a bench machine, chosen so that a turn takes about one second.

use kreisel::dae::{Dae, Initial, Point, Residual, Shape, Tangent, TangentWeights, Wanted};
use kreisel::lie::Space;
use kreisel::solve::block::BlockMatrix;

/// The slider-crank; bars are uniform and slender.
#[derive(Clone, Copy, Debug)]
pub struct SliderCrank {
    /// Length of the crank in m.
    pub crank: f64,
    /// Length of the connecting rod in m.
    pub rod: f64,
    /// Masses of crank, rod and slider in kg.
    pub masses: [f64; 3],
    /// Acceleration of gravity in m/s², along −y.
    pub gravity: f64,
}

impl Default for SliderCrank {
    fn default() -> Self {
        Self { crank: 0.15, rod: 0.35, masses: [0.36, 0.15, 0.1], gravity: 9.81 }
    }
}

impl SliderCrank {
    /// The crank at an angle, turning at a rate.
    pub fn initial(&self, angle: f64, rate: f64) -> Initial {
        let (sin, cos) = angle.sin_cos();
        // The rod's end lies on the line y = 0.
        let rod_sin = -self.crank * sin / self.rod;
        let rod_cos = (1.0 - rod_sin * rod_sin).sqrt();
        let rod_rate = -self.crank * cos * rate / (self.rod * rod_cos);
        let (half, rod_half) = (0.5 * self.crank, 0.5 * self.rod);
        let pin = [self.crank * cos, self.crank * sin];
        let pin_rate = [-pin[1] * rate, pin[0] * rate];
        let position = [
            half * cos,
            half * sin,
            angle,
            pin[0] + rod_half * rod_cos,
            pin[1] + rod_half * rod_sin,
            rod_sin.asin(),
            pin[0] + self.rod * rod_cos,
            0.0,
            0.0,
        ];
        let velocity = [
            0.5 * pin_rate[0],
            0.5 * pin_rate[1],
            rate,
            pin_rate[0] - rod_half * rod_sin * rod_rate,
            pin_rate[1] + rod_half * rod_cos * rod_rate,
            rod_rate,
            pin_rate[0] - self.rod * rod_sin * rod_rate,
            0.0,
            0.0,
        ];
        Initial::new(0.0, position, velocity)
    }

    fn inertias(&self) -> [f64; 9] {
        let [crank, rod, slider] = self.masses;
        let bar = |mass: f64, length: f64| mass * length * length / 12.0;
        // The slider does not turn: any moment of inertia does.
        let slider_inertia = slider * 1e-3;
        [crank, crank, bar(crank, self.crank), rod, rod, bar(rod, self.rod), slider, slider, slider_inertia]
    }

    /// Vectors from the centres of crank and rod to their ends.
    fn halves(&self, q: &[f64]) -> [[f64; 2]; 2] {
        let of = |length: f64, angle: f64| [0.5 * length * angle.cos(), 0.5 * length * angle.sin()];
        [of(self.crank, q[2]), of(self.rod, q[5])]
    }

    /// Factors of the two half vectors in the constraints: pin to the ground, crank to rod, rod to slider,
    /// guide.
    const HALF_FACTORS: [[f64; 2]; 4] = [[-1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 0.0]];
}

impl Dae for SliderCrank {
    fn shape(&self) -> Shape {
        Shape::new(Space::vector(9)).with_constraints([8])
    }

    fn residual(&self, at: &Point, out: &mut Residual) {
        for ((out, inertia), a) in out.equilibrium.iter_mut().zip(self.inertias()).zip(at.acceleration) {
            *out = inertia * a;
        }
        for (body, mass) in self.masses.into_iter().enumerate() {
            out.equilibrium[3 * body + 1] += mass * self.gravity;
        }
        let gradient = self.gradient_rows(at.configuration);
        for (row, lambda) in gradient.iter().zip(at.multipliers) {
            out.equilibrium.iter_mut().zip(row).for_each(|(out, entry)| *out += lambda * entry);
        }
        let (q, [crank, rod]) = (at.configuration, self.halves(at.configuration));
        for i in 0..2 {
            out.violation[i] = q[i] - crank[i];
            out.violation[2 + i] = q[i] + crank[i] - q[3 + i] + rod[i];
            out.violation[4 + i] = q[3 + i] + rod[i] - q[6 + i];
        }
        out.violation[6] = q[7];
        out.violation[7] = q[8];
    }

    fn gradient(&self, at: &Point, out: &mut BlockMatrix) {
        for (row, entries) in self.gradient_rows(at.configuration).iter().enumerate() {
            for (column, entry) in entries.iter().enumerate() {
                out.values_mut()[8 * column + row] = *entry;
            }
        }
    }

    fn answer(&self, at: &Point, wanted: &mut Wanted) {
        if let Some(out) = wanted.curvature.take() {
            self.curvature(at, out);
        }
        if let Some((weights, out)) = wanted.tangent.take() {
            self.tangent(at, weights, out);
        }
    }
}

impl SliderCrank {
    fn curvature(&self, at: &Point, out: &mut [f64]) {
        let halves = self.halves(at.configuration);
        let rates = [at.velocity[2], at.velocity[5]];
        for (pair, factors) in Self::HALF_FACTORS.iter().enumerate() {
            for i in 0..2 {
                // The second derivative of a half vector is −θ'² times itself at θ'' = 0.
                let part = |body: usize| -factors[body] * halves[body][i] * rates[body] * rates[body];
                out[2 * pair + i] = part(0) + part(1);
            }
        }
    }

    fn tangent(&self, at: &Point, weights: TangentWeights, out: &mut Tangent) {
        for (i, inertia) in self.inertias().into_iter().enumerate() {
            out.dynamic.values_mut()[10 * i] = weights.mass * inertia;
        }
        self.gradient(at, &mut out.gradient);
        if !weights.stiffness {
            return;
        }
        let halves = self.halves(at.configuration);
        for (body, angle) in [2, 5].into_iter().enumerate() {
            for (pair, factors) in Self::HALF_FACTORS.iter().enumerate() {
                for (i, half) in halves[body].iter().enumerate() {
                    let second = -factors[body] * half;
                    out.stiffness.values_mut()[10 * angle] += second * at.multipliers[2 * pair + i];
                    out.gradient_rate.values_mut()[8 * angle + 2 * pair + i] += second * at.velocity[angle];
                }
            }
        }
    }
}

impl SliderCrank {
    fn gradient_rows(&self, q: &[f64]) -> [[f64; 9]; 8] {
        let [crank, rod] = self.halves(q);
        // Derivatives of the half vectors by their angles.
        let (crank, rod) = ([-crank[1], crank[0]], [-rod[1], rod[0]]);
        let mut rows = [[0.0; 9]; 8];
        for i in 0..2 {
            (rows[i][i], rows[i][2]) = (1.0, -crank[i]);
            (rows[2 + i][i], rows[2 + i][2]) = (1.0, crank[i]);
            (rows[2 + i][3 + i], rows[2 + i][5]) = (-1.0, rod[i]);
            (rows[4 + i][3 + i], rows[4 + i][5], rows[4 + i][6 + i]) = (1.0, rod[i], -1.0);
        }
        rows[6][7] = 1.0;
        rows[7][8] = 1.0;
        rows
    }
}
