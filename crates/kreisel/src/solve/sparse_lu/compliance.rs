//! What multipliers are given on purpose, so that dependent equations have a solution.

use super::Role;
use crate::solve::block::BlockPattern;

/// Where a matrix holds the compliance of its multipliers: on their diagonal, or, where they exchange rows
/// with what is paired with them, on the diagonal between the two.
#[derive(Clone, Debug)]
pub(super) struct Compliance {
    /// For each unknown up to two places in the block values, `u32::MAX` for none.
    places: Vec<[u32; 2]>,
}

impl Compliance {
    pub fn new(pattern: &BlockPattern, roles: &[Role]) -> Self {
        let mut places = vec![[u32::MAX; 2]; pattern.row_count()];
        let mut note = |row: usize, column: usize, side: usize| {
            let Some(block) = pattern.find(row, column) else { return };
            let (rows, first) = (pattern.row_range(row), pattern.value_range(block).start);
            let step = rows.len() + 1;
            rows.enumerate().for_each(|(i, unknown)| places[unknown][side] = (first + i * step) as u32);
        };
        for (group, role) in roles.iter().enumerate() {
            match role {
                Role::Primary => {}
                Role::Multiplier => note(group, group, 0),
                Role::Paired => {
                    if let Some(partner) = partner(pattern, roles, group) {
                        note(partner, group, 1);
                        note(group, partner, 1);
                    }
                }
            }
        }
        Self { places }
    }

    /// Compliance of an unknown in the matrix with these block values; zero for none.
    pub fn of(&self, unknown: usize, values: &[f64]) -> f64 {
        let value = |place: u32| values.get(place as usize).map_or(0.0, |value| value.abs());
        self.places[unknown].into_iter().map(value).fold(0.0, f64::max)
    }
}

/// The multiplier that a group is paired with: the first that it meets.
pub(super) fn partner(pattern: &BlockPattern, roles: &[Role], paired: usize) -> Option<usize> {
    pattern.column_blocks(paired).map(|(_, row)| row).find(|&row| roles[row] == Role::Multiplier)
}
