//! Rods solved by shooting: independent of elements, tangents and load steps.
//!
//! A rod with shear and stretch [Simo1985, pp. 55–70] under forces at its ends alone has a constant section
//! force n in world axes and the moment m(s) = m(0) − (x(s) − x(0)) × n. What is left are ordinary
//! differential equations for its frame.

use nalgebra::{DMatrix, DVector, Matrix3, Vector3};

/// A rod with constant initial curvature and diagonal section stiffness.
#[derive(Clone, Copy)]
pub struct Rod {
    pub length: f64,
    /// Initial curvature in section axes.
    pub curvature: Vector3<f64>,
    /// GJ, EI_y, EI_z.
    pub bending: Vector3<f64>,
    /// EA, GA_y, GA_z.
    pub stretching: Vector3<f64>,
    /// Root frame: columns are section axes in the world; the root is at the origin.
    pub root: Matrix3<f64>,
}

/// Steps of the classical Runge–Kutta method: its error is far below that of any beam element here.
const STEPS: usize = 200;

impl Rod {
    /// Slopes of frame and position for a force and the moment at the root.
    fn slopes(
        &self,
        frame: &Matrix3<f64>,
        position: &Vector3<f64>,
        force: &Vector3<f64>,
        moment: &Vector3<f64>,
    ) -> (Matrix3<f64>, Vector3<f64>) {
        let here = moment - position.cross(force);
        let curvature = self.curvature + frame.tr_mul(&here).component_div(&self.bending);
        let stretch = Vector3::x() + frame.tr_mul(force).component_div(&self.stretching);
        (frame * curvature.cross_matrix(), frame * stretch)
    }

    /// Position of the tip for a force at the tip and the moment at the root.
    fn shoot(&self, force: &Vector3<f64>, moment: &Vector3<f64>) -> Vector3<f64> {
        let h = self.length / STEPS as f64;
        let (mut frame, mut position) = (self.root, Vector3::zeros());
        for _ in 0..STEPS {
            let slopes = |f: &Matrix3<f64>, x: &Vector3<f64>| self.slopes(f, x, force, moment);
            let (f1, x1) = slopes(&frame, &position);
            let (f2, x2) = slopes(&(frame + 0.5 * h * f1), &(position + 0.5 * h * x1));
            let (f3, x3) = slopes(&(frame + 0.5 * h * f2), &(position + 0.5 * h * x2));
            let (f4, x4) = slopes(&(frame + h * f3), &(position + h * x3));
            frame += h / 6.0 * (f1 + 2.0 * f2 + 2.0 * f3 + f4);
            position += h / 6.0 * (x1 + 2.0 * x2 + 2.0 * x3 + x4);
        }
        position
    }

    /// Position of the tip of the rod clamped at its root with a dead force at its tip.
    pub fn tip(&self, force: Vector3<f64>) -> Vector3<f64> {
        let mut tip = self.shoot(&Vector3::zeros(), &Vector3::zeros());
        let ramp = 10;
        for step in 1..=ramp {
            let force = force * (f64::from(step) / f64::from(ramp));
            // The moment at the root is that of the force at the tip, wherever it ends up.
            let miss = |x: &DVector<f64>| {
                let guess = Vector3::new(x[0], x[1], x[2]);
                let found = self.shoot(&force, &guess.cross(&force));
                DVector::from_column_slice((found - guess).as_slice())
            };
            let found = newton(miss, DVector::from_column_slice(tip.as_slice()), self.length);
            tip = Vector3::new(found[0], found[1], found[2]);
        }
        tip
    }
}

/// Newton's iteration with differences.
fn newton(miss: impl Fn(&DVector<f64>) -> DVector<f64>, mut x: DVector<f64>, size: f64) -> DVector<f64> {
    let count = x.len();
    for _ in 0..50 {
        let here = miss(&x);
        let mut jacobian = DMatrix::zeros(count, count);
        for column in 0..count {
            let step = 1e-6 * x[column].abs().max(1e-3 * size);
            let (mut forth, mut back) = (x.clone(), x.clone());
            forth[column] += step;
            back[column] -= step;
            jacobian.set_column(column, &((miss(&forth) - miss(&back)) / (2.0 * step)));
        }
        let change = jacobian.lu().solve(&here).expect("the differences are regular");
        x -= &change;
        if change.amax() < 1e-11 * size {
            return x;
        }
    }
    panic!("shooting did not converge");
}

/// Lee's frame: a column and a beam of one length with a rigid corner, hinged at both ends, with a dead load
/// downwards on the beam.
#[derive(Clone, Copy)]
pub struct Frame {
    pub length: f64,
    /// Part of the beam's length from the corner to the load.
    pub load_at: f64,
    pub bending: f64,
    pub axial: f64,
    pub shear: f64,
}

impl Frame {
    /// Ends of a piece in the plane: x, y, angle of the section, moment.
    fn piece(&self, mut state: [f64; 4], force: [f64; 2], length: f64) -> [f64; 4] {
        let steps = 200;
        let h = length / f64::from(steps);
        let slopes = |state: &[f64; 4]| {
            let [_, _, angle, moment] = *state;
            let (sin, cos) = angle.sin_cos();
            let (along, across) = (force[0] * cos + force[1] * sin, -force[0] * sin + force[1] * cos);
            let (stretch, slip) = (1.0 + along / self.axial, across / self.shear);
            let (dx, dy) = (stretch * cos - slip * sin, stretch * sin + slip * cos);
            [dx, dy, moment / self.bending, -(dx * force[1] - dy * force[0])]
        };
        let moved = |from: &[f64; 4], by: &[f64; 4], part: f64| -> [f64; 4] {
            std::array::from_fn(|i| from[i] + part * by[i])
        };
        for _ in 0..steps {
            let k1 = slopes(&state);
            let k2 = slopes(&moved(&state, &k1, 0.5 * h));
            let k3 = slopes(&moved(&state, &k2, 0.5 * h));
            let k4 = slopes(&moved(&state, &k3, h));
            state = std::array::from_fn(|i| state[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]));
        }
        state
    }

    /// What is missing at the second hinge and at the load: x, y, moment, deflection.
    fn miss(&self, unknowns: &DVector<f64>, deflection: f64) -> DVector<f64> {
        let (turn, force, load) = (unknowns[0], [unknowns[1], unknowns[2]], unknowns[3]);
        let quarter = std::f64::consts::FRAC_PI_2;
        let corner = self.piece([0.0, 0.0, quarter + turn, 0.0], force, self.length);
        let [x, y, angle, moment] = corner;
        let under = self.piece([x, y, angle - quarter, moment], force, self.load_at * self.length);
        // The load −P e_y makes the section force jump by +P e_y.
        let beyond = [force[0], force[1] + load];
        let end = self.piece(under, beyond, (1.0 - self.load_at) * self.length);
        DVector::from_column_slice(&[
            end[0] - self.length,
            end[1] - self.length,
            end[3] / (self.bending / self.length),
            self.length - under[1] - deflection,
        ])
    }

    /// Load at which the deflection under it reaches its first maximum of load.
    pub fn limit_load(&self) -> f64 {
        let mut unknowns = DVector::zeros(4);
        let solve =
            |start: &DVector<f64>, deflection: f64| newton(|x| self.miss(x, deflection), start.clone(), 1.0);
        let step = self.length / 120.0;
        let mut loads: Vec<f64> = Vec::new();
        for index in 1..120 {
            let deflection = f64::from(index) * step;
            unknowns = solve(&unknowns, deflection);
            loads.push(unknowns[3]);
            if let [.., a, b, c] = loads[..]
                && b > c
            {
                // Three points about the maximum; a parabola through closer ones is exact enough.
                let place = deflection - step + 0.5 * step * (a - c) / (a - 2.0 * b + c);
                let near = 0.05 * step;
                let [a, b, c] = [-near, 0.0, near].map(|by| solve(&unknowns, place + by)[3]);
                return b - (c - a).powi(2) / (8.0 * (a - 2.0 * b + c));
            }
        }
        panic!("the load has no maximum");
    }
}
