//! Matrices like those of machines, for tests and benches: `[[M, Bᵀ], [B T, 0]]` with bodies of six
//! unknowns, M two per cent away from symmetry, T two per cent away from the identity.

use std::sync::Arc;

use super::Role;
use crate::solve::block::{BlockMatrix, BlockPattern};

/// Unknowns of a body.
const BODY: usize = 6;
/// How far M and T are from symmetry and identity.
const ASYMMETRY: f64 = 0.02;
/// Stiffness of a beam between two bodies of unit mass.
const STIFFNESS: f64 = 1e4;

/// Small reproducible random numbers (the splitmix64 generator).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Generator that starts at a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// Uniform in −1 … 1.
    pub fn symmetric(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    /// Uniform in 0 … `bound` − 1.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.bits() % bound as u64) as usize
    }
}

/// What decides the numbers of a sample, beside its seed.
#[derive(Clone, Copy, Debug)]
pub struct SampleScales {
    /// Largest body mass divided by the smallest.
    pub mass_ratio: f64,
    /// Step size h; beams enter with h² times their stiffness.
    pub time_step: f64,
}

impl Default for SampleScales {
    fn default() -> Self {
        Self { mass_ratio: 1.0, time_step: 1e-3 }
    }
}

/// Which bodies meet, without numbers.
#[derive(Clone, Debug, Default)]
pub struct SampleMachine {
    /// Number of bodies.
    pub body_count: usize,
    /// Pairs of bodies with a beam between them.
    pub beams: Vec<(usize, usize)>,
    /// Bodies that a joint holds, and its number of equations.
    pub joints: Vec<(Vec<usize>, usize)>,
}

/// A pattern with the roles of its groups (bodies first, then joints) and numbers.
#[derive(Clone, Debug)]
pub struct SampleMatrix {
    /// The pattern.
    pub pattern: Arc<BlockPattern>,
    /// The role of each group.
    pub roles: Vec<Role>,
    /// The numbers.
    pub matrix: BlockMatrix,
    machine: SampleMachine,
}

impl SampleMatrix {
    /// Hanging chain: every body is joined to the one before it, the first to the ground.
    pub fn chain(body_count: usize, rows: usize) -> Self {
        let joints = (0..body_count).map(|body| ((body.saturating_sub(1)..=body).collect(), rows)).collect();
        Self::new(SampleMachine { body_count, beams: Vec::new(), joints })
    }

    /// Beam clamped at its first node.
    pub fn beam(node_count: usize) -> Self {
        let beams = (1..node_count).map(|node| (node - 1, node)).collect();
        Self::new(SampleMachine { body_count: node_count, beams, joints: Vec::new() })
    }

    /// Binary tree of bodies.
    pub fn tree(body_count: usize, rows: usize) -> Self {
        let joints = (1..body_count).map(|body| (vec![(body - 1) / 2, body], rows)).collect();
        Self::new(SampleMachine { body_count, beams: Vec::new(), joints })
    }

    /// Closed chain.
    pub fn ring(body_count: usize, rows: usize) -> Self {
        let joints = (0..body_count).map(|body| (vec![body, (body + 1) % body_count], rows)).collect();
        Self::new(SampleMachine { body_count, beams: Vec::new(), joints })
    }

    /// One body that carries many others.
    pub fn hub(arm_count: usize, rows: usize) -> Self {
        let joints = (1..=arm_count).map(|arm| (vec![0, arm], rows)).collect();
        Self::new(SampleMachine { body_count: arm_count + 1, beams: Vec::new(), joints })
    }

    /// Square lattice of nodes: beams along the rows; along the columns a beam to a node of its own, which
    /// a spherical joint holds to the next. About fifteen unknowns a node.
    pub fn lattice(side: usize) -> Self {
        let nodes = side * side;
        let mut machine = SampleMachine { body_count: nodes, ..SampleMachine::default() };
        for node in 0..nodes {
            if node % side + 1 < side {
                machine.beams.push((node, node + 1));
            }
            if node + side < nodes {
                let end = machine.body_count;
                machine.body_count += 1;
                machine.beams.push((node, end));
                machine.joints.push((vec![end, node + side], 3));
            }
        }
        Self::new(machine)
    }

    /// Square lattice of crossing beams, held together by a spherical joint at every crossing; fifteen
    /// unknowns a crossing.
    pub fn grid(side: usize) -> Self {
        let crossings = side * side;
        let mut machine = SampleMachine { body_count: 2 * crossings, ..SampleMachine::default() };
        for crossing in 0..crossings {
            machine.joints.push((vec![crossing, crossings + crossing], 3));
            if crossing % side + 1 < side {
                machine.beams.push((crossing, crossing + 1));
            }
            if crossing + side < crossings {
                machine.beams.push((crossings + crossing, crossings + crossing + side));
            }
        }
        Self::new(machine)
    }

    /// Random tree with random loop closures. Every joint can be given to one of its bodies such that none
    /// has more rows than unknowns, so that random rows are independent.
    pub fn random(seed: u64, body_count: usize, closure_count: usize) -> Self {
        let mut random = Random::new(seed);
        let mut machine = SampleMachine { body_count, ..SampleMachine::default() };
        let mut freedoms = vec![BODY; body_count];
        for (body, freedoms) in freedoms.iter_mut().enumerate().skip(1) {
            let rows = 1 + random.below(4);
            *freedoms -= rows;
            machine.joints.push((vec![random.below(body), body], rows));
        }
        for _ in 0..closure_count {
            let rows = 1 + random.below(3);
            let mut bodies: Vec<usize> = (0..2 + random.below(2)).map(|_| random.below(body_count)).collect();
            bodies.sort_unstable();
            bodies.dedup();
            if let Some(&owner) = bodies.iter().find(|&&body| freedoms[body] >= rows) {
                freedoms[owner] -= rows;
                machine.joints.push((bodies, rows));
            }
        }
        for _ in 0..body_count / 3 {
            let pair = (random.below(body_count), random.below(body_count));
            if pair.0 != pair.1 {
                machine.beams.push(pair);
            }
        }
        Self::new(machine)
    }

    /// A machine with ordinary numbers.
    pub fn new(machine: SampleMachine) -> Self {
        let mut sizes = vec![BODY; machine.body_count];
        sizes.extend(machine.joints.iter().map(|joint| joint.1));
        let mut blocks: Vec<(usize, usize)> = (0..machine.body_count).map(|body| (body, body)).collect();
        for &(one, other) in &machine.beams {
            blocks.extend([(one, other), (other, one)]);
        }
        for (index, (bodies, _)) in machine.joints.iter().enumerate() {
            let joint = machine.body_count + index;
            blocks.extend(bodies.iter().flat_map(|&body| [(body, joint), (joint, body)]));
        }
        let mut roles = vec![Role::Primary; machine.body_count];
        roles.resize(sizes.len(), Role::Multiplier);
        let pattern = Arc::new(BlockPattern::new(&sizes, &sizes, blocks));
        let matrix = BlockMatrix::zeros(pattern.clone());
        let mut sample = Self { pattern, roles, matrix, machine };
        sample.set_values(1, SampleScales::default());
        sample
    }

    /// Number of unknowns.
    pub fn unknown_count(&self) -> usize {
        self.pattern.row_count()
    }

    /// Writes other random numbers into the matrix.
    pub fn set_values(&mut self, seed: u64, scales: SampleScales) {
        let mut random = Random::new(seed);
        self.matrix.fill(0.0);
        for body in 0..self.machine.body_count {
            let mass = scales.mass_ratio.powf(0.5 * random.symmetric());
            self.add_body(body, mass, &mut random);
        }
        for beam in 0..self.machine.beams.len() {
            let (one, other) = self.machine.beams[beam];
            self.add_beam(one, other, STIFFNESS * scales.time_step * scales.time_step, &mut random);
        }
        for joint in 0..self.machine.joints.len() {
            for place in 0..self.machine.joints[joint].0.len() {
                let body = self.machine.joints[joint].0[place];
                self.add_joint(self.machine.body_count + joint, body, &mut random);
            }
        }
    }

    fn add_body(&mut self, body: usize, mass: f64, random: &mut Random) {
        let mut block = self.block_mut(body, body);
        for row in 0..BODY {
            block[(row, row)] += mass * (1.5 + 0.5 * random.symmetric());
            for column in 0..row {
                // Below 1/5 in each row: diagonally dominant, hence definite.
                let entry = 0.15 * random.symmetric();
                block[(row, column)] += mass * (entry + ASYMMETRY * random.symmetric());
                block[(column, row)] += mass * (entry + ASYMMETRY * random.symmetric());
            }
        }
    }

    fn add_beam(&mut self, one: usize, other: usize, stiffness: f64, random: &mut Random) {
        for row in 0..BODY {
            let entry = stiffness * (1.5 + random.symmetric());
            for (row_body, column_body, sign) in
                [(one, one, 1.0), (one, other, -1.0), (other, one, -1.0), (other, other, 1.0)]
            {
                self.block_mut(row_body, column_body)[(row, row)] += sign * entry;
            }
        }
    }

    fn add_joint(&mut self, joint: usize, body: usize, random: &mut Random) {
        let rows = self.pattern.row_range(joint).len();
        let gradient = nalgebra::DMatrix::from_fn(rows, BODY, |_, _| random.symmetric());
        let tangent = nalgebra::DMatrix::from_fn(BODY, BODY, |row, column| {
            f64::from(u8::from(row == column)) + ASYMMETRY * random.symmetric()
        });
        self.block_mut(body, joint).copy_from(&gradient.transpose());
        self.block_mut(joint, body).copy_from(&(gradient * tangent));
    }

    fn block_mut(&mut self, row: usize, column: usize) -> nalgebra::DMatrixViewMut<'_, f64> {
        let block = self.pattern.find(row, column).expect("the sample's own pattern has this block");
        self.matrix.block_mut(block)
    }
}
