//! Elements written a second time, over any number: kinematics in world axes, and forces as gradients of
//! coordinates by dual numbers, without a single derivative written by hand.

use kreisel::element::{EndStop, LinearSpring, RegularizedFriction};
use kreisel::kinematics::{Coordinate, NodeMotion};
use kreisel::lie::{Matrix3, Matrix6, Pose, Vector3};
use num_dual::{Dual, DualNum};

/// A number: plain, dual, or dual over dual.
pub trait Number: DualNum<Primitive = f64> + Copy {}
impl<T: DualNum<Primitive = f64> + Copy> Number for T {}

pub type V3<T> = [T; 3];
pub type M3<T> = [[T; 3]; 3];

/// Motion of a node over any number.
#[derive(Clone, Copy)]
pub struct Node<T> {
    pub rotation: M3<T>,
    pub position: V3<T>,
    pub velocity: [T; 6],
    pub acceleration: [T; 6],
}

fn each<S: Copy, T, const N: usize>(values: &[S; N], convert: impl Fn(S) -> T) -> [T; N] {
    std::array::from_fn(|i| convert(values[i]))
}

impl<T: Number> Node<T> {
    pub fn constant(node: &NodeMotion) -> Self {
        Self {
            rotation: matrix(&node.rotation),
            position: vector(&node.pose.position),
            velocity: std::array::from_fn(|i| T::from(node.velocity[i])),
            acceleration: std::array::from_fn(|i| T::from(node.acceleration[i])),
        }
    }

    /// The same as dual numbers over these, without a dual part.
    pub fn dual(&self) -> Node<Dual<T>> {
        Node {
            rotation: each(&self.rotation, |row| each(&row, Dual::from_re)),
            position: each(&self.position, Dual::from_re),
            velocity: each(&self.velocity, Dual::from_re),
            acceleration: each(&self.acceleration, Dual::from_re),
        }
    }

    /// Moves the pose by an infinitesimal twist in body axes: products of first-order terms are exact for
    /// duals.
    pub fn moved(mut self, twist: &[T; 6]) -> Self {
        let step = times(&self.rotation, &[twist[3], twist[4], twist[5]]);
        self.position = sum(&self.position, &step);
        let [x, y, z] = [twist[0], twist[1], twist[2]];
        let zero = T::zero();
        let spin = [[zero, -z, y], [z, zero, -x], [-y, x, zero]];
        let change = product(&self.rotation, &spin);
        self.rotation = std::array::from_fn(|i| sum(&self.rotation[i], &change[i]));
        self
    }
}

pub fn vector<T: Number>(v: &Vector3) -> V3<T> {
    [T::from(v.x), T::from(v.y), T::from(v.z)]
}

pub fn matrix<T: Number>(m: &Matrix3) -> M3<T> {
    std::array::from_fn(|i| std::array::from_fn(|j| T::from(m[(i, j)])))
}

pub fn sum<T: Number>(a: &V3<T>, b: &V3<T>) -> V3<T> {
    std::array::from_fn(|i| a[i] + b[i])
}

pub fn difference<T: Number>(a: &V3<T>, b: &V3<T>) -> V3<T> {
    std::array::from_fn(|i| a[i] - b[i])
}

pub fn dot<T: Number>(a: &V3<T>, b: &V3<T>) -> T {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub fn cross<T: Number>(a: &V3<T>, b: &V3<T>) -> V3<T> {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

pub fn times<T: Number>(m: &M3<T>, v: &V3<T>) -> V3<T> {
    each(m, |row| dot(&row, v))
}

pub fn transposed<T: Number>(m: &M3<T>) -> M3<T> {
    std::array::from_fn(|i| std::array::from_fn(|j| m[j][i]))
}

pub fn product<T: Number>(a: &M3<T>, b: &M3<T>) -> M3<T> {
    let columns = transposed(b);
    each(a, |row| each(&columns, |column| dot(&row, &column)))
}

/// A coordinate between two frames on local nodes or the ground.
#[derive(Clone, Copy)]
pub struct Between {
    pub nodes: [Option<usize>; 2],
    pub offsets: [Pose; 2],
    pub coordinate: Coordinate,
}

impl Between {
    pub fn value<T: Number>(&self, nodes: &[Node<T>]) -> T {
        let frame = |side: usize| {
            let rotation = matrix(&self.offsets[side].rotation.to_rotation_matrix().into_inner());
            let position = vector(&self.offsets[side].position);
            match self.nodes[side] {
                None => (rotation, position),
                Some(node) => {
                    let node = &nodes[node];
                    let arm = times(&node.rotation, &position);
                    (product(&node.rotation, &rotation), sum(&node.position, &arm))
                }
            }
        };
        let ((first, a), (second, b)) = (frame(0), frame(1));
        let relative = product(&transposed(&first), &second);
        let way = difference(&b, &a);
        match self.coordinate {
            Coordinate::Translation(axis) => times(&transposed(&first), &way)[axis],
            Coordinate::Direction(i, j) => relative[i][j],
            Coordinate::Angle => angle_of(relative[1][0], relative[0][0]),
            Coordinate::Distance => dot(&way, &way).sqrt(),
            other => {
                let Coordinate::RotationVector(axis) = other else { panic!("{other:?} is not tested") };
                rotation_vector(&relative)[axis]
            }
        }
    }

    /// Derivative along each body twist of each node.
    pub fn gradient<T: Number>(&self, nodes: &[Node<T>]) -> Vec<[T; 6]> {
        let slope = |n: usize, k: usize| {
            let mut moved: Vec<Node<Dual<T>>> = nodes.iter().map(Node::dual).collect();
            let mut twist = [Dual::from_re(T::zero()); 6];
            twist[k].eps = T::one();
            moved[n] = moved[n].moved(&twist);
            self.value(&moved).eps
        };
        (0..nodes.len()).map(|n| std::array::from_fn(|k| slope(n, k))).collect()
    }

    pub fn rate<T: Number>(&self, nodes: &[Node<T>]) -> T {
        let mut rate = T::zero();
        for (gradient, node) in self.gradient(nodes).iter().zip(nodes) {
            (0..6).for_each(|k| rate += gradient[k] * node.velocity[k]);
        }
        rate
    }
}

/// Coefficients of arcsin(s)/s in powers of s²: (2n)!/(4ⁿ n!² (2n + 1)).
const ARCSINE: [f64; 9] = [
    1.0,
    1.0 / 6.0,
    3.0 / 40.0,
    5.0 / 112.0,
    35.0 / 1152.0,
    63.0 / 2816.0,
    231.0 / 13312.0,
    143.0 / 10240.0,
    6435.0 / 557_056.0,
];

/// Angle of the point (x, y), from the smaller of the two coordinates divided by the larger.
///
/// Second derivatives of the crate's `atan2` divide by cubes of x and lose half their digits at a quarter
/// turn.
fn angle_of<T: Number>(y: T, x: T) -> T {
    if x.re().abs() >= y.re().abs() {
        return y.atan2(x);
    }
    -(x / y).atan() + std::f64::consts::FRAC_PI_2.copysign(y.re())
}

/// Axis times angle of a rotation that is less than half a turn.
fn rotation_vector<T: Number>(r: &M3<T>) -> V3<T> {
    let twice = [r[2][1] - r[1][2], r[0][2] - r[2][0], r[1][0] - r[0][1]];
    let square = dot(&twice, &twice) / 4.0;
    let twice_cosine = r[0][0] + r[1][1] + r[2][2] - 1.0;
    // Second derivatives of the general formula lose the cube of a small angle.
    if square.re() < 0.01 && twice_cosine.re() > 0.0 {
        let series = ARCSINE.iter().rev().fold(T::zero(), |sum, c| sum * square + *c);
        return each(&twice, |component| component * series / 2.0);
    }
    let twice_sine = square.sqrt() * 2.0;
    let angle = angle_of(twice_sine, twice_cosine);
    each(&twice, |component| component * angle / twice_sine)
}

/// What an element is, for the second computation.
pub enum Oracle {
    Body { mass: f64, inertia: Matrix3, gravity: Vector3 },
    Along { between: Between, law: Law },
    Bushing { between: Box<[Between; 6]>, stiffness: Box<Matrix6>, damping: Box<Matrix6> },
    Actuator { between: Between, factors: [f64; 6], signals: Vec<(Between, bool)> },
    Beam { beam: Box<BeamOracle> },
    Quadratic { beam: Box<QuadraticOracle> },
    Segment { mass: f64, moment: Vector3, inertia: Matrix3, gravity: Vector3, damping: f64 },
    Load { length: f64, moment: Vector3, load: [f64; 6] },
    Push { marker: Pose, dead: Option<Matrix3>, factors: [f64; 6], signals: Vec<(Between, bool)> },
}

pub enum Law {
    Spring(LinearSpring),
    Friction(RegularizedFriction),
    Stop(EndStop),
}

impl Law {
    fn force<T: Number>(&self, x: T, rate: T) -> T {
        match self {
            Self::Spring(law) => (x - law.free_value) * law.stiffness + rate * law.damping + law.preload,
            Self::Friction(law) => (rate / law.rate).tanh() * law.force,
            Self::Stop(law) => {
                let depth = stop_depth(law, x);
                let weight = depth.abs() / (depth.abs() + law.transition);
                let force = depth * law.stiffness + weight * rate * law.damping;
                if (force * depth).re() > 0.0 { force } else { T::zero() }
            }
        }
    }

    fn energy<T: Number>(&self, x: T) -> T {
        match self {
            Self::Spring(law) => {
                let stretch = x - law.free_value;
                stretch * stretch * (0.5 * law.stiffness) + stretch * law.preload
            }
            Self::Friction(_) => T::zero(),
            Self::Stop(law) => stop_depth(law, x).powi(2) * (0.5 * law.stiffness),
        }
    }
}

fn stop_depth<T: Number>(law: &EndStop, x: T) -> T {
    if x.re() > law.bounds[1] {
        x - law.bounds[1]
    } else if x.re() < law.bounds[0] {
        x - law.bounds[0]
    } else {
        T::zero()
    }
}

/// Components of a force as functions of three signals.
pub fn mixed<T: Number>(factors: [f64; 6], s: &[T]) -> [T; 6] {
    each(&factors, |factor| (s[0] * factor).sin() + s[1] * s[2] * factor + s[2])
}

impl Oracle {
    pub fn residual<T: Number>(&self, nodes: &[Node<T>]) -> Vec<[T; 6]> {
        match self {
            Self::Body { mass, inertia, gravity } => vec![body(&nodes[0], *mass, inertia, gravity)],
            Self::Along { between, law } => {
                let force = law.force(between.value(nodes), between.rate(nodes));
                between.gradient(nodes).iter().map(|gradient| each(gradient, |slope| slope * force)).collect()
            }
            Self::Bushing { between, stiffness, damping } => {
                let (values, rates) = (each(between, |b| b.value(nodes)), each(between, |b| b.rate(nodes)));
                let mut wrenches = vec![[T::zero(); 6]; nodes.len()];
                for i in 0..6 {
                    let terms = (0..6).map(|j| values[j] * stiffness[(i, j)] + rates[j] * damping[(i, j)]);
                    let force: T = terms.sum();
                    for (wrench, gradient) in wrenches.iter_mut().zip(between[i].gradient(nodes)) {
                        (0..6).for_each(|k| wrench[k] += gradient[k] * force);
                    }
                }
                wrenches
            }
            Self::Actuator { between, factors, signals } => {
                let force = mixed(*factors, &measured(nodes, signals))[0];
                between
                    .gradient(nodes)
                    .iter()
                    .map(|gradient| each(gradient, |slope| -slope * force))
                    .collect()
            }
            Self::Beam { beam } => beam.residual(nodes),
            Self::Quadratic { beam } => beam.residual(nodes),
            Self::Segment { mass, moment, inertia, gravity, damping } => {
                vec![segment(&nodes[0], *mass, moment, inertia, gravity, *damping)]
            }
            Self::Load { length, moment, load } => vec![dead_load(&nodes[0], *length, moment, load)],
            Self::Push { marker, dead, factors, signals } => push(nodes, marker, dead, *factors, signals),
        }
    }

    /// Stored energy.
    pub fn energy<T: Number>(&self, nodes: &[Node<T>]) -> T {
        match self {
            Self::Body { mass, inertia, gravity } => {
                let node = &nodes[0];
                let [omega, u] = halves(&node.velocity);
                let spin = dot(&omega, &times(&matrix(inertia), &omega));
                (spin + dot(&u, &u) * *mass) * 0.5 - dot(&vector(gravity), &node.position) * *mass
            }
            Self::Along { between, law } => law.energy(between.value(nodes)),
            Self::Bushing { between, stiffness, .. } => {
                let values = each(between, |b| b.value(nodes));
                let terms =
                    (0..36).map(|k| values[k / 6] * values[k % 6] * (0.5 * stiffness[(k / 6, k % 6)]));
                terms.sum()
            }
            Self::Beam { beam } => beam.energy(nodes),
            Self::Quadratic { beam } => beam.energy(nodes),
            Self::Segment { mass, moment, inertia, gravity, .. } => {
                let node = &nodes[0];
                let [omega, u] = halves(&node.velocity);
                let (moment, gravity) = (vector(moment), vector(gravity));
                let kinetic = dot(&omega, &times(&matrix(inertia), &omega))
                    + dot(&u, &u) * *mass
                    + dot(&u, &cross(&omega, &moment)) * 2.0;
                let centre = sum(&each(&node.position, |x| x * *mass), &times(&node.rotation, &moment));
                kinetic * 0.5 - dot(&gravity, &centre)
            }
            Self::Actuator { .. } | Self::Push { .. } | Self::Load { .. } => T::zero(),
        }
    }
}

fn halves<T: Number>(v: &[T; 6]) -> [V3<T>; 2] {
    [[v[0], v[1], v[2]], [v[3], v[4], v[5]]]
}

fn joined<T: Number>(a: &V3<T>, b: &V3<T>) -> [T; 6] {
    [a[0], a[1], a[2], b[0], b[1], b[2]]
}

/// Euler's and Newton's equations: rate of the angular momentum, and m (a − γ) seen in body axes.
fn body<T: Number>(node: &Node<T>, mass: f64, inertia: &Matrix3, gravity: &Vector3) -> [T; 6] {
    let ([omega, u], [omega_dot, u_dot]) = (halves(&node.velocity), halves(&node.acceleration));
    let inertia = matrix(inertia);
    let momentum = times(&inertia, &omega);
    let torque = sum(&times(&inertia, &omega_dot), &cross(&omega, &momentum));
    let world = times(&node.rotation, &sum(&u_dot, &cross(&omega, &u)));
    let force = difference(&world, &vector(gravity));
    let force = each(&times(&transposed(&node.rotation), &force), |component| component * mass);
    joined(&torque, &force)
}

fn push<T: Number>(
    nodes: &[Node<T>],
    marker: &Pose,
    dead: &Option<Matrix3>,
    factors: [f64; 6],
    signals: &[(Between, bool)],
) -> Vec<[T; 6]> {
    let values = measured(nodes, signals);
    let [torque, force] = halves(&mixed(factors, &values));
    let node = &nodes[0];
    let to_body = match dead {
        Some(given) => product(&transposed(&node.rotation), &matrix(given)),
        None => matrix(&marker.rotation.to_rotation_matrix().into_inner()),
    };
    let (torque, force) = (times(&to_body, &torque), times(&to_body, &force));
    let torque = sum(&torque, &cross(&vector(&marker.position), &force));
    let mut wrenches = vec![[T::zero(); 6]; nodes.len()];
    wrenches[0] = each(&joined(&torque, &force), |component| -component);
    wrenches
}

/// Values of measured quantities.
pub fn measured<T: Number>(nodes: &[Node<T>], signals: &[(Between, bool)]) -> Vec<T> {
    signals.iter().map(|(b, rate)| if *rate { b.rate(nodes) } else { b.value(nodes) }).collect()
}

/// log(H_A⁻¹ H_B) of two frames.
pub fn screw<T: Number>(sides: [Option<usize>; 2], offsets: [Pose; 2], nodes: &[Node<T>]) -> [T; 6] {
    let between = |coordinate| Between { nodes: sides, offsets, coordinate };
    let theta: V3<T> = std::array::from_fn(|axis| between(Coordinate::RotationVector(axis)).value(nodes));
    let x: V3<T> = std::array::from_fn(|axis| between(Coordinate::Translation(axis)).value(nodes));
    let angle = dot(&theta, &theta).sqrt();
    let half = angle * 0.5;
    let beta = (-half / half.tan() + 1.0) / (angle * angle);
    let once = cross(&theta, &x);
    let twice = cross(&theta, &once);
    joined(&theta, &std::array::from_fn(|i| x[i] - once[i] * 0.5 + twice[i] * beta))
}

/// A beam element between two frames: its screw by trigonometry, its forces as the gradient of its strain.
pub struct BeamOracle {
    pub nodes: [Option<usize>; 2],
    pub offsets: [Pose; 2],
    pub reference: [f64; 6],
    pub length: f64,
    pub stiffness: Matrix6,
    /// Flexibility of bending and torsion of the sections.
    pub bending: Matrix3,
    pub damping_time: f64,
}

impl BeamOracle {
    /// Strain times length: the screw less that of the initial shape, stretched by γ·b − ⅖ b·b + ⅘ b·m.
    fn strain<T: Number>(&self, nodes: &[Node<T>]) -> [T; 6] {
        let screw = screw(self.nodes, self.offsets, nodes);
        let mut strain: [T; 6] = std::array::from_fn(|i| screw[i] - self.reference[i]);
        let axis: V3<T> = std::array::from_fn(|i| T::from(self.reference[3 + i] / self.length));
        let push: V3<T> = std::array::from_fn(|i| {
            (0..6).map(|j| strain[j] * (self.stiffness[(3 + i, j)] / self.length)).sum()
        });
        // b = L²/12 t̃ᵀ F_κκ t̃ f, and γ is what of the screw is not along the axis.
        let bent = cross(&times(&matrix(&self.bending), &cross(&axis, &push)), &axis);
        let bent = each(&bent, |b| b * (self.length * self.length / 12.0));
        let gamma: V3<T> = std::array::from_fn(|i| strain[3 + i] / self.length);
        let along = dot(&axis, &gamma);
        let gamma: V3<T> = std::array::from_fn(|i| gamma[i] - axis[i] * along);
        // m = θ_t θ/12 of the turn θ, less that of the initial shape.
        let turn: V3<T> = std::array::from_fn(|i| screw[i]);
        let initial: V3<T> = std::array::from_fn(|i| T::from(self.reference[i]));
        let [now, before] = [turn, initial].map(|turn| {
            let twist = dot(&axis, &turn);
            dot(&bent, &turn) * twist / 12.0
        });
        let stretch = (dot(&gamma, &bent) - dot(&bent, &bent) * 0.4 + (now - before) * 0.8) * self.length;
        (0..3).for_each(|i| strain[3 + i] += axis[i] * stretch);
        strain
    }

    fn gradient<T: Number>(&self, nodes: &[Node<T>]) -> Vec<[[T; 6]; 6]> {
        let slope = |n: usize, k: usize| {
            let mut moved: Vec<Node<Dual<T>>> = nodes.iter().map(Node::dual).collect();
            let mut twist = [Dual::from_re(T::zero()); 6];
            twist[k].eps = T::one();
            moved[n] = moved[n].moved(&twist);
            each(&self.strain(&moved), |component| component.eps)
        };
        (0..nodes.len()).map(|n| std::array::from_fn(|k| slope(n, k))).collect()
    }

    fn residual<T: Number>(&self, nodes: &[Node<T>]) -> Vec<[T; 6]> {
        let (mut change, gradient) = (self.strain(nodes), self.gradient(nodes));
        for (gradient, node) in gradient.iter().zip(nodes) {
            for (slopes, rate) in gradient.iter().zip(node.velocity) {
                (0..6).for_each(|i| change[i] += slopes[i] * rate * self.damping_time);
            }
        }
        let row = |i: usize| (0..6).map(|j| change[j] * (self.stiffness[(i, j)] / self.length)).sum();
        let force: [T; 6] = std::array::from_fn(row);
        gradient
            .iter()
            .map(|gradient| each(gradient, |slopes| (0..6).map(|i| slopes[i] * force[i]).sum()))
            .collect()
    }

    fn energy<T: Number>(&self, nodes: &[Node<T>]) -> T {
        let change = self.strain(nodes);
        let factor = 0.5 / self.length;
        (0..36).map(|k| change[k / 6] * change[k % 6] * (factor * self.stiffness[(k / 6, k % 6)])).sum()
    }
}

/// A beam element through three frames: its strains by the series of T, its forces as their gradient.
#[derive(Clone, Copy)]
pub struct QuadraticOracle {
    pub nodes: [Option<usize>; 3],
    pub offsets: [Pose; 3],
    /// Strains of the initial shape at the two points.
    pub reference: [[f64; 6]; 2],
    /// Section stiffness by the length by s.
    pub stiffness: [Matrix6; 2],
    pub damping_time: f64,
}

/// [v, w] of two twists.
fn bracket<T: Number>(v: &[T; 6], w: &[T; 6]) -> [T; 6] {
    let half = |x: &[T; 6], first: usize| -> V3<T> { std::array::from_fn(|i| x[first + i]) };
    let turn = cross(&half(v, 0), &half(w, 0));
    let shift = sum(&cross(&half(v, 3), &half(w, 0)), &cross(&half(v, 0), &half(w, 3)));
    [turn[0], turn[1], turn[2], shift[0], shift[1], shift[2]]
}

impl QuadraticOracle {
    /// Strains by s at the two points: T(ξ) ξ′ = Σ (−1)ᵏ/(k + 1)! [ξ, [ξ, … ξ′]].
    pub fn strains<T: Number>(&self, nodes: &[Node<T>]) -> [[T; 6]; 2] {
        let arm =
            |end: usize| screw([self.nodes[1], self.nodes[end]], [self.offsets[1], self.offsets[end]], nodes);
        let arms: [[T; 6]; 2] = [arm(0), arm(2)];
        [-1.0, 1.0].map(|side: f64| {
            let s = side / 3.0_f64.sqrt();
            let combined =
                |a: f64, b: f64| -> [T; 6] { std::array::from_fn(|i| arms[0][i] * a + arms[1][i] * b) };
            let xi = combined(0.5 * s * (s - 1.0), 0.5 * s * (s + 1.0));
            let mut term = combined(s - 0.5, s + 0.5);
            let mut strain = term;
            // Rotations below 1.3, and one translation in each term: 22 · 1.3²¹/23! is below 1e-18.
            for k in 1..22 {
                term = bracket(&xi, &term).map(|x| -x / (k + 1) as f64);
                (0..6).for_each(|i| strain[i] += term[i]);
            }
            strain
        })
    }

    pub fn residual<T: Number>(&self, nodes: &[Node<T>]) -> Vec<[T; 6]> {
        let strains = self.strains(nodes);
        let slope = |n: usize, k: usize| {
            let mut moved: Vec<Node<Dual<T>>> = nodes.iter().map(Node::dual).collect();
            let mut twist = [Dual::from_re(T::zero()); 6];
            twist[k].eps = T::one();
            moved[n] = moved[n].moved(&twist);
            self.strains(&moved).map(|strain| strain.map(|component| component.eps))
        };
        let gradient: Vec<[[[T; 6]; 2]; 6]> =
            (0..nodes.len()).map(|n| std::array::from_fn(|k| slope(n, k))).collect();
        let mut wrenches = vec![[T::zero(); 6]; nodes.len()];
        for (point, stiffness) in self.stiffness.iter().enumerate() {
            let mut change: [T; 6] = std::array::from_fn(|i| strains[point][i] - self.reference[point][i]);
            for (gradient, node) in gradient.iter().zip(nodes) {
                for (slopes, rate) in gradient.iter().zip(node.velocity) {
                    (0..6).for_each(|i| change[i] += slopes[point][i] * rate * self.damping_time);
                }
            }
            let force: [T; 6] =
                std::array::from_fn(|i| (0..6).map(|j| change[j] * stiffness[(i, j)]).sum::<T>());
            for (wrench, gradient) in wrenches.iter_mut().zip(&gradient) {
                for (component, slopes) in wrench.iter_mut().zip(gradient) {
                    *component += (0..6).map(|i| slopes[point][i] * force[i]).sum::<T>();
                }
            }
        }
        wrenches
    }

    pub fn energy<T: Number>(&self, nodes: &[Node<T>]) -> T {
        let strains = self.strains(nodes);
        let mut energy = T::zero();
        for (point, stiffness) in self.stiffness.iter().enumerate() {
            let change: [T; 6] = std::array::from_fn(|i| strains[point][i] - self.reference[point][i]);
            energy +=
                (0..36).map(|k| change[k / 6] * change[k % 6] * (0.5 * stiffness[(k / 6, k % 6)])).sum::<T>();
        }
        energy
    }
}

/// Newton's and Euler's equations about a node that is not the centre of mass.
fn segment<T: Number>(
    node: &Node<T>,
    mass: f64,
    moment: &Vector3,
    inertia: &Matrix3,
    gravity: &Vector3,
    damping: f64,
) -> [T; 6] {
    let ([omega, u], [omega_dot, u_dot]) = (halves(&node.velocity), halves(&node.acceleration));
    let (moment, inertia): (V3<T>, M3<T>) = (vector(moment), matrix(inertia));
    let weight = times(&transposed(&node.rotation), &vector(gravity));
    let free = difference(&sum(&u_dot, &cross(&omega, &u)), &weight);
    let centre = sum(&cross(&omega_dot, &moment), &cross(&omega, &cross(&omega, &moment)));
    let force = sum(&each(&free, |a| a * mass), &centre);
    let momentum = sum(&each(&u, |u| u * mass), &cross(&omega, &moment));
    let spin = sum(&times(&inertia, &omega), &cross(&moment, &u));
    let own = times(&inertia, &omega);
    let turn = sum(&times(&inertia, &omega_dot), &cross(&omega, &own));
    let torque = sum(&turn, &cross(&moment, &free));
    joined(
        &std::array::from_fn(|i| torque[i] + spin[i] * damping),
        &std::array::from_fn(|i| force[i] + momentum[i] * damping),
    )
}

/// A load per length that keeps its direction in the world.
fn dead_load<T: Number>(node: &Node<T>, length: f64, moment: &Vector3, load: &[f64; 6]) -> [T; 6] {
    let [torque, force] = halves(&each(load, T::from));
    let to_body = transposed(&node.rotation);
    let (torque, force) = (times(&to_body, &torque), times(&to_body, &force));
    let arm = cross(&vector(moment), &force);
    joined(
        &std::array::from_fn(|i| -(torque[i] * length + arm[i])),
        &std::array::from_fn(|i| -(force[i] * length)),
    )
}
