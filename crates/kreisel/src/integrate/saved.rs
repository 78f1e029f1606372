//! An integration between two steps as one value, and its form in bytes.

use super::control::ControlHistory;
use super::error::StateError;
use super::scheme::{Item, Scheme};
use super::state::{Clock, State};
use crate::bytes::{Damaged, Reader, Writer};
use crate::dae::{Shape, Values};

/// Everything that an integration needs to go on.
///
/// A run that continues from it gives the same bits as one that was not interrupted: it also says where the
/// matrix in use was evaluated, and the factors are made again from there.
#[derive(Clone, Debug, PartialEq)]
pub struct Saved {
    /// The word of the method.
    method: String,
    state: State,
    /// What the method carries, in the order in which it lists it.
    history: Vec<u8>,
}

const MAGIC: &[u8; 8] = b"KREISELS";
const VERSION: u32 = 12;

impl From<Damaged> for StateError {
    fn from(_: Damaged) -> Self {
        Self::Damaged
    }
}

impl Saved {
    pub(super) fn new(method: &str, state: &State, scheme: &mut dyn Scheme) -> Self {
        let history = write_history(|each| scheme.history(each));
        Self { method: method.to_owned(), state: state.clone(), history }
    }

    /// The solution as it is shown.
    pub fn values(&self) -> &Values {
        &self.state.now
    }

    /// The state, if it is one of a method and fits a system.
    pub(super) fn state_for(&self, method: &'static str, shape: &Shape) -> Result<State, StateError> {
        if self.method != method {
            return Err(StateError::OtherMethod { found: self.method.clone(), expected: method });
        }
        let State { now, compliance, .. } = &self.state;
        let rows = shape.constraint_count() + shape.nonholonomic_count();
        let sizes = [
            ("configuration coordinates", now.configuration.len(), shape.space.coordinate_count()),
            ("velocity coordinates", now.velocity.len(), shape.velocity_count()),
            ("velocity coordinates", now.acceleration.len(), shape.velocity_count()),
            ("velocity coordinates", self.state.base_velocity().len(), now.velocity.len()),
            ("constraints", now.multipliers.len(), shape.constraint_count()),
            ("nonholonomic constraints", now.nonholonomic_multipliers.len(), shape.nonholonomic_count()),
            ("states", now.internal_states.len(), shape.state_count()),
            ("states", now.internal_rates.len(), shape.state_count()),
            ("remembered numbers", now.memory.len(), shape.memory),
            ("constraints", compliance.len(), if compliance.is_empty() { 0 } else { rows }),
        ];
        match sizes.into_iter().find(|(_, found, expected)| found != expected) {
            Some((what, found, expected)) => Err(StateError::OtherSystem { what, found, expected }),
            None => Ok(self.state.clone()),
        }
    }

    /// Puts what was carried into a method that has the sizes of its system.
    pub(super) fn restore(&self, scheme: &mut dyn Scheme) -> Result<(), StateError> {
        read_history(&self.history, |each| scheme.history(each))
    }

    /// The bytes of a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.0.extend_from_slice(MAGIC);
        writer.0.extend_from_slice(&VERSION.to_le_bytes());
        writer.section(self.method.as_bytes());
        let State { clock, now, base_velocity, control, compliance, merged_start } = &self.state;
        let Clock { step, first_step, origin, count, equal_steps, after_corner } = *clock;
        let ControlHistory { next_step, last_error, last_ratio } = *control;
        for number in [now.time, step, first_step, origin, next_step, last_error, last_ratio] {
            writer.number(number);
        }
        writer.whole(count);
        writer.whole(equal_steps);
        writer.flag(after_corner);
        now.vectors().into_iter().for_each(|values| writer.numbers(values));
        writer.flag(base_velocity.is_some());
        base_velocity.iter().for_each(|values| writer.numbers(values));
        writer.numbers(compliance);
        writer.indices(merged_start.as_ref());
        writer.section(&self.history);
        writer.0
    }

    /// Reads what [`Saved::to_bytes`] wrote.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, StateError> {
        let mut reader = Reader(bytes);
        if reader.bytes::<8>().map_err(|_| StateError::Unknown)? != *MAGIC {
            return Err(StateError::Unknown);
        }
        let found = u32::from_le_bytes(reader.bytes()?);
        if found != VERSION {
            return Err(StateError::Version { found, expected: VERSION });
        }
        let word = reader.section()?;
        if !word.iter().all(|letter| letter.is_ascii_alphanumeric() || *letter == b'-') {
            return Err(StateError::Damaged);
        }
        let method = String::from_utf8_lossy(word).into_owned();
        let mut state = State::default();
        let [time, step, first_step, origin, next_step, last_error, last_ratio] = reader.some_numbers()?;
        state.clock = Clock {
            step,
            first_step,
            origin,
            count: reader.whole()?,
            equal_steps: reader.whole()?,
            after_corner: reader.flag()?,
        };
        state.control = ControlHistory { next_step, last_error, last_ratio };
        state.now.time = time;
        for values in state.now.vectors_mut() {
            *values = reader.numbers()?;
        }
        state.base_velocity = if reader.flag()? { Some(reader.numbers()?) } else { None };
        state.compliance = reader.numbers()?;
        state.merged_start = reader.indices()?;
        let history = reader.section()?.to_vec();
        reader.end()?;
        Ok(Self { method, state, history })
    }
}

/// What a list names, as bytes.
pub(super) fn write_history(list: impl FnOnce(&mut dyn FnMut(&'static str, Item))) -> Vec<u8> {
    let mut writer = Writer::default();
    list(&mut |_, item| match item {
        Item::Number(value) => writer.number(*value),
        Item::Flag(value) => writer.flag(*value),
        Item::Byte(value) => writer.0.push(*value),
        Item::Numbers(values) => writer.numbers(values),
        Item::Indices(values) => writer.indices(values.as_ref()),
    });
    writer.0
}

/// Puts bytes where a list names them.
pub(super) fn read_history(
    bytes: &[u8],
    list: impl FnOnce(&mut dyn FnMut(&'static str, Item)),
) -> Result<(), StateError> {
    let mut reader = Reader(bytes);
    let mut outcome = Ok(());
    list(&mut |what, item| {
        if outcome.is_ok() {
            outcome = read_item(&mut reader, what, item);
        }
    });
    outcome?;
    Ok(reader.end()?)
}

fn read_item(reader: &mut Reader, what: &'static str, item: Item) -> Result<(), StateError> {
    match item {
        Item::Number(value) => *value = reader.number()?,
        Item::Flag(value) => *value = reader.flag()?,
        Item::Byte(value) => [*value] = reader.bytes()?,
        Item::Numbers(values) => {
            let (read, expected) = (reader.numbers()?, values.len());
            if read.len() != expected {
                return Err(StateError::OtherSystem { what, found: read.len(), expected });
            }
            *values = read;
        }
        Item::Indices(values) => *values = reader.indices()?,
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::{Family, Integration, Integrator, Method, Parameters, SCHEMES, SYMPLECTIC, Settings};
    use super::*;
    use crate::dae::coupled::Coupled;
    use crate::lie::Group;

    fn start(method: Method, coupled: &Coupled) -> Integration<'_> {
        let parameters = match method.family() {
            Family::Hht => Parameters::hht(0.2).unwrap(),
            _ => Parameters::chung_hulbert(0.6).unwrap(),
        };
        Integrator::with(Settings::new(method, parameters, 1e-3)).start(coupled, coupled.initial()).unwrap()
    }

    #[test]
    fn every_method_lists_all_that_it_carries() {
        let coupled = Coupled::new(Group::So3xR3);
        // `symplectic` is for rigid bodies, whose masses do not change.
        for &method in SCHEMES.iter().filter(|method| **method != SYMPLECTIC) {
            let (mut run, mut fresh) = (start(method, &coupled), start(method, &coupled));
            for step in [1e-3, 1e-3, 2e-3, 1e-3] {
                run.step_by(step).unwrap();
            }
            let mut number = 0.5;
            run.scheme.history(&mut |_, item| {
                if let Item::Numbers(values) = item {
                    values.fill_with(|| {
                        number += 1e-3;
                        number
                    });
                }
            });
            // What is given back is what was taken, and nothing else decides how it goes on.
            let saved = run.save();
            saved.restore(&mut *fresh.scheme).unwrap();
            assert_eq!(saved.history, write_history(|each| fresh.scheme.history(each)), "{method:?}");
        }
    }

    #[test]
    fn every_method_goes_on_with_the_same_bits() {
        let coupled = Coupled::new(Group::So3xR3);
        // `symplectic` is for rigid bodies, whose masses do not change.
        for &method in SCHEMES.iter().filter(|method| **method != SYMPLECTIC) {
            let mut whole = start(method, &coupled);
            for step in [1e-3, 1e-3, 2e-3, 1e-3] {
                whole.step_by(step).unwrap();
            }
            let saved = Saved::from_bytes(&whole.save().to_bytes()).unwrap();
            let mut resumed = Integrator::with(*whole.settings()).resume(&coupled, &saved).unwrap();
            for step in [1e-3, 1e-3, 1e-3, 5e-4, 5e-4, 5e-4, 5e-4, 5e-4, 2e-3, 2e-3] {
                whole.step_by(step).unwrap();
                resumed.step_by(step).unwrap();
            }
            assert_eq!(whole.save(), resumed.save(), "{method:?}");
        }
    }

    #[test]
    fn the_past_of_another_method_is_refused() {
        let coupled = Coupled::new(Group::So3xR3);
        let saved = start(SCHEMES[0], &coupled).save();
        let other = *start(SCHEMES[1], &coupled).settings();
        let refusal = Integrator::with(other).resume(&coupled, &saved).err().unwrap();
        assert_eq!(
            refusal.to_string(),
            "the state was saved by the method `index2`, and `index3` cannot go on from it: take `index2`, or start anew"
        );
    }

    fn sample() -> Saved {
        let mut state = State {
            clock: Clock { step: 1e-3, count: 7, equal_steps: 9, after_corner: true, ..Clock::default() },
            control: ControlHistory { next_step: 2e-3, last_error: 0.5, last_ratio: 1.1 },
            base_velocity: Some(vec![-0.0]),
            merged_start: Some(vec![3, 7]),
            ..State::default()
        };
        state.now.time = 0.1;
        state.now.configuration = vec![1.0, f64::MIN_POSITIVE];
        state.now.multipliers = vec![1e300];
        Saved { method: "index2".to_owned(), state, history: vec![1, 2, 3] }
    }

    #[test]
    fn what_is_saved_survives_its_bytes() {
        let saved = sample();
        assert_eq!(Saved::from_bytes(&saved.to_bytes()).unwrap(), saved);
    }

    #[test]
    fn damaged_bytes_are_refused() {
        let bytes = sample().to_bytes();
        for length in 0..bytes.len() {
            assert!(Saved::from_bytes(&bytes[..length]).is_err(), "{length} bytes were accepted");
        }
        let mut longer = bytes.clone();
        longer.push(0);
        assert_eq!(Saved::from_bytes(&longer), Err(StateError::Damaged));
        let mut huge = bytes.clone();
        // The length of the method's word, after mark and version.
        huge[12..20].copy_from_slice(&u64::MAX.to_le_bytes());
        assert_eq!(Saved::from_bytes(&huge), Err(StateError::Damaged));
        let mut newer = bytes;
        newer[8] = 1 + VERSION as u8;
        let newest = VERSION + 1;
        assert!(
            matches!(Saved::from_bytes(&newer), Err(StateError::Version { found, .. }) if found == newest)
        );
    }
}
