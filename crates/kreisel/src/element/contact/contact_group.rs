//! Many shapes of which any two may touch: who is near whom.
//!
//! Each member has a sphere about its shape, widened by a margin. Pairs of widened spheres that overlap may
//! touch; they are found with a grid in time n log n. As long as no member has left the middle of its own
//! widened sphere by more than the margin, no other pair can touch, so the pairs stay as they are for many
//! steps. Margins follow speeds and steps: those of a free fall with long steps are given up when impacts
//! make the steps short, because every pair costs. Where the members stood when the pairs were found is
//! remembered with the state: the pairs follow from it alone, and a restarted run finds the same ones.

use std::collections::HashSet;

use super::{Contact, Friction, NormalLaw, Surface};
use crate::kinematics::NodeId;
use crate::lie::{Pose, Vector3};

/// A shape of a contact group.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    /// Node, or `None` for the ground.
    pub node: Option<NodeId>,
    /// Frame of the shape in axes of the node, or in the world.
    pub frame: Pose,
    /// The shape.
    pub surface: Surface,
}

/// Shapes of which any two may touch, by one law.
#[derive(Clone, Debug)]
pub struct ContactGroup {
    members: Vec<Member>,
    law: NormalLaw,
    friction: Friction,
    /// Effective radius of Hertz's law where the shapes do not give one.
    radius: Option<f64>,
    /// Pairs of nodes that joints hold together, which do not touch.
    joined: HashSet<(NodeId, NodeId)>,
    /// Least margin.
    margin: f64,
}

/// Numbers remembered per member: where it was, and its margin.
const PER_MEMBER: usize = 4;
/// Least margin as part of the smallest member's size. A choice between pairs that are looked at in vain and
/// lists that are made again often.
const MARGIN: f64 = 0.2;
/// Margin in m where no member has a size, so that nothing else gives a length.
const MIN_MARGIN: f64 = 1e-3;
/// Steps at the present speed for which a margin lasts, as long as it stays narrow. A choice between long
/// lists of pairs and lists that are made again often.
const AHEAD: f64 = 10.0;
/// Least margins for which a wider one lasts fewer steps, so that not everybody is beside everybody in a free
/// fall with long steps.
const NARROW: f64 = 2.0;
/// A step may be this much longer than the one before: the step control lets it grow by 1 + π/2 at most.
const GROWTH: f64 = 2.6;
/// Margins this much wider than the present speed and step ask for are renewed: they stand for pairs that are
/// far apart.
const TOO_WIDE: f64 = 2.0;
/// Shapes reach this much further than they are drawn: edges and axes that lie flat bulge by less than a
/// hundredth.
const BULGE: f64 = 1.01;
/// Members this much larger than the middle one are kept out of the grid and meet all others. A choice
/// between cells that are too large for most members and members that meet everybody.
const LARGE: f64 = 4.0;

impl ContactGroup {
    /// A contact group with its law; with laws that know the speed of meeting it is their rest speed, for
    /// every pair.
    pub fn new(members: Vec<Member>, law: NormalLaw, friction: Friction, radius: Option<f64>) -> Self {
        let sizes = members.iter().map(|member| member.surface.extent()).filter(|size| *size > 0.0);
        let smallest = sizes.fold(f64::INFINITY, f64::min);
        let margin = if smallest.is_finite() { MARGIN * smallest } else { MIN_MARGIN };
        Self { members, law, friction, radius, joined: HashSet::new(), margin }
    }

    /// The members.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// Lets two nodes pass through each other, because a joint holds them together.
    pub(crate) fn join(&mut self, first: NodeId, second: NodeId) {
        self.joined.insert((first.min(second), first.max(second)));
    }

    /// How many numbers are remembered: for each member, and the time.
    pub(crate) fn memory_count(&self) -> usize {
        PER_MEMBER * self.members.len() + 1
    }

    /// Renews what is remembered where a member may leave its margin within the next step.
    ///
    /// `at` gives position and speed of a member's shape.
    pub(crate) fn remember(&self, time: f64, at: impl Fn(&Member) -> (Vector3, f64), memory: &mut [f64]) {
        let (places, last) = memory.split_at_mut(PER_MEMBER * self.members.len());
        let step = (time - last[0]).max(0.0);
        let mut renew = is_fresh(places);
        let (mut present, mut wanted) = (0.0, 0.0);
        for (place, member) in places.chunks_exact(PER_MEMBER).zip(&self.members) {
            let (position, speed) = at(member);
            let offset = (position - Vector3::new(place[0], place[1], place[2])).norm();
            renew |= offset + GROWTH * speed * step > place[3];
            present += place[3];
            wanted += self.wanted_margin(speed * step);
        }
        if renew || present > TOO_WIDE * wanted {
            for (place, member) in places.chunks_exact_mut(PER_MEMBER).zip(&self.members) {
                let (position, speed) = at(member);
                place[..3].copy_from_slice(position.as_slice());
                place[3] = self.wanted_margin(speed * step);
            }
        }
        last[0] = time;
    }

    /// Margin of a member with this way in the last step.
    fn wanted_margin(&self, offset: f64) -> f64 {
        self.margin + (AHEAD * offset).min((2.0 * GROWTH * offset).max(NARROW * self.margin))
    }

    /// Whether two memories stand for different pairs.
    pub(crate) fn differs(&self, before: &[f64], after: &[f64]) -> bool {
        let places = PER_MEMBER * self.members.len();
        before[..places] != after[..places]
    }

    /// The pairs that may touch, in order; none before anything is remembered.
    pub(crate) fn pairs(&self, memory: &[f64]) -> Vec<(usize, usize)> {
        if is_fresh(&memory[..PER_MEMBER * self.members.len()]) {
            return Vec::new();
        }
        let place = |index: usize| {
            let place = &memory[PER_MEMBER * index..PER_MEMBER * (index + 1)];
            Ball {
                centre: Vector3::new(place[0], place[1], place[2]),
                radius: self.members[index].surface.extent() + place[3],
            }
        };
        let balls: Vec<Ball> = (0..self.members.len()).map(place).collect();
        let Search { mut pairs, .. } = overlapping(&balls);
        let margin = |index: usize| memory[PER_MEMBER * index + 3];
        // Spheres do not know how far from a plane they are.
        let near = |i: usize, j: usize| {
            self.distance((i, j), [balls[i].centre, balls[j].centre]) <= margin(i) + margin(j)
        };
        pairs.retain(|&(i, j)| self.may_touch(i, j) && near(i, j));
        pairs
    }

    /// A distance that two members have at least, by where the centres of their shapes are.
    pub(crate) fn distance(&self, (i, j): (usize, usize), centres: [Vector3; 2]) -> f64 {
        let offset = centres[1] - centres[0];
        let ends =
            [(&self.members[i], &self.members[j], offset), (&self.members[j], &self.members[i], -offset)];
        let above = |(plane, other, offset): (&Member, &Member, Vector3)| {
            let fixed = plane.surface == Surface::Plane && plane.node.is_none();
            fixed.then(|| (plane.frame.rotation * Vector3::z()).dot(&offset) - BULGE * other.surface.extent())
        };
        let spheres = || offset.norm() - BULGE * (ends[0].0.surface.extent() + ends[1].0.surface.extent());
        ends.into_iter().find_map(above).unwrap_or_else(spheres)
    }

    fn may_touch(&self, i: usize, j: usize) -> bool {
        let (first, second) = (&self.members[i], &self.members[j]);
        let joined = |a: NodeId, b: NodeId| self.joined.contains(&(a.min(b), a.max(b)));
        match (first.node, second.node) {
            (None, None) => false,
            (Some(a), Some(b)) if a == b || joined(a, b) => false,
            _ => true,
        }
    }

    /// The contact of a pair.
    pub(crate) fn contact(&self, (i, j): (usize, usize)) -> Contact {
        let pair = [self.members[i], self.members[j]];
        let nodes = pair.map(|member| member.node);
        let frames = pair.map(|member| member.frame);
        let contact = Contact::new(nodes, frames, pair.map(|member| member.surface), self.law, self.friction);
        match self.radius {
            Some(radius) => contact.with_radius(radius),
            None => contact,
        }
    }
}

/// Whether nothing is remembered yet: margins are never zero.
fn is_fresh(places: &[f64]) -> bool {
    places.chunks_exact(PER_MEMBER).all(|place| place[3] == 0.0)
}

/// A sphere that holds a member; of infinite radius for a plane.
struct Ball {
    centre: Vector3,
    radius: f64,
}

impl Ball {
    fn meets(&self, other: &Ball) -> bool {
        let reach = self.radius + other.radius;
        !reach.is_finite() || (self.centre - other.centre).norm_squared() < reach * reach
    }
}

/// Pairs of spheres that overlap, and how many were looked at to find them.
#[derive(Default)]
struct Search {
    pairs: Vec<(usize, usize)>,
    checks: usize,
}

impl Search {
    /// Looks at a pair.
    fn check(&mut self, balls: &[Ball], i: usize, j: usize) {
        self.checks += 1;
        if balls[i].meets(&balls[j]) {
            self.pairs.push((i.min(j), i.max(j)));
        }
    }
}

/// Pairs of spheres that overlap, each once and in order.
fn overlapping(balls: &[Ball]) -> Search {
    let mut radii: Vec<f64> =
        balls.iter().map(|ball| ball.radius).filter(|radius| radius.is_finite()).collect();
    radii.sort_by(f64::total_cmp);
    let limit = radii.get(radii.len() / 2).map_or(0.0, |middle| LARGE * middle);
    let (small, large): (Vec<usize>, Vec<usize>) =
        (0..balls.len()).partition(|&index| balls[index].radius <= limit);
    let mut search = Search::default();
    for (position, &i) in large.iter().enumerate() {
        large[position + 1..].iter().chain(&small).for_each(|&j| search.check(balls, i, j));
    }
    let widest = small.iter().map(|&index| balls[index].radius).fold(0.0, f64::max);
    search_grid(balls, &small, 2.0 * widest, &mut search);
    search.pairs.sort_unstable();
    search
}

type Cell = [i64; 3];

/// Overlapping pairs among some spheres, none of them wider than a cell.
fn search_grid(balls: &[Ball], members: &[usize], size: f64, search: &mut Search) {
    if size <= 0.0 {
        return;
    }
    // Beyond 1e15 cells neighbours are lost in rounding; a machine so large has other troubles.
    let cell = |index: usize| -> Cell {
        std::array::from_fn(|axis| (balls[index].centre[axis] / size).floor() as i64)
    };
    let mut sorted: Vec<(Cell, usize)> = members.iter().map(|&index| (cell(index), index)).collect();
    sorted.sort_unstable();
    for (position, &(cell, i)) in sorted.iter().enumerate() {
        let mut meet = |j: usize| search.check(balls, i, j);
        sorted[position + 1..].iter().take_while(|(other, _)| *other == cell).for_each(|&(_, j)| meet(j));
        for neighbour in later_neighbours(cell) {
            let first = sorted.partition_point(|(other, _)| *other < neighbour);
            sorted[first..].iter().take_while(|(other, _)| *other == neighbour).for_each(|&(_, j)| meet(j));
        }
    }
}

/// The 13 neighbours of a cell that come after it, so that each pair of cells is visited once.
fn later_neighbours(cell: Cell) -> impl Iterator<Item = Cell> {
    let offsets = (-1..=1).flat_map(|x| (-1..=1).flat_map(move |y| (-1..=1).map(move |z| [x, y, z])));
    offsets
        .filter(|offset| *offset > [0, 0, 0])
        .map(move |offset| std::array::from_fn(|axis| cell[axis].saturating_add(offset[axis])))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn balls(count: usize, side: f64) -> Vec<Ball> {
        let mut seed = 1_u64;
        let mut next = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 11) as f64 / (1_u64 << 53) as f64
        };
        let ball = |_| Ball {
            centre: side * Vector3::new(next(), next(), next()) - Vector3::repeat(0.5 * side),
            radius: 0.3 + 0.4 * next(),
        };
        (0..count).map(ball).collect()
    }

    #[test]
    fn the_grid_finds_the_pairs_of_a_search_over_all() {
        let mut balls = balls(300, 8.0);
        balls[7].radius = 5.0;
        balls[40].radius = f64::INFINITY;
        let mut all = Vec::new();
        for i in 0..balls.len() {
            all.extend((i + 1..balls.len()).filter(|&j| balls[i].meets(&balls[j])).map(|j| (i, j)));
        }
        assert!(all.len() > 500);
        assert_eq!(overlapping(&balls).pairs, all);
    }

    #[test]
    fn looking_for_pairs_costs_as_much_per_ball_in_a_large_contact_group_as_in_a_small_one() {
        // The same density, and a floor, which is beside every ball.
        let checks = |count: usize, side: f64| {
            let mut balls = balls(count, side);
            balls[0].radius = f64::INFINITY;
            overlapping(&balls).checks as f64 / count as f64
        };
        let [small, middle, large] =
            [(125, 5.0), (1000, 10.0), (8000, 20.0)].map(|(n, side)| checks(n, side));
        // Balls at the rim have fewer neighbours: a cube of k cells a side has (1 − 2/(3k))³ of the inner
        // ones' pairs, so that checks per ball grow towards those of an endless contact group and no further.
        // All pairs would be 8 and 64 times as many.
        assert!(middle < 1.6 * small && large < 1.3 * middle, "{small} {middle} {large}");
        // A cell of 1.4 holds 2.7 balls, and 13 more cells are looked at: 1.4 + 36 and the floor.
        assert!(large < 40.0, "{large}");
    }

    #[test]
    fn members_that_stay_within_their_margin_keep_their_pairs() {
        let sphere = |node: usize| Member {
            node: Some(NodeId(node)),
            frame: Pose::identity(),
            surface: Surface::Sphere { radius: 0.5 },
        };
        let law = NormalLaw::Linear { stiffness: 1.0, damping: 0.0, transition: 1.0 };
        let contact_group = ContactGroup::new(vec![sphere(0), sphere(1)], law, Friction::None, None);
        let at =
            |x: f64| move |member: &Member| (Vector3::new(x * member.node.unwrap().0 as f64, 0.0, 0.0), 0.0);
        let mut memory = vec![0.0; contact_group.memory_count()];
        contact_group.remember(0.0, at(3.0), &mut memory);
        assert!(contact_group.pairs(&memory).is_empty());
        let before = memory.clone();
        // The margin is a fifth of the radius.
        contact_group.remember(1.0, at(2.95), &mut memory);
        assert!(!contact_group.differs(&before, &memory));
        contact_group.remember(2.0, at(1.1), &mut memory);
        assert!(contact_group.differs(&before, &memory));
        assert_eq!(contact_group.pairs(&memory), [(0, 1)]);
    }
}
