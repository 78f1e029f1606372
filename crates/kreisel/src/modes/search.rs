//! The search for the slowest modes.
//!
//! First those of the undamped machine, K + σ²M being the energy of a growing space of motions in which the
//! problem is solved (Rayleigh and Ritz): each round adds, for every mode that is wanted and not good enough,
//! the motion (K + σ²M)⁻¹ r by which its residual force r would vanish if the mode were the slowest one
//! [BaiDemmelDongarraRuheVanDerVorst2000, §4.7]. The residual of a mode is the size of this motion, in
//! energy, beside that of the mode. How many modes lie below a frequency is then counted by the signs
//! of the pivots of K − µM, and the search goes on until as many have been found.
//!
//! With damping, spin or forces without a potential the search goes on from there with the quadratic
//! problem and the motions (K + σC + σ²M)⁻¹ r.
//!
//! The shift σ² is zero where K is definite, and else above what makes K + σ²M so: pivots tell.

use nalgebra::{Complex, DMatrix};

use super::eigen::{Quadratic, RitzPair, symmetric};
use super::inverse::{Shifted, ShiftedFactors};
use super::linearized::{Skew, entries};
use super::subspace::{PRODUCT_ROUND_OFF, RitzMotion, Subspace, dot, random_numbers};
use super::{Linearized, ModesError};

/// An eigenvalue s with its shape in all velocity coordinates.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    pub eigenvalue: Complex<f64>,
    pub shape: Vec<Complex<f64>>,
    /// Size of the correction beside that of the mode; see the module.
    pub residual: f64,
}

/// What the search found.
pub(super) struct Found {
    pub pairs: Vec<Pair>,
    /// Modes that grow and are faster than those listed.
    pub unlisted: usize,
    /// Whether the undamped modes were counted, and as many were found.
    pub count: Count,
    /// Residual up to which a pair counts as converged.
    pub limit: f64,
}

/// What the count of undamped modes says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Count {
    /// As many as were found below this frequency in Hz.
    Agrees { modes: usize, frequency: f64 },
    /// More than were found.
    Misses { found: usize, counted: usize, frequency: f64 },
    /// The pivots do not tell.
    Unknown,
    /// All modes were computed.
    Unneeded,
}

/// Residual that the search aims at, and up to which a damped pair is accepted: half of sixteen digits, above
/// what refined factors leave.
const GOAL: f64 = 1e-8;
/// Residual up to which an undamped pair is accepted: the error of its eigenvalue is the square of it.
const UNDAMPED: f64 = 1e-5;
/// Residual above which a pair is no mode at all. Set after failures: pairs of round-off had more, slow modes
/// of stiff machines less.
const NO_MODE: f64 = 1e-3;
/// Start vectors beyond the wanted modes.
const MORE: usize = 4;
/// Rounds without progress after which a search ends.
const PATIENCE: usize = 4;
/// Most rounds of a search.
const ROUNDS: usize = 100;
/// First shift of what is singular without, beside the largest ratio of stiffness to mass: above the rounding
/// of pivots, so that they have a sign.
const FIRST_SHIFT: f64 = 1e-12;
/// Least shift of a machine that is not at rest, beside what its accelerations put into the stiffness. With
/// 1e-8 of it reactions drown what moves a pendulum; a tenth is a choice.
const MOVING_SHIFT: f64 = 0.1;
/// Eigenvalues θ below this part of the largest belong to motions without mass: some ε.
const MASSLESS: f64 = 1e-14;
/// Where the count is made: this part of λ + σ² above the last wanted λ, so that rounding of λ does not move
/// it across.
const ABOVE: f64 = 1e-4;
/// Round-off of λ beside that of one product with the stiffness.
const ROUND_OFF: f64 = 8.0 * f64::EPSILON;
/// Round-off of λ beside the shift, which is subtracted from 1/θ; factors of a nearly singular matrix leave θ
/// ten digits.
const SHIFT_ROUND_OFF: f64 = 1e-10;

/// λ beside the largest ratio of stiffness to mass that is nothing: frequencies 1e-10 times the largest,
/// which round-off in a reaction gives a body on a slide.
const NOTHING: f64 = 1e-20;

/// Undamped modes in the space in which they were found: λ ascending.
struct Undamped<'l> {
    space: Subspace<'l>,
    factors: ShiftedFactors,
    /// σ².
    shift: f64,
    values: Vec<f64>,
    /// Orthonormal combinations of the space, in the order of the values.
    vectors: DMatrix<f64>,
    residuals: Vec<f64>,
    count: Count,
}

impl Linearized {
    /// The slowest pairs: at least `count` that oscillate, grow or stay, as far as there are so many.
    pub(super) fn search(&self, count: usize) -> Result<Found, ModesError> {
        let skew = Skew::of(&self.stiffness);
        let mut found = self.undamped(&skew, count, None)?;
        // A shift among the wanted eigenvalues separates them better than the first guess.
        for _ in 0..8 {
            let Some(shift) = self.better_shift(&found) else { break };
            found = self.undamped(&skew, count, Some(shift))?;
        }
        if self.is_conservative() {
            Ok(self.conservative(found, count))
        } else {
            self.damped(&skew, found, count)
        }
    }

    /// Largest ratio of stiffness to mass in a coordinate, in 1/s².
    pub(super) fn largest_square(&self) -> f64 {
        let (mut mass, mut stiffness) = (vec![0.0; self.velocity_count()], vec![0.0; self.velocity_count()]);
        for (matrix, diagonal) in [(&self.mass, &mut mass), (&self.stiffness, &mut stiffness)] {
            entries(matrix, |row, column, value| {
                if row == column {
                    diagonal[row] = value.abs();
                }
            });
        }
        let ratios = stiffness.iter().zip(&mass).filter(|(_, m)| **m > 0.0).map(|(k, m)| k / m);
        let largest = ratios.fold(self.moving_square(), f64::max);
        if largest > 0.0 { largest } else { 1.0 }
    }

    /// Largest ratio to the masses of an entry of the symmetric stiffness that its diagonal does not hold, in
    /// 1/s²: what accelerations put there, against which constraints act.
    fn moving_square(&self) -> f64 {
        let size = self.velocity_count();
        let (mut mass, mut stiffness) = (vec![0.0; size], vec![0.0; size]);
        for (matrix, diagonal) in [(&self.mass, &mut mass), (&self.stiffness, &mut stiffness)] {
            entries(matrix, |row, column, value| {
                if row == column {
                    diagonal[row] = value.abs();
                }
            });
        }
        let mut largest = 0.0_f64;
        entries(&self.stiffness, |row, column, value| {
            let (masses, held) = (mass[row] * mass[column], stiffness[row] * stiffness[column]);
            if masses > 0.0 && value * value > 4.0 * held {
                largest = largest.max(value.abs() / masses.sqrt());
            }
        });
        largest
    }

    /// Factors of K + σ²M, made definite by as small a shift as does it.
    fn definite(&self, first: Option<f64>) -> Result<(ShiftedFactors, f64), ModesError> {
        let largest = self.largest_square();
        let mut shift = first.unwrap_or(0.0);
        let mut singular = None;
        while shift <= 1e6 * largest {
            match ShiftedFactors::new(self, Shifted { damping: 0.0, mass: shift, symmetric: true }) {
                Ok(factors) if factors.negative() == Some(0) => return Ok((factors, shift)),
                Ok(_) => singular = None,
                Err(unknown) => singular = Some(unknown),
            }
            shift = if shift > 0.0 { 30.0 * shift } else { FIRST_SHIFT * largest };
        }
        Err(match singular {
            Some(unknown) => {
                let equation = self.equations.get(unknown).cloned();
                ModesError::Singular { equation: equation.unwrap_or_else(|| "a reaction".to_owned()) }
            }
            None => ModesError::Unheld,
        })
    }

    /// A better shift than the one with which modes were found, if it matters.
    fn better_shift(&self, found: &Undamped) -> Option<f64> {
        let moving = if self.is_conservative() { 0.0 } else { MOVING_SHIFT * self.moving_square() };
        if found.shift > 0.0 && found.shift < moving {
            return Some(moving);
        }
        let (mut negative, mut rigid, mut elastic) = (0.0_f64, false, None);
        for (value, vector) in found.values.iter().zip(found.vectors.column_iter()) {
            let x = found.space.motion(&vector.map(|y| Complex::new(y, 0.0))).x;
            let round_off = self.round_off(&x, found.shift);
            if value.abs() <= round_off {
                rigid = true;
            } else if *value < 0.0 {
                negative = negative.max(-value);
            } else if elastic.is_none() {
                elastic = Some(*value);
            }
        }
        let target = match elastic {
            Some(elastic) if rigid || negative > 0.0 => elastic.max(2.0 * negative),
            _ => 2.0 * negative,
        };
        if found.shift == 0.0 {
            // With a vanishing pivot nothing but its motion is known.
            return rigid.then(|| 1e2 * FIRST_SHIFT * self.largest_square());
        }
        if rigid && elastic.is_none() && found.shift < 1e-2 * self.largest_square() {
            // Beside motions that nothing holds, elastic ones were too small to be seen.
            return Some(1e3 * found.shift);
        }
        (target > 0.0 && !(target / 30.0..=target * 30.0).contains(&found.shift)).then_some(target)
    }

    /// Size below which λ of a motion is round-off: that of the forces whose sum it is.
    fn round_off(&self, x: &[Complex<f64>], shift: f64) -> f64 {
        let (mut stiffness, mut mass) = (0.0, 0.0);
        let size: Vec<f64> = x.iter().map(|value| value.norm()).collect();
        entries(&self.stiffness, |row, column, value| stiffness += size[row] * value.abs() * size[column]);
        entries(&self.mass, |row, column, value| mass += (x[row].conj() * value * x[column]).re);
        let round_off = if mass > 0.0 { ROUND_OFF * stiffness / mass } else { 0.0 };
        round_off.max(SHIFT_ROUND_OFF * shift).max(NOTHING * self.largest_square())
    }

    /// The lowest undamped modes of the symmetric part of the stiffness: all below zero, and `count` more.
    fn undamped<'l>(
        &'l self,
        skew: &'l Skew,
        count: usize,
        shift: Option<f64>,
    ) -> Result<Undamped<'l>, ModesError> {
        let (mut factors, shift) = self.definite(shift)?;
        let size = self.velocity_count();
        let mut space = Subspace::new(self, skew, shift);
        let mut wanted = count + self.below(0.0).unwrap_or(0);
        let mut random = 0;
        let mut fresh = |space: &mut Subspace, factors: &mut ShiftedFactors, many: usize| {
            let mut added = 0;
            for _ in 0..many.min(size) {
                let force = factors.spread(&random_numbers(size, random));
                random += 1;
                let x = factors.solve(&force);
                // Of a machine that cannot move nothing but round-off is left.
                if dot(&x, &force) > 1e-12 * size as f64 && space.add(x, force) {
                    added += 1;
                }
            }
            added
        };
        if fresh(&mut space, &mut factors, wanted + MORE) == 0 {
            return Err(ModesError::NoFreedom);
        }
        let (mut best, mut idle) = (f64::INFINITY, 0);
        let mut last = None;
        for round in 0..ROUNDS {
            let mass = space.mass();
            let (theta, vectors) =
                symmetric(&(0.5 * (&mass + mass.transpose()))).ok_or(ModesError::NotFinite)?;
            let order: Vec<usize> = (0..theta.len()).rev().collect();
            let largest = theta.last().copied().unwrap_or(0.0);
            let order: Vec<usize> =
                order.into_iter().filter(|&i| theta[i] > MASSLESS * largest && theta[i] > 0.0).collect();
            let vectors = vectors.select_columns(&order);
            let values: Vec<f64> = order.iter().map(|&i| 1.0 / theta[i] - shift).collect();
            let mut residuals = Vec::new();
            let mut corrections = Vec::new();
            for (value, vector) in values.iter().zip(vectors.column_iter()).take(wanted) {
                let motion = space.motion(&vector.map(|y| Complex::new(y, 0.0)));
                let square = value + shift;
                let force: Vec<f64> =
                    motion.force.iter().zip(&motion.momentum).map(|(f, p)| f.re - square * p.re).collect();
                let correction = factors.solve(&force);
                let residual = dot(&correction, &force).max(0.0).sqrt();
                residuals.push(residual);
                if residual > GOAL {
                    corrections.push((correction, force));
                }
            }
            let worst = residuals.iter().fold(0.0_f64, |worst, residual| worst.max(*residual));
            (best, idle) = if worst < 0.5 * best { (worst, 0) } else { (best.min(worst), idle + 1) };
            let ended = corrections.is_empty() || idle >= PATIENCE || round + 1 == ROUNDS;
            if !ended {
                if space.len() > 4 * wanted + 60 {
                    space.restrict(&vectors.columns(0, vectors.ncols().min(2 * wanted + 20)).into_owned());
                }
                let added = corrections.into_iter().map(|(x, force)| space.add(x, force));
                if added.fold(false, |any, added| any | added) {
                    continue;
                }
            }
            let index = wanted.min(values.len());
            let (have, below) = match index.checked_sub(1).map(|last| values[last]) {
                None => (0, None),
                Some(value) => {
                    let limit = value + ABOVE * (value + shift).abs();
                    (values.iter().filter(|value| **value < limit).count(), Some(limit))
                }
            };
            let frequency = below.unwrap_or(0.0).max(0.0).sqrt() / std::f64::consts::TAU;
            let counted = below.and_then(|limit| self.below(limit));
            let count = match counted {
                None => Count::Unknown,
                Some(counted) if counted <= have => Count::Agrees { modes: have, frequency },
                Some(counted) => Count::Misses { found: have, counted, frequency },
            };
            let missing = match count {
                Count::Misses { counted, .. } => counted - have,
                _ => 0,
            };
            last = Some((values, vectors, residuals, count));
            if missing == 0 || fresh(&mut space, &mut factors, missing + MORE) == 0 {
                break;
            }
            wanted = wanted.max(have + missing);
            (best, idle) = (f64::INFINITY, 0);
        }
        let (values, vectors, residuals, count) = last.ok_or(ModesError::NotFinite)?;
        let mut to = DMatrix::zeros(space.len(), vectors.ncols());
        to.view_mut((0, 0), vectors.shape()).copy_from(&vectors);
        Ok(Undamped { space, factors, shift, values, vectors: to, residuals, count })
    }

    /// Number of undamped modes with λ below a limit; `None` if the pivots do not tell.
    fn below(&self, limit: f64) -> Option<usize> {
        ShiftedFactors::new(self, Shifted { damping: 0.0, mass: -limit, symmetric: true }).ok()?.negative()
    }

    fn conservative(&self, found: Undamped, count: usize) -> Found {
        let mut order: Vec<usize> = (0..found.residuals.len()).collect();
        order.sort_by(|&a, &b| found.values[a].abs().total_cmp(&found.values[b].abs()));
        let all = order.into_iter().map(|i| {
            let shape = found.space.motion(&found.vectors.column(i).map(|y| Complex::new(y, 0.0))).x;
            let round_off = self.round_off(&shape, found.shift);
            Pair { eigenvalue: root(found.values[i], round_off), shape, residual: found.residuals[i] }
        });
        let mut pairs: Vec<Pair> = all.collect();
        let unlisted = pairs.iter().skip(count).filter(|pair| pair.eigenvalue.re > 0.0).count();
        pairs.truncate(count);
        Found { pairs, unlisted, count: found.count, limit: UNDAMPED }
    }

    /// The slowest modes with damping, from the undamped ones on.
    fn damped(&self, skew: &Skew, mut found: Undamped, count: usize) -> Result<Found, ModesError> {
        // A motion that nothing holds is a double eigenvalue, of which one is listed.
        let still = (0..found.residuals.len()).filter(|&i| {
            let x = found.space.motion(&found.vectors.column(i).map(|y| Complex::new(y, 0.0))).x;
            found.values[i].abs() <= self.round_off(&x, found.shift)
        });
        let looked_for = count + still.count();
        let kept = found.vectors.ncols().min(found.residuals.len() + found.residuals.len() / 4 + 8);
        let to = found.vectors.columns(0, kept).into_owned();
        found.space.restrict(&to);
        let Undamped { mut space, shift: square, count: counted, factors, .. } = found;
        let mut shift = square.sqrt();
        let mut inverse = if shift == 0.0 && skew.is_empty() {
            factors
        } else {
            let mut tries = 0;
            loop {
                match ShiftedFactors::new(
                    self,
                    Shifted { damping: shift, mass: shift * shift, symmetric: false },
                ) {
                    Ok(factors) => break factors,
                    Err(unknown) if tries == 4 => {
                        let equation = self.equations.get(unknown).cloned();
                        let equation = equation.unwrap_or_else(|| "a reaction".to_owned());
                        return Err(ModesError::Singular { equation });
                    }
                    // A shift that meets an eigenvalue.
                    Err(_) => {
                        (shift, tries) = (1.3 * shift.max(1e-3 * self.largest_square().sqrt()), tries + 1)
                    }
                }
            }
        };
        let most = 8 * count + 120;
        let (mut best, mut idle) = (f64::INFINITY, 0);
        let mut pairs = Vec::new();
        for round in 0..ROUNDS {
            let small =
                Quadratic { mass: space.mass(), damping: space.damping(), skew: space.skew(), shift, square };
            let ritz = small.solve().ok_or(ModesError::NotFinite)?;
            pairs.clear();
            let mut corrections = Vec::new();
            for (s, y) in slowest(ritz, looked_for) {
                let motion = space.motion(&y);
                let force = residual_force(&motion, s, square);
                let size = energy(&motion.x, &motion.force);
                let parts = [|z: &Complex<f64>| z.re, |z: &Complex<f64>| z.im];
                let corrected = parts.map(|part| {
                    let force: Vec<f64> = force.iter().map(part).collect();
                    let (x, force) = inverse.solve_without_reactions(&force);
                    let needed = self.energy_force(skew, &x, force, [shift, square]);
                    (x, needed)
                });
                let residual: f64 = corrected.iter().map(|(x, force)| dot(x, force).max(0.0)).sum();
                let size = size.max(f64::MIN_POSITIVE);
                let residual = (residual / size).sqrt().max(self.inconsistency(&motion, square) / size);
                if residual > GOAL {
                    corrections.extend(corrected);
                }
                pairs.push(Pair { eigenvalue: s, shape: motion.x, residual });
            }
            let worst = pairs.iter().fold(0.0_f64, |worst, pair| worst.max(pair.residual));
            (best, idle) = if worst < 0.5 * best { (worst, 0) } else { (best.min(worst), idle + 1) };
            let ended =
                corrections.is_empty() || idle >= PATIENCE || round + 1 == ROUNDS || space.len() >= most;
            if ended {
                break;
            }
            let added = corrections.into_iter().map(|(x, force)| space.add(x, force));
            if !added.fold(false, |any, added| any | added) {
                break;
            }
        }
        pairs.retain(|pair| pair.residual <= NO_MODE);
        Ok(Found { pairs: self.settled(pairs, square), unlisted: 0, count: counted, limit: GOAL })
    }

    /// How far the energy of a motion by its stored forces is from that by a product with the stiffness,
    /// beyond the round-off of the product: combinations of vectors that nearly depend on others need not be
    /// what their forces say.
    fn inconsistency(&self, motion: &RitzMotion, square: f64) -> f64 {
        let x = &motion.x;
        let size: Vec<f64> = x.iter().map(|value| value.norm()).collect();
        let (mut product, mut round_off) = (0.0, 0.0);
        entries(&self.stiffness, |row, column, value| {
            product += (x[row].conj() * value * x[column]).re;
            round_off += PRODUCT_ROUND_OFF * size[row] * value.abs() * size[column];
        });
        let stored = energy(x, &motion.force) - square * energy(x, &motion.momentum);
        ((product - stored).abs() - round_off).max(0.0)
    }

    /// E x of a motion that (K + σC + σ²M)⁻¹ gave for a force, E = K + ρM being the symmetric part.
    fn energy_force(&self, skew: &Skew, x: &[f64], force: Vec<f64>, [shift, square]: [f64; 2]) -> Vec<f64> {
        let mut needed = force;
        self.damping.multiply_add(-shift, x, &mut needed);
        self.mass.multiply_add(square - shift * shift, x, &mut needed);
        needed.iter_mut().zip(skew.times(x)).for_each(|(needed, swirl)| *needed -= swirl);
        needed
    }

    /// Sets eigenvalues to zero that are round-off. A motion of the whole machine that nothing holds or
    /// damps is a double eigenvalue with one shape; it is listed once.
    fn settled(&self, pairs: Vec<Pair>, square: f64) -> Vec<Pair> {
        let mut still: Vec<Vec<Complex<f64>>> = Vec::new();
        let mut settled = Vec::with_capacity(pairs.len());
        for mut pair in pairs {
            // A double eigenvalue that round-off parts lies its root away.
            if pair.eigenvalue.norm_sqr() <= self.round_off(&pair.shape, square) {
                pair.eigenvalue = Complex::default();
                let mut rest = pair.shape.clone();
                let size = norm(&rest, &self.coordinate_scales);
                for known in &still {
                    let part = product(known, &rest, &self.coordinate_scales);
                    rest.iter_mut().zip(known).for_each(|(rest, known)| *rest -= part * known);
                }
                let left = norm(&rest, &self.coordinate_scales);
                if left <= 1e-3 * size {
                    continue;
                }
                rest.iter_mut().for_each(|value| *value /= left);
                still.push(rest);
            }
            settled.push(pair);
        }
        settled
    }
}

fn product(a: &[Complex<f64>], b: &[Complex<f64>], scales: &[f64]) -> Complex<f64> {
    a.iter().zip(b).zip(scales).map(|((a, b), scale)| a.conj() * b / (scale * scale)).sum()
}

fn norm(a: &[Complex<f64>], scales: &[f64]) -> f64 {
    product(a, a, scales).re.max(0.0).sqrt()
}

/// xᴴE x.
fn energy(x: &[Complex<f64>], force: &[Complex<f64>]) -> f64 {
    x.iter().zip(force).map(|(x, f)| (x.conj() * f).re).sum()
}

/// (s²M + sC + K) x.
fn residual_force(motion: &RitzMotion, s: Complex<f64>, square: f64) -> Vec<Complex<f64>> {
    let mass = s * s - square;
    let RitzMotion { force, momentum, drag, swirl, .. } = motion;
    (0..force.len()).map(|i| force[i] + mass * momentum[i] + s * drag[i] + swirl[i]).collect()
}

/// Imaginary parts below this part of s are round-off of a double real eigenvalue: √ε of rounding times some.
const REAL: f64 = 1e-7;

/// An eigenvalue, real if its imaginary part is round-off.
pub(super) fn without_round_off(s: Complex<f64>) -> Complex<f64> {
    if s.im.abs() <= REAL * s.norm() { Complex::new(s.re, 0.0) } else { s }
}

/// Of all pairs `count` that oscillate, grow or stay, and the overdamped ones that are not faster, as many at
/// most; slowest first.
fn slowest(pairs: Vec<RitzPair>, count: usize) -> Vec<RitzPair> {
    let mut pairs: Vec<_> = pairs
        .into_iter()
        .map(|(s, y)| (without_round_off(s), y))
        .filter(|(s, _)| s.im >= 0.0 && s.re.is_finite() && s.im.is_finite())
        .collect();
    pairs.sort_by(|a, b| a.0.norm().total_cmp(&b.0.norm()));
    let (mut listed, mut overdamped) = (0, 0);
    let mut chosen = Vec::new();
    for (s, y) in pairs {
        let counter = if is_overdamped(s) { &mut overdamped } else { &mut listed };
        *counter += 1;
        if *counter <= count {
            chosen.push((s, y));
        }
        if listed == count {
            break;
        }
    }
    chosen
}

/// Whether a motion decays without oscillation.
pub(super) fn is_overdamped(s: Complex<f64>) -> bool {
    s.im == 0.0 && s.re < 0.0
}

/// s of s² = −λ; below round-off λ is zero.
fn root(value: f64, round_off: f64) -> Complex<f64> {
    if value.abs() <= round_off {
        Complex::default()
    } else if value > 0.0 {
        Complex::new(0.0, value.sqrt())
    } else {
        Complex::new((-value).sqrt(), 0.0)
    }
}
