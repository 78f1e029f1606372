//! Which multipliers may be eliminated before all of their primaries.
//!
//! See the module page of [`super`]: a multiplier may go early with a primary that owns it alone.

use std::collections::VecDeque;

use super::ordering::Incidence;

const NONE: usize = usize::MAX;

/// A largest set of pairs (multiplier, primary that owns it) in which no primary occurs twice.
struct OwnerMatching {
    owner_of: Vec<usize>,
    owned_by: Vec<usize>,
    /// Primaries from which no path leads to a free one, so that searches need not enter them.
    exhausted: Vec<bool>,
}

/// For each bundle of multipliers the anchor it may be eliminated with, if it need not wait for the others;
/// `size` gives the unknowns of an anchor.
///
/// Owners are found by augmenting paths, earlier anchors preferred. Multipliers owned in the region that is
/// over-subscribed wait, and so do multipliers of more than two anchors.
pub(super) fn owners(
    incidence: &Incidence,
    size: impl Fn(usize) -> usize,
    position: &[usize],
) -> Vec<Option<usize>> {
    let candidates: Vec<Vec<usize>> = incidence
        .multipliers
        .iter()
        .map(|bundle| {
            let large_enough = |&&anchor: &&usize| size(anchor) >= bundle.rows;
            let mut fitting: Vec<usize> = bundle.met.iter().filter(large_enough).copied().collect();
            fitting.sort_unstable_by_key(|&anchor| position[anchor]);
            fitting
        })
        .collect();
    let matching = OwnerMatching::new(&candidates, incidence.anchors.len());
    let met: Vec<&[usize]> = incidence.multipliers.iter().map(|bundle| bundle.met.as_slice()).collect();
    let tight = matching.tight_region(&met);
    let may_go_early = |owner: usize, met: &[usize]| owner != NONE && !tight[owner] && met.len() <= 2;
    let pairs = matching.owner_of.iter().zip(met);
    pairs.map(|(&owner, met)| may_go_early(owner, met).then_some(owner)).collect()
}

impl OwnerMatching {
    fn new(candidates: &[Vec<usize>], anchor_count: usize) -> Self {
        let mut matching = Self {
            owner_of: vec![NONE; candidates.len()],
            owned_by: vec![NONE; anchor_count],
            exhausted: vec![false; anchor_count],
        };
        for (multiplier, anchors) in candidates.iter().enumerate() {
            if let Some(&anchor) = anchors.iter().find(|&&anchor| matching.owned_by[anchor] == NONE) {
                matching.pair(multiplier, anchor);
            }
        }
        let mut reached_from = vec![NONE; anchor_count];
        for multiplier in 0..candidates.len() {
            if matching.owner_of[multiplier] == NONE {
                matching.augment(multiplier, candidates, &mut reached_from);
            }
        }
        matching
    }

    fn pair(&mut self, multiplier: usize, anchor: usize) {
        self.owner_of[multiplier] = anchor;
        self.owned_by[anchor] = multiplier;
    }

    /// The smallest set of primaries that holds all those of multipliers without owner, and, with a primary,
    /// all those of the multiplier it owns.
    fn tight_region(&self, met: &[&[usize]]) -> Vec<bool> {
        let mut tight = vec![false; self.owned_by.len()];
        let mut waiting: Vec<usize> = (0..met.len()).filter(|&index| self.owner_of[index] == NONE).collect();
        while let Some(multiplier) = waiting.pop() {
            for &anchor in met[multiplier] {
                if !std::mem::replace(&mut tight[anchor], true) && self.owned_by[anchor] != NONE {
                    waiting.push(self.owned_by[anchor]);
                }
            }
        }
        tight
    }

    /// Searches breadth first for an anchor that owns nothing and shifts owners along the path to it. If
    /// there is none, what was reached is exhausted and no later search needs to enter it.
    fn augment(&mut self, start: usize, candidates: &[Vec<usize>], reached_from: &mut [usize]) {
        let mut reached = Vec::new();
        let mut waiting = VecDeque::from([start]);
        let mut free = None;
        'search: while let Some(multiplier) = waiting.pop_front() {
            for &anchor in &candidates[multiplier] {
                if self.exhausted[anchor] || reached_from[anchor] != NONE {
                    continue;
                }
                reached_from[anchor] = multiplier;
                reached.push(anchor);
                if self.owned_by[anchor] == NONE {
                    free = Some(anchor);
                    break 'search;
                }
                waiting.push_back(self.owned_by[anchor]);
            }
        }
        if free.is_none() {
            reached.iter().for_each(|&anchor| self.exhausted[anchor] = true);
        }
        while let Some(anchor) = free {
            let multiplier = reached_from[anchor];
            let given_up = self.owner_of[multiplier];
            self.pair(multiplier, anchor);
            free = (given_up != NONE).then_some(given_up);
        }
        reached.iter().for_each(|&anchor| reached_from[anchor] = NONE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::sparse_lu::samples::Random;

    fn region(matching: &OwnerMatching, met: &[Vec<usize>]) -> Vec<bool> {
        matching.tight_region(&met.iter().map(Vec::as_slice).collect::<Vec<_>>())
    }

    #[test]
    fn a_tree_gives_every_joint_an_owner_whatever_comes_first() {
        // r1 - p - q - r2: p and q must not both own the outer joints.
        let candidates = [vec![0, 1], vec![2, 3], vec![1, 2]];
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
            let shuffled: Vec<Vec<usize>> = order.iter().map(|&i| candidates[i].clone()).collect();
            let matching = OwnerMatching::new(&shuffled, 4);
            assert!(matching.owner_of.iter().all(|&owner| owner != NONE));
            assert!(region(&matching, &shuffled).iter().all(|tight| !tight));
        }
    }

    #[test]
    fn loops_that_leave_a_joint_over_make_their_bodies_tight_and_only_these() {
        // Ground - 0 - 1 - ground has three joints for two bodies; 2 and 3 hang on it as a tree.
        let candidates = [vec![0], vec![0, 1], vec![1], vec![1, 2], vec![2, 3]];
        let matching = OwnerMatching::new(&candidates, 4);
        assert_eq!(region(&matching, &candidates), [true, true, false, false]);
        assert_eq!(matching.owner_of[3..], [2, 3]);
    }

    /// Size of a largest matching by trying every subset of multipliers, for small cases.
    fn largest_matching(candidates: &[Vec<usize>], used: u32) -> usize {
        let Some((first, rest)) = candidates.split_first() else { return 0 };
        let without = largest_matching(rest, used);
        let with = first.iter().filter(|&&anchor| used & (1 << anchor) == 0);
        with.map(|&anchor| 1 + largest_matching(rest, used | (1 << anchor))).fold(without, usize::max)
    }

    #[test]
    fn as_many_joints_as_possible_have_an_owner_and_tight_regions_are_closed() {
        let mut random = Random::new(8);
        for _ in 0..200 {
            let anchors = 2 + random.below(5);
            let candidates: Vec<Vec<usize>> = (0..1 + random.below(8))
                .map(|_| {
                    let mut met = vec![random.below(anchors), random.below(anchors)];
                    met.dedup();
                    met
                })
                .collect();
            let matching = OwnerMatching::new(&candidates, anchors);
            let owned = matching.owner_of.iter().filter(|&&owner| owner != NONE).count();
            assert_eq!(owned, largest_matching(&candidates, 0));
            let tight = region(&matching, &candidates);
            for (multiplier, met) in candidates.iter().enumerate() {
                let owner = matching.owner_of[multiplier];
                if owner == NONE || tight[owner] {
                    // Rows of a tight region meet primaries of that region only.
                    assert!(met.iter().all(|&anchor| tight[anchor]));
                }
            }
        }
    }
}
