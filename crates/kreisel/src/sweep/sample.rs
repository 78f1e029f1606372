//! Points of a sweep: a grid of all combinations, or samples.

use super::vary::{Variation, VaryError};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha12Rng;
use sobol::Sobol;
use sobol::params::JoeKuoD6;

/// Parameters for which the direction numbers of Sobol's sequence are at hand.
const MAX_DIMENSIONS: usize = 100;

/// How points are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampling {
    /// All combinations; the last parameter changes fastest.
    Grid,
    /// So many, independent of each other.
    Random {
        /// How many.
        count: usize,
        /// Start of the random numbers.
        seed: u64,
    },
    /// So many, of which each parameter's range has one in each of as many equal parts.
    LatinHypercube {
        /// How many.
        count: usize,
        /// Start of the random numbers.
        seed: u64,
    },
    /// So many of Sobol's sequence with the direction numbers of Joe and Kuo, shifted at random.
    Sobol {
        /// How many.
        count: usize,
        /// Start of the random shift.
        seed: u64,
    },
}

/// The points of a sweep, each with a value for each variation.
///
/// The same sampling gives the same bits on every computer: the generator is ChaCha with 12 rounds.
pub fn points(variations: &[Variation], sampling: Sampling) -> Result<Vec<Vec<f64>>, VaryError> {
    let place = |parts: Vec<f64>| variations.iter().zip(parts).map(|(one, part)| one.at(part)).collect();
    let parts = match sampling {
        Sampling::Grid => return grid(variations),
        Sampling::Random { count, seed } => random(variations.len(), count, seed),
        Sampling::LatinHypercube { count, seed } => latin_hypercube(variations.len(), count, seed),
        Sampling::Sobol { .. } if variations.len() > MAX_DIMENSIONS => {
            return Err(VaryError::TooMany { count: variations.len(), most: MAX_DIMENSIONS });
        }
        Sampling::Sobol { count, seed } => sobol(variations.len(), count, seed),
    };
    Ok(parts.into_iter().map(place).collect())
}

fn grid(variations: &[Variation]) -> Result<Vec<Vec<f64>>, VaryError> {
    let mut points = vec![Vec::new()];
    for variation in variations {
        let values = variation.grid()?;
        let longer = |point: &Vec<f64>| {
            values.iter().map(|value| [point.as_slice(), &[*value]].concat()).collect::<Vec<_>>()
        };
        points = points.iter().flat_map(longer).collect();
    }
    Ok(points)
}

fn random(width: usize, count: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut numbers = ChaCha12Rng::seed_from_u64(seed);
    (0..count).map(|_| (0..width).map(|_| numbers.random()).collect()).collect()
}

fn latin_hypercube(width: usize, count: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut numbers = ChaCha12Rng::seed_from_u64(seed);
    let mut points = vec![Vec::with_capacity(width); count];
    let mut order: Vec<usize> = (0..count).collect();
    for _ in 0..width {
        order.shuffle(&mut numbers);
        for (point, part) in points.iter_mut().zip(&order) {
            point.push((*part as f64 + numbers.random::<f64>()) / count as f64);
        }
    }
    points
}

fn sobol(width: usize, count: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut numbers = ChaCha12Rng::seed_from_u64(seed);
    let shift: Vec<f64> = (0..width).map(|_| numbers.random()).collect();
    let params = JoeKuoD6::minimal();
    let sequence = Sobol::<f64>::new(width, &params);
    // A shift modulo one keeps the evenness and leaves no point at the corner.
    let shifted = |point: Vec<f64>| point.iter().zip(&shift).map(|(part, by)| (part + by).fract()).collect();
    sequence.take(count).map(shifted).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two() -> [Variation; 2] {
        ["a=0:1", "b=log(1,100)"].map(|text| Variation::parse(text).unwrap())
    }

    #[test]
    fn a_grid_has_all_combinations_and_the_last_changes_fastest() {
        let variations = ["a=1,2", "b=3:5:3"].map(|text| Variation::parse(text).unwrap());
        let expected = [[1.0, 3.0], [1.0, 4.0], [1.0, 5.0], [2.0, 3.0], [2.0, 4.0], [2.0, 5.0]];
        assert_eq!(points(&variations, Sampling::Grid).unwrap(), expected);
        assert!(points(&two(), Sampling::Grid).is_err(), "without numbers of values there is no grid");
    }

    #[test]
    fn samples_stay_in_their_ranges_and_depend_on_the_seed_alone() {
        let count = 200;
        for make in [
            |count, seed| Sampling::Random { count, seed },
            |count, seed| Sampling::LatinHypercube { count, seed },
            |count, seed| Sampling::Sobol { count, seed },
        ] {
            let sampled = points(&two(), make(count, 1)).unwrap();
            assert_eq!(sampled.len(), count);
            assert!(sampled.iter().all(|p| (0.0..=1.0).contains(&p[0]) && (1.0..=100.0).contains(&p[1])));
            assert_eq!(sampled, points(&two(), make(count, 1)).unwrap());
            assert_ne!(sampled, points(&two(), make(count, 2)).unwrap());
        }
    }

    #[test]
    fn more_parameters_than_the_sequence_has_are_refused() {
        let many: Vec<Variation> = (0..=MAX_DIMENSIONS).map(|_| two()[0].clone()).collect();
        let sampling = Sampling::Sobol { count: 3, seed: 1 };
        assert!(matches!(points(&many, sampling), Err(VaryError::TooMany { count: 101, most: 100 })));
        assert_eq!(points(&many[1..], sampling).unwrap()[0].len(), 100);
    }

    #[test]
    fn a_latin_hypercube_has_one_point_in_each_part_of_each_range() {
        let sampled = points(&two(), Sampling::LatinHypercube { count: 50, seed: 3 }).unwrap();
        for part in [|p: &Vec<f64>| p[0], |p: &Vec<f64>| p[1].log10() / 2.0] {
            let mut parts: Vec<usize> = sampled.iter().map(|p| (50.0 * part(p)) as usize).collect();
            parts.sort_unstable();
            assert_eq!(parts, (0..50).collect::<Vec<_>>());
        }
    }

    /// The mean of a product over n points is off by about 1/√n for random points and by 1/n for Sobol's.
    #[test]
    fn sobol_points_are_more_even_than_random_ones() {
        let off = |sampling| {
            let sampled = points(&[two()[0].clone(), two()[0].clone()], sampling).unwrap();
            (sampled.iter().map(|p| p[0] * p[1]).sum::<f64>() / sampled.len() as f64 - 0.25).abs()
        };
        assert!(off(Sampling::Sobol { count: 4096, seed: 1 }) < 1e-3);
        assert!(off(Sampling::Random { count: 4096, seed: 1 }) < 1e-1);
    }
}
