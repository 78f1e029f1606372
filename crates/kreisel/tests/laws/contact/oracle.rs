//! Contact written a second time, over any number and in world axes: derivatives come from dual numbers
//! alone.

use kreisel::element::contact::{Couple, Feature, Friction, NormalLaw, Surface};
use kreisel::lie::Pose;
use num_dual::Dual64;

use super::numbers::{
    Node, Number, V3, cross, difference, dot, matrix, product, sum, times, transposed, vector,
};

/// A contact between two frames on nodes or on the ground.
pub struct ContactOracle {
    pub nodes: [Option<usize>; 2],
    pub offsets: [Pose; 2],
    pub couples: Vec<Couple>,
    pub law: NormalLaw,
    pub friction: Friction,
    /// Speed at which every couple met.
    pub speed: f64,
}

fn scaled<T: Number>(factor: T, v: &V3<T>) -> V3<T> {
    std::array::from_fn(|i| factor * v[i])
}

fn norm<T: Number>(v: &V3<T>) -> T {
    dot(v, v).sqrt()
}

fn clamped<T: Number>(value: T, bound: f64) -> T {
    if value.re() > bound {
        T::from(bound)
    } else if value.re() < -bound {
        T::from(-bound)
    } else {
        value
    }
}

impl ContactOracle {
    /// Residual wrenches (torque, force) in body axes.
    pub fn residual<T: Number>(&self, nodes: &[Node<T>]) -> Vec<[T; 6]> {
        self.with_bristles(nodes, &[T::zero(); 3]).0
    }

    /// The same with bristles bent in axes of the surface, and the rate of the bristles of the last couple
    /// that touches.
    pub fn with_bristles<T: Number>(&self, nodes: &[Node<T>], bristles: &V3<T>) -> (Vec<[T; 6]>, V3<T>) {
        let mut rate = [T::zero(); 3];
        let mut out = vec![[T::zero(); 6]; nodes.len()];
        for couple in &self.couples {
            if let Some((point, force, bending)) = self.force(couple, nodes, bristles) {
                rate = bending;
                self.add(couple.side, &point, &force, nodes, &mut out);
                self.add(1 - couple.side, &point, &scaled(-T::one(), &force), nodes, &mut out);
            }
        }
        (out, rate)
    }

    fn add<T: Number>(
        &self,
        side: usize,
        point: &V3<T>,
        force: &V3<T>,
        nodes: &[Node<T>],
        out: &mut [[T; 6]],
    ) {
        let Some(index) = self.nodes[side] else { return };
        let (node, turn) = (&nodes[index], transposed(&nodes[index].rotation));
        let torque = times(&turn, &cross(&difference(point, &node.position), force));
        let force = times(&turn, force);
        for i in 0..3 {
            out[index][i] -= torque[i];
            out[index][3 + i] -= force[i];
        }
    }

    fn frame<T: Number>(&self, side: usize, nodes: &[Node<T>]) -> ([[T; 3]; 3], V3<T>) {
        let rotation = matrix(&self.offsets[side].rotation.to_rotation_matrix().into_inner());
        let position = vector(&self.offsets[side].position);
        match self.nodes[side] {
            None => (rotation, position),
            Some(index) => {
                let node = &nodes[index];
                (product(&node.rotation, &rotation), sum(&node.position, &times(&node.rotation, &position)))
            }
        }
    }

    fn velocity<T: Number>(&self, side: usize, point: &V3<T>, nodes: &[Node<T>]) -> V3<T> {
        let Some(index) = self.nodes[side] else { return [T::zero(); 3] };
        let node = &nodes[index];
        let [a, b, c, d, e, f] = node.velocity;
        let arm = times(&transposed(&node.rotation), &difference(point, &node.position));
        times(&node.rotation, &sum(&[d, e, f], &cross(&[a, b, c], &arm)))
    }

    /// Contact point and force on the body with the feature, in the world, and the rate of bristles.
    #[allow(clippy::type_complexity, reason = "three vectors")]
    fn force<T: Number>(
        &self,
        couple: &Couple,
        nodes: &[Node<T>],
        bristles: &V3<T>,
    ) -> Option<(V3<T>, V3<T>, V3<T>)> {
        let (feature_frame, surface_frame) =
            (self.frame(couple.side, nodes), self.frame(1 - couple.side, nodes));
        let (core, normal, gap, radius) = nearest(couple, &feature_frame, &surface_frame);
        if gap.re() >= 0.0 {
            return None;
        }
        let half = gap * T::from(0.5);
        let point = difference(&core, &scaled(half + T::from(radius), &normal));
        let velocity = difference(
            &self.velocity(couple.side, &point, nodes),
            &self.velocity(1 - couple.side, &point, nodes),
        );
        let rate = dot(&normal, &velocity);
        let pressing = self.normal_force(-gap, -rate, couple.radius);
        let sliding = difference(&velocity, &scaled(rate, &normal));
        let mut force = scaled(pressing, &normal);
        let mut bending = [T::zero(); 3];
        let speed = norm(&sliding);
        match self.friction {
            Friction::None => {}
            Friction::Coulomb(friction) => {
                let ratio = speed * T::from(1.0 / friction.stribeck_speed);
                let coefficient = T::from(friction.sliding)
                    + T::from(friction.sticking - friction.sliding) * (-ratio * ratio).exp();
                let friction_force =
                    pressing * coefficient * (speed * T::from(1.0 / friction.transition_speed)).tanh();
                force = difference(&force, &scaled(friction_force / speed, &sliding));
            }
            Friction::LuGre(friction) => {
                let stiffness = T::from(friction.stiffness);
                let ratio = (speed * T::from(1.0 / friction.stribeck_speed)).powf(friction.exponent);
                let level = T::from(friction.sliding)
                    + T::from(friction.sticking - friction.sliding) * (-ratio).exp();
                let bent = times(&surface_frame.0, bristles);
                let rate = difference(&sliding, &scaled(stiffness * speed / level, &bent));
                let across = difference(&bent, &scaled(dot(&bent, &normal), &normal));
                let mut friction_force =
                    sum(&scaled(stiffness, &across), &scaled(T::from(friction.damping), &rate));
                friction_force = sum(&friction_force, &scaled(T::from(friction.viscosity), &sliding));
                force = difference(&force, &scaled(pressing, &friction_force));
                // Bristles engage over a tenth of their deflection in sliding.
                let part = -gap * T::from(10.0 * friction.stiffness / friction.sliding);
                let part = if part.re() < 1.0 { part } else { T::one() };
                let engaged = part * part * (T::from(3.0) - part * T::from(2.0));
                let total = scaled(engaged, &rate);
                bending = times(&transposed(&surface_frame.0), &total);
            }
        }
        Some((point, force, bending))
    }

    fn normal_force<T: Number>(&self, depth: T, rate: T, radius: f64) -> T {
        let force = match self.law {
            NormalLaw::Linear { stiffness, damping, transition } => {
                T::from(stiffness) * depth + T::from(damping) * rate * depth / (depth + T::from(transition))
            }
            NormalLaw::Hertz { modulus, loss, rest_speed } => {
                let factor = 4.0 / 3.0 * modulus * radius.sqrt();
                let lost = T::from(loss / self.speed.max(rest_speed)) * rate;
                T::from(factor) * depth * depth.sqrt() * (T::one() + lost)
            }
        };
        if force.re() > 0.0 { force } else { T::zero() }
    }
}

type Frame<T> = ([[T; 3]; 3], V3<T>);

/// Core point, normal, gap and radius of a couple, in the world.
fn nearest<T: Number>(couple: &Couple, feature: &Frame<T>, surface: &Frame<T>) -> (V3<T>, V3<T>, T, f64) {
    let to_surface = transposed(&surface.0);
    let local = |point: &V3<T>| times(&to_surface, &difference(point, &surface.1));
    let world = |direction: &V3<T>| times(&surface.0, direction);
    let zero = T::zero();
    match couple.feature {
        Feature::Point { at, radius } => {
            let core = sum(&feature.1, &times(&feature.0, &vector(&at)));
            let (normal, gap) = point_gap(&local(&core), &couple.surface);
            (core, world(&normal), gap - T::from(radius), radius)
        }
        Feature::Edge { height, radius } => {
            // The support point of a disc with a domed end, against the direction of the plane's normal.
            let (axis, n) = (times(&feature.0, &[zero, zero, T::one()]), world(&[zero, zero, T::one()]));
            let tilt = T::from(5e-3);
            let across = difference(&n, &scaled(dot(&n, &axis), &axis));
            let root = (dot(&across, &across) + tilt * tilt).sqrt();
            let reach = sum(&scaled(T::one() / root, &across), &scaled(tilt * tilt / root - tilt, &n));
            let centre = sum(&feature.1, &scaled(T::from(height), &axis));
            let core = difference(&centre, &scaled(T::from(radius / (1.0_f64.hypot(5e-3) - 5e-3)), &reach));
            (core, n, local(&core)[2], 0.0)
        }
        Feature::Axis { half_length, radius } => {
            let Surface::Capsule { radius: other, half_length: other_half } = couple.surface else {
                let u = times(&feature.0, &[zero, zero, T::one()]);
                return barrel(
                    &local(&feature.1),
                    &times(&to_surface, &u),
                    [half_length, radius],
                    couple,
                    surface,
                );
            };
            let (u, e) =
                (times(&feature.0, &[zero, zero, T::one()]), times(&surface.0, &[zero, zero, T::one()]));
            let way = difference(&feature.1, &surface.1);
            // Alternating projections converge to the nearest points; a start with the right branch is
            // enough.
            let cosine = dot(&u, &e);
            let free = (cosine * dot(&way, &e) - dot(&way, &u)) / (T::one() - cosine * cosine);
            let mut s = clamped(free, half_length);
            let t = clamped(dot(&way, &e) + s * cosine, other_half);
            s = clamped(t * cosine - dot(&way, &u), half_length);
            let core = sum(&feature.1, &scaled(s, &u));
            let apart = difference(&core, &sum(&surface.1, &scaled(t, &e)));
            let distance = norm(&apart);
            (core, scaled(T::one() / distance, &apart), distance - T::from(radius + other), radius)
        }
    }
}

/// A capsule, bulged by a slope of 0.005 at its ends, against a box or a cylinder; centre and axis in the
/// surface's frame.
fn barrel<T: Number>(
    centre: &V3<T>,
    u: &V3<T>,
    [half, radius]: [f64; 2],
    couple: &Couple,
    surface: &Frame<T>,
) -> (V3<T>, V3<T>, T, f64) {
    let bulge = 5e-3 / half;
    let real = |v: &V3<T>| -> V3<Dual64> { std::array::from_fn(|i| Dual64::from_re(v[i].re())) };
    let (centre_re, u_re) = (real(centre), real(u));
    // Slope of the distance along the axis and, by a dual number, how it changes.
    let slope = |s: f64| {
        let s = Dual64::new(s, 1.0);
        let place = sum(&centre_re, &scaled(s, &u_re));
        dot(&point_gap(&place, &couple.surface).0, &u_re) + s * Dual64::from_re(bulge)
    };
    let (mut low, mut high) = (-half, half);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if slope(middle).re < 0.0 { low = middle } else { high = middle }
    }
    let mut s = T::from(0.5 * (low + high));
    let at = |s: T| sum(centre, &scaled(s, u));
    if half - s.re().abs() > 1e-12 {
        // One step of Newton's method changes nothing but the derivatives.
        let missing = dot(&point_gap(&at(s), &couple.surface).0, u) + s * T::from(bulge);
        s = s - missing * T::from(1.0 / slope(s.re()).eps);
    } else {
        s = T::from(half.copysign(s.re()));
    }
    let (normal, distance) = point_gap(&at(s), &couple.surface);
    let lack = s * s * T::from(0.5 * bulge);
    let core = sum(&at(s), &scaled(lack, &normal));
    let core = sum(&surface.1, &times(&surface.0, &core));
    (core, times(&surface.0, &normal), distance + lack - T::from(radius), radius)
}

/// Normal and distance of a point from a surface, in its frame.
fn point_gap<T: Number>(p: &V3<T>, surface: &Surface) -> (V3<T>, T) {
    let zero = T::zero();
    let from = |b: V3<T>, radius: f64| {
        let way = difference(p, &b);
        let distance = norm(&way);
        (scaled(T::one() / distance, &way), distance - T::from(radius))
    };
    match *surface {
        Surface::Plane => ([zero, zero, T::one()], p[2]),
        Surface::Sphere { radius } => from([zero; 3], radius),
        Surface::Capsule { radius, half_length } => from([zero, zero, clamped(p[2], half_length)], radius),
        Surface::Box { half_size } => {
            let inside = (0..3).all(|i| p[i].re().abs() <= half_size[i]);
            if !inside {
                return from(std::array::from_fn(|i| clamped(p[i], half_size[i])), 0.0);
            }
            let depth = |i: usize| half_size[i] - p[i].re().abs();
            let i = (0..3).min_by(|a, b| depth(*a).total_cmp(&depth(*b))).unwrap();
            let sign = p[i].re().signum();
            let normal = std::array::from_fn(|j| T::from(if i == j { sign } else { 0.0 }));
            (normal, p[i] * T::from(sign) - T::from(half_size[i]))
        }
        Surface::Cylinder { radius, half_length } => {
            let distance = (p[0] * p[0] + p[1] * p[1]).sqrt();
            let outward = [p[0] / distance, p[1] / distance, zero];
            let (beside, beyond) = (distance.re() > radius, p[2].re().abs() > half_length);
            let height = clamped(p[2], half_length);
            match (beside, beyond) {
                (true, _) => from([outward[0] * T::from(radius), outward[1] * T::from(radius), height], 0.0),
                (false, true) => from([p[0], p[1], height], 0.0),
                (false, false) if radius - distance.re() < half_length - p[2].re().abs() => {
                    (outward, distance - T::from(radius))
                }
                (false, false) => {
                    let sign = T::from(p[2].re().signum());
                    ([zero, zero, sign], p[2] * sign - T::from(half_length))
                }
            }
        }
    }
}
