//! Colours of parts, the same in the page, in pictures and in animations.

use crate::results::scene::{Scene, linear_colour};
use std::collections::{BTreeMap, HashMap};

/// Colours in the order in which parts get them, as `#rrggbb`.
pub const COLOURS: [&str; 8] =
    ["#4a86dd", "#e98a3c", "#3aa981", "#cb6192", "#d8ab2e", "#57b5dc", "#9277d6", "#8794a3"];

/// Fewer parts of one stem are no family.
const FEWEST: usize = 3;

/// For each name that of the first of its family: parts that were counted out by one `repeat` have names with
/// a common stem and a number.
fn first_of_family<'n>(names: &[&'n str]) -> HashMap<&'n str, &'n str> {
    let mut stems: HashMap<(&str, &str), BTreeMap<u64, &str>> = HashMap::new();
    for &name in names {
        let stem = name.trim_end_matches(|letter: char| !letter.is_ascii_digit());
        let (before, ending) =
            (stem.trim_end_matches(|letter: char| letter.is_ascii_digit()), &name[stem.len()..]);
        if let Ok(number) = stem[before.len()..].parse() {
            stems.entry((before, ending)).or_default().insert(number, name);
        }
    }
    let families = stems.into_values().filter(|members| members.len() >= FEWEST);
    families
        .flat_map(|members| {
            let first = members.values().next().copied().unwrap_or_default();
            members.into_values().map(move |name| (name, first))
        })
        .collect()
}

/// A colour for each name; those of a family share theirs.
fn colours(names: &[&str], used: &mut usize) -> Vec<&'static str> {
    let known = first_of_family(names);
    let mut chosen: HashMap<&str, &'static str> = HashMap::new();
    let mut next = || {
        *used += 1;
        COLOURS[(*used - 1) % COLOURS.len()]
    };
    names
        .iter()
        .map(|name| *chosen.entry(known.get(name).unwrap_or(name)).or_insert_with(&mut next))
        .collect()
}

/// Colours of the bodies and of the beams of a scene.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Palette {
    /// Of each body, as `#rrggbb`.
    pub bodies: Vec<&'static str>,
    /// Of each beam.
    pub beams: Vec<&'static str>,
}

impl Palette {
    /// The colours of a scene.
    pub fn new(scene: &Scene) -> Self {
        let mut used = 0;
        let bodies: Vec<&str> = scene.bodies.iter().map(|body| body.name.as_str()).collect();
        let beams: Vec<&str> = scene.beams.iter().map(|beam| beam.name.as_str()).collect();
        Self { bodies: colours(&bodies, &mut used), beams: colours(&beams, &mut used) }
    }

    /// The colour of a body as linear red, green and blue.
    pub fn body(&self, place: usize) -> [f64; 3] {
        linear_colour(self.bodies[place]).expect("colours have six digits")
    }

    /// The colour of a beam as linear red, green and blue.
    pub fn beam(&self, place: usize) -> [f64; 3] {
        linear_colour(self.beams[place]).expect("colours have six digits")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_one_repeat_share_a_colour() {
        let names =
            ["base", "leg-0", "leg-1", "leg-2", "leg-10", "arm-1", "arm-2", "b1-end", "b2-end", "b3-end"];
        let found = colours(&names, &mut 0);
        let [base, leg, one, two, end] = [COLOURS[0], COLOURS[1], COLOURS[2], COLOURS[3], COLOURS[4]];
        assert_eq!(found, [base, leg, leg, leg, leg, one, two, end, end, end]);
    }

    #[test]
    fn after_the_last_colour_comes_the_first() {
        let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
        let found = colours(&names, &mut 0);
        assert_eq!(found[..8], COLOURS);
        assert_eq!(found[8], COLOURS[0]);
    }
}
