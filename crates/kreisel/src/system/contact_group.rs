//! Contact groups in a system: pairs that may touch come and go, and with them blocks of the equations.
//!
//! Which pairs may touch follows from what the system remembers (see [`ContactGroup`]), so the equations stay
//! a function of state and memory. The pairs of the last memory asked for are kept, with their pattern; this
//! is a workspace and can be rebuilt at any time, to the last bit.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock};

use super::assembly::LocalPart;
use super::{SwitchId, System};
use crate::dae::{Couplings, ForceMatrix, Point, TangentWeights};
use crate::element::contact::{Contact, ContactGroup, Member};
use crate::element::{Element, Forces};
use crate::kinematics::{Energies, LocalTangent, MAX_NODES, Motion, Power};
use crate::lie::{Vector3, Vector6};
use crate::solve::block::{BlockId, BlockPattern};

/// A contact group with its name and its place in the memory.
pub(super) struct SystemContactGroup {
    pub contact_group: ContactGroup,
    pub name: String,
    pub switch: Option<SwitchId>,
    pub memory: Range<usize>,
}

/// What happens between the members of a contact group.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GroupContact {
    /// Pairs that are near enough to be looked at.
    pub pairs: usize,
    /// Pairs that touch.
    pub touching: usize,
    /// Sum of their normal forces in N.
    pub normal_force: f64,
    /// Largest depth in m.
    pub depth: f64,
}

/// The pairs that were found last.
pub(super) type Kept = RwLock<Option<Arc<CandidatePairs>>>;

/// Pairs that may touch as long as a memory stays as it is.
pub(super) struct CandidatePairs {
    /// The remembered numbers from which the pairs follow.
    key: Vec<f64>,
    contacts: Vec<PairEntry>,
    couplings: Couplings,
    /// Where each block of the pattern without pairs is in that with them.
    places: Vec<BlockId>,
}

struct PairEntry {
    contact: Contact,
    contact_group: usize,
    members: (usize, usize),
    /// Block (i, j) of the local nodes, at `i · n + j`.
    blocks: Vec<BlockId>,
}

impl PairEntry {
    fn wrenches(&self, motion: &Motion) -> [Vector6; MAX_NODES] {
        let mut wrenches = [Vector6::zeros(); MAX_NODES];
        let mut asked = Forces { wrenches: Some(&mut wrenches), ..Forces::default() };
        self.contact.evaluate(motion, &mut asked);
        wrenches
    }
}

impl System {
    /// Where the blocks of elements and joints are in a pattern, if it is not the one without pairs.
    pub(super) fn places_in<'f>(
        &self,
        found: Option<&'f Arc<CandidatePairs>>,
        pattern: &Arc<BlockPattern>,
    ) -> Option<Cow<'f, [BlockId]>> {
        let found = found?;
        if Arc::ptr_eq(pattern, &found.couplings.force_node) {
            return Some(Cow::Borrowed(&found.places));
        }
        let base = &self.couplings.force_node;
        // A pattern of another search: found anew, or of another memory.
        (!Arc::ptr_eq(pattern, base)).then(|| {
            let place = |(_, row, column)| pattern.find(row, column).expect("every pattern has these blocks");
            Cow::Owned(base.blocks().map(place).collect())
        })
    }
}

impl System {
    /// What all contact groups remember of where their members were.
    fn contact_group_key(&self, memory: &[f64]) -> Vec<f64> {
        let places = |entry: &SystemContactGroup| entry.memory.start..entry.memory.end - 1;
        self.contact_groups.iter().flat_map(|entry| memory[places(entry)].iter().copied()).collect()
    }

    fn is_key(&self, key: &[f64], memory: &[f64]) -> bool {
        let mut rest = key;
        self.contact_groups.iter().all(|entry| {
            let places = &memory[entry.memory.start..entry.memory.end - 1];
            let (own, others) = rest.split_at(places.len());
            rest = others;
            own == places
        })
    }

    /// The pairs that may touch with this memory; nothing without contact groups.
    pub(super) fn candidate_pairs(&self, memory: &[f64]) -> Option<Arc<CandidatePairs>> {
        if self.contact_groups.is_empty() {
            return None;
        }
        let kept = self.kept.read().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(found) = kept.filter(|found| self.is_key(&found.key, memory)) {
            return Some(found);
        }
        let found = Arc::new(self.find_pairs(memory));
        *self.kept.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&found));
        Some(found)
    }

    fn find_pairs(&self, memory: &[f64]) -> CandidatePairs {
        let mut contacts = Vec::new();
        for (contact_group, entry) in self.contact_groups.iter().enumerate() {
            let pairs = entry.contact_group.pairs(&memory[entry.memory.clone()]);
            contacts.extend(pairs.into_iter().map(|pair| PairEntry {
                contact: entry.contact_group.contact(pair),
                contact_group,
                members: pair,
                blocks: Vec::new(),
            }));
        }
        let base = &self.couplings.force_node;
        let sizes = self.shape.node_sizes();
        let between = contacts.iter().flat_map(|pair| {
            let nodes = pair.contact.nodes();
            nodes.iter().flat_map(move |i| nodes.iter().map(move |j| (i.0, j.0)))
        });
        let between: Vec<(usize, usize)> = between.collect();
        let with_pairs = |base: &BlockPattern| {
            let blocks = base.blocks().map(|(_, row, column)| (row, column));
            BlockPattern::new(&sizes, &sizes, blocks.chain(between.iter().copied()))
        };
        let pattern = with_pairs(base);
        let added =
            |&(_, row, column): &(BlockId, usize, usize)| row != column && base.find(row, column).is_none();
        let dropped: Vec<_> = pattern.blocks().filter(added).map(|(_, row, column)| (row, column)).collect();
        let pattern = pattern.with_dropped(dropped);
        let place =
            |row: usize, column: usize| pattern.find(row, column).expect("the pair is in the pattern");
        let places = base.blocks().map(|(_, row, column)| place(row, column)).collect();
        for pair in &mut contacts {
            let nodes = pair.contact.nodes();
            let blocks = nodes.iter().flat_map(|i| nodes.iter().map(|j| place(i.0, j.0)));
            pair.blocks = blocks.collect();
        }
        let momentum_node = Arc::new(with_pairs(&self.couplings.momentum_node));
        let couplings = Couplings { force_node: Arc::new(pattern), momentum_node, ..self.couplings.clone() };
        CandidatePairs { key: self.contact_group_key(memory), contacts, couplings, places }
    }

    /// Couplings with the pairs of a memory.
    pub(super) fn contact_group_couplings(&self, memory: &[f64]) -> Couplings {
        self.candidate_pairs(memory).map_or_else(|| self.couplings.clone(), |found| found.couplings.clone())
    }

    /// Whether the members of a pair are so far apart that they do nothing to each other.
    fn are_apart(&self, pair: &PairEntry, at: &Point) -> bool {
        let contact_group = &self.contact_groups[pair.contact_group].contact_group;
        let (i, j) = pair.members;
        let centres = [i, j].map(|index| self.centre(&contact_group.members()[index], at));
        contact_group.distance(pair.members, centres) > 0.0
    }

    /// Where the shape of a member has its centre.
    fn centre(&self, member: &Member, at: &Point) -> Vector3 {
        let point = &member.frame.position;
        member.node.map_or(*point, |node| self.motion(node, at).point(point))
    }

    /// Does something with each pair that is not known to be apart.
    fn with_pairs(&self, at: &Point, mut action: impl FnMut(&PairEntry, &Motion)) {
        let Some(found) = self.candidate_pairs(at.memory) else { return };
        let on = |contact_group: usize| {
            self.contact_groups[contact_group].switch.is_none_or(|switch| self.is_on(switch, at.memory))
        };
        for pair in found.contacts.iter().filter(|pair| on(pair.contact_group) && !self.are_apart(pair, at)) {
            self.with_motion(pair.contact.nodes(), at, &(0..0), |motion| action(pair, motion));
        }
    }

    pub(super) fn add_contact_group_forces(&self, at: &Point, out: &mut [f64]) {
        self.with_pairs(at, |pair, motion| {
            self.add_forces(pair.contact.nodes(), motion.nodes, &pair.wrenches(motion), out);
        });
    }

    /// Adds the derivatives of all pairs, if the pattern has their blocks: that of initial accelerations
    /// needs none.
    pub(super) fn add_contact_group_tangents(
        &self,
        at: &Point,
        weights: TangentWeights,
        out: &mut ForceMatrix,
    ) {
        let Some(found) = self.candidate_pairs(at.memory) else { return };
        let ForceMatrix::Apart { stiffness, .. } = out else { return };
        let pattern = Arc::clone(stiffness.pattern());
        if Arc::ptr_eq(&pattern, &self.couplings.force_node) {
            return;
        }
        let own = Arc::ptr_eq(&pattern, &found.couplings.force_node);
        let mut tangent = LocalTangent::zeros(0);
        self.with_pairs(at, |pair, motion| {
            let nodes = pair.contact.nodes();
            let searched: Option<Vec<BlockId>> = match own {
                true => None,
                false => nodes.iter().flat_map(|i| nodes.iter().map(|j| pattern.find(i.0, j.0))).collect(),
            };
            let Some(blocks) = (if own { Some(&pair.blocks) } else { searched.as_ref() }) else { return };
            tangent.reset(nodes.len());
            pair.contact
                .evaluate(motion, &mut Forces { weights, tangent: Some(&mut tangent), ..Forces::default() });
            let part = LocalPart { nodes, motions: motion.nodes, blocks, places: None };
            self.add_tangent(&part, &tangent, || pair.wrenches(motion), weights, out);
        });
    }

    pub(super) fn contact_group_energies(&self, at: &Point) -> Energies {
        let mut sum = Energies::default();
        self.with_pairs(at, |pair, motion| {
            let mut energies = Energies::default();
            let mut asked = Forces { energies: Some(&mut energies), ..Forces::default() };
            pair.contact.evaluate(motion, &mut asked);
            sum += energies;
        });
        sum
    }

    pub(super) fn contact_group_power(&self, at: &Point) -> Power {
        let mut sum = Power::default();
        self.with_pairs(at, |pair, motion| {
            let mut power = Power::default();
            let mut asked = Forces { power: Some(&mut power), ..Forces::default() };
            pair.contact.evaluate(motion, &mut asked);
            sum += power;
        });
        sum
    }

    pub(super) fn remember_contact_groups(&self, at: &Point, memory: &mut [f64]) {
        for entry in &self.contact_groups {
            let motion = |member: &Member| -> (Vector3, f64) {
                let speed = |node| self.motion(node, at).point_velocity(&member.frame.position).norm();
                (self.centre(member, at), member.node.map_or(0.0, speed))
            };
            entry.contact_group.remember(at.time, motion, &mut memory[entry.memory.clone()]);
        }
    }

    /// Whether two memories stand for different pairs.
    pub(super) fn contact_groups_differ(&self, before: &[f64], after: &[f64]) -> bool {
        self.contact_groups.iter().any(|entry| {
            entry.contact_group.differs(&before[entry.memory.clone()], &after[entry.memory.clone()])
        })
    }

    /// What happens between the members of the contact group of a name.
    pub fn group_contact(&self, name: &str, at: &Point) -> GroupContact {
        let mut all = GroupContact::default();
        let is_of = |pair: &PairEntry| self.contact_groups[pair.contact_group].name == name;
        if let Some(found) = self.candidate_pairs(at.memory) {
            all.pairs = found.contacts.iter().filter(|pair| is_of(pair)).count();
        }
        self.with_pairs(at, |pair, motion| {
            if !is_of(pair) {
                return;
            }
            let contact = pair.contact.contact(motion);
            if contact.depth > 0.0 {
                all.touching += 1;
                all.normal_force += contact.normal_force;
                all.depth = all.depth.max(contact.depth);
            }
        });
        all
    }
}
