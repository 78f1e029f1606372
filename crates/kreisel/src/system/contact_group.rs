//! Contact groups in a system: pairs that may touch come and go, and with them blocks of the equations.
//!
//! Which pairs may touch follows from what the system remembers (see [`ContactGroup`]), so the equations stay
//! a function of state and memory. The pairs of the last memory asked for are kept, with their pattern; this
//! is a workspace and can be rebuilt at any time, to the last bit. As long as the same bodies may touch,
//! members may move on: couplings stay as they are.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock};

use super::assembly::LocalPart;
use super::motions::Seen;
use super::pass::Derivatives;
use super::{SwitchId, System};
use crate::dae::{Couplings, Point};
use crate::element::contact::{Contact, ContactGroup, Member};
use crate::element::{Element, Forces};
use crate::kinematics::{Energies, MAX_NODES, Motion, NodeMotion, Power, node_pose};
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

/// The pairs that were found last, and the remembered numbers from which they follow.
pub(super) type PairCache = RwLock<Option<(Vec<f64>, Arc<CandidatePairs>)>>;

/// Pairs that may touch.
pub(super) struct CandidatePairs {
    contacts: Vec<PairEntry>,
    /// Couplings of nodes that nothing else couples.
    added: Vec<(usize, usize)>,
    couplings: Couplings,
    /// Where each block of the pattern without pairs is in that with them.
    places: Vec<BlockId>,
}

/// A contact group, and two of its members.
type PairIndex = (usize, (usize, usize));

struct PairEntry {
    contact: Contact,
    pair: PairIndex,
    /// Block (i, j) of the local nodes, at `i · n + j`.
    blocks: Vec<BlockId>,
}

impl CandidatePairs {
    fn pairs(&self) -> impl Iterator<Item = PairIndex> + '_ {
        self.contacts.iter().map(|entry| entry.pair)
    }
}

impl PairEntry {
    /// Each of its nodes with each.
    fn couplings(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let nodes = self.contact.nodes();
        nodes.iter().flat_map(move |i| nodes.iter().map(move |j| (i.0, j.0)))
    }
}

impl System {
    /// Where the blocks of elements and joints are in a pattern, if it is not the one without pairs.
    pub(super) fn places_in<'f>(
        &self,
        found: Option<&'f Arc<CandidatePairs>>,
        pattern: &Arc<BlockPattern>,
    ) -> Option<Cow<'f, [BlockId]>> {
        let (found, base) = (found?, &self.couplings.force_node);
        if Arc::ptr_eq(pattern, base) {
            return None;
        }
        if Arc::ptr_eq(pattern, &found.couplings.force_node) {
            return Some(Cow::Borrowed(&found.places));
        }
        // A pattern of another search: found anew, or of another memory.
        let place = |(_, row, column)| pattern.find(row, column).expect("every pattern has these blocks");
        Some(Cow::Owned(base.blocks().map(place).collect()))
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
        let kept = self.kept.read().unwrap_or_else(PoisonError::into_inner);
        let before = match &*kept {
            Some((key, found)) if self.is_key(key, memory) => return Some(Arc::clone(found)),
            other => other.as_ref().map(|(_, found)| Arc::clone(found)),
        };
        drop(kept);
        let pairs = self.pairs(memory);
        let same = |found: &Arc<CandidatePairs>| found.pairs().eq(pairs.iter().copied());
        let found = match before {
            Some(before) if same(&before) => before,
            before => Arc::new(self.lay_out(&pairs, before.as_deref())),
        };
        let kept = (self.contact_group_key(memory), Arc::clone(&found));
        *self.kept.write().unwrap_or_else(PoisonError::into_inner) = Some(kept);
        Some(found)
    }

    /// The pairs that may touch with this memory.
    fn pairs(&self, memory: &[f64]) -> Vec<PairIndex> {
        let of_group = |(index, entry): (usize, &SystemContactGroup)| {
            let pairs = entry.contact_group.pairs(&memory[entry.memory.clone()]);
            pairs.into_iter().map(move |pair| (index, pair))
        };
        self.contact_groups.iter().enumerate().flat_map(of_group).collect()
    }

    /// Contacts and couplings of some pairs; couplings are those of other pairs if these couple the same
    /// nodes.
    fn lay_out(&self, pairs: &[PairIndex], before: Option<&CandidatePairs>) -> CandidatePairs {
        let entry = |&pair: &PairIndex| PairEntry {
            contact: self.contact_groups[pair.0].contact_group.contact(pair.1),
            pair,
            blocks: Vec::new(),
        };
        let contacts: Vec<PairEntry> = pairs.iter().map(entry).collect();
        let Couplings { force_node, momentum_node, .. } = &self.couplings;
        let is_new = |(i, j): &(usize, usize)| {
            [force_node, momentum_node].iter().any(|base| base.find(*i, *j).is_none())
        };
        let added: Vec<(usize, usize)> =
            contacts.iter().flat_map(|pair| pair.couplings()).filter(is_new).collect();
        let (couplings, places) = match before {
            _ if added.is_empty() => (self.couplings.clone(), Vec::new()),
            Some(before) if before.added == added => (before.couplings.clone(), before.places.clone()),
            _ => self.couplings_with(&added),
        };
        let mut found = CandidatePairs { contacts, added, couplings, places };
        let pattern = &found.couplings.force_node;
        for pair in &mut found.contacts {
            let place = |(i, j)| pattern.find(i, j).expect("the pair is in the pattern");
            pair.blocks = pair.couplings().map(place).collect();
        }
        found
    }

    /// Couplings with some more, and where the blocks of forces are among them.
    fn couplings_with(&self, added: &[(usize, usize)]) -> (Couplings, Vec<BlockId>) {
        let base = &self.couplings.force_node;
        let sizes = self.shape.node_sizes();
        let with_pairs = |base: &BlockPattern| {
            let blocks = base.blocks().map(|(_, row, column)| (row, column));
            BlockPattern::new(&sizes, &sizes, blocks.chain(added.iter().copied()))
        };
        let pattern = with_pairs(base);
        let is_dropped =
            |&(_, row, column): &(BlockId, usize, usize)| row != column && base.find(row, column).is_none();
        let dropped: Vec<_> =
            pattern.blocks().filter(is_dropped).map(|(_, row, column)| (row, column)).collect();
        let pattern = pattern.with_dropped(dropped);
        let place = |(_, row, column)| pattern.find(row, column).expect("it holds these blocks");
        let places = base.blocks().map(place).collect();
        let momentum_node = Arc::new(with_pairs(&self.couplings.momentum_node));
        (Couplings { force_node: Arc::new(pattern), momentum_node, ..self.couplings.clone() }, places)
    }

    /// Couplings with the pairs of a memory.
    pub(super) fn contact_group_couplings(&self, memory: &[f64]) -> Couplings {
        self.candidate_pairs(memory).map_or_else(|| self.couplings.clone(), |found| found.couplings.clone())
    }

    /// Whether the members of a pair are so far apart that they do nothing to each other.
    fn are_apart(&self, pair: &PairEntry, motions: &[NodeMotion]) -> bool {
        let (group, (i, j)) = pair.pair;
        let contact_group = &self.contact_groups[group].contact_group;
        let centres = [i, j].map(|index| {
            let Member { node, frame, .. } = &contact_group.members()[index];
            node.map_or(frame.position, |node| motions[node.0].pose.transform_point(&frame.position))
        });
        contact_group.distance((i, j), centres) > 0.0
    }

    /// Where the shape of a member has its centre.
    fn centre(&self, member: &Member, at: &Point) -> Vector3 {
        let point = &member.frame.position;
        member.node.map_or(*point, |node| {
            let node = &self.nodes[node.0];
            node_pose(node.group, &at.configuration[node.coordinates.clone()]).transform_point(point)
        })
    }

    /// Does something with each pair that is not known to be apart.
    fn with_pairs(&self, found: &CandidatePairs, seen: Seen, mut action: impl FnMut(&PairEntry, &Motion)) {
        let on = |contact_group: usize| {
            let switch = self.contact_groups[contact_group].switch;
            switch.is_none_or(|switch| self.is_on(switch, seen.at.memory))
        };
        let pairs = found.contacts.iter().filter(|pair| on(pair.pair.0));
        for pair in pairs.filter(|pair| !self.are_apart(pair, seen.motions)) {
            self.with_seen(pair.contact.nodes(), seen, &(0..0), |motion| action(pair, motion));
        }
    }

    /// Adds the forces of all pairs to the equilibrium, and their derivatives where these are wanted, if the
    /// pattern has their blocks: that of initial accelerations needs none.
    pub(super) fn add_contact_groups(
        &self,
        seen: Seen,
        mut equilibrium: Option<&mut [f64]>,
        derivatives: Option<&mut Derivatives>,
    ) {
        let Some(found) = self.candidate_pairs(seen.at.memory) else { return };
        let is =
            |pattern: &Arc<BlockPattern>, couplings: &Couplings| Arc::ptr_eq(pattern, &couplings.force_node);
        let own = derivatives.as_ref().is_some_and(|out| is(out.pattern, &found.couplings));
        let mut derivatives = derivatives.filter(|out| own || !is(out.pattern, &self.couplings));
        if equilibrium.is_none() && derivatives.is_none() {
            return;
        }
        self.with_pairs(&found, seen, |pair, motion| {
            let nodes = pair.contact.nodes();
            let mut wrenches = [Vector6::zeros(); MAX_NODES];
            let mut asked = Forces { wrenches: Some(&mut wrenches), ..Forces::default() };
            if let Some(Derivatives { weights, out, pattern, local, .. }) = derivatives.as_deref_mut() {
                local.tangent.reset(nodes.len());
                (asked.weights, asked.tangent) = (*weights, Some(&mut local.tangent));
                pair.contact.evaluate(motion, &mut asked);
                let searched: Option<Vec<BlockId>> = match own {
                    true => None,
                    false => pair.couplings().map(|(i, j)| pattern.find(i, j)).collect(),
                };
                if let Some(blocks) = if own { Some(&pair.blocks) } else { searched.as_ref() } {
                    let part = LocalPart { nodes, motions: motion.nodes, blocks, places: None };
                    self.add_tangent(&part, &local.tangent, || wrenches, *weights, &mut out.forces);
                }
            } else {
                pair.contact.evaluate(motion, &mut asked);
            }
            if let Some(out) = equilibrium.as_deref_mut() {
                self.add_forces(nodes, motion.nodes, &wrenches, out);
            }
        });
    }

    pub(super) fn contact_group_energies_and_power(&self, seen: Seen) -> (Energies, Power) {
        let mut sums = (Energies::default(), Power::default());
        let Some(found) = self.candidate_pairs(seen.at.memory) else { return sums };
        self.with_pairs(&found, seen, |pair, motion| {
            let (mut energies, mut power) = (Energies::default(), Power::default());
            let (energies_wanted, power_wanted) = (Some(&mut energies), Some(&mut power));
            let mut asked = Forces { energies: energies_wanted, power: power_wanted, ..Forces::default() };
            pair.contact.evaluate(motion, &mut asked);
            sums.0 += energies;
            sums.1 += power;
        });
        sums
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

    /// Whether two memories stand for different couplings.
    pub(super) fn contact_groups_differ(&self, before: &[f64], after: &[f64]) -> bool {
        let moved = |entry: &SystemContactGroup| {
            entry.contact_group.differs(&before[entry.memory.clone()], &after[entry.memory.clone()])
        };
        if !self.contact_groups.iter().any(moved) {
            return false;
        }
        let [before, after] = [before, after].map(|memory| self.candidate_pairs(memory));
        match (before, after) {
            (Some(before), Some(after)) => before.added != after.added,
            _ => false,
        }
    }

    /// What happens between the members of the contact group of a name.
    pub fn group_contact(&self, name: &str, at: &Point) -> GroupContact {
        let mut all = GroupContact::default();
        let is_of = |pair: &PairEntry| self.contact_groups[pair.pair.0].name == name;
        let Some(found) = self.candidate_pairs(at.memory) else { return all };
        all.pairs = found.contacts.iter().filter(|pair| is_of(pair)).count();
        let count = |pair: &PairEntry, motion: &Motion| {
            let contact = pair.contact.contact(motion);
            if is_of(pair) && contact.depth > 0.0 {
                all.touching += 1;
                all.normal_force += contact.normal_force;
                all.depth = all.depth.max(contact.depth);
            }
        };
        self.with_all_seen(at, |seen| self.with_pairs(&found, seen, count));
        all
    }
}
