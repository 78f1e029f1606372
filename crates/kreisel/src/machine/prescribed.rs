//! Motions that laws of time prescribe, and the watch over their jumps.
//!
//! A drive asks for positions, and what has mass cannot be elsewhere at once: a jump would need an infinite
//! force, and a method that steps over it moves the body without force and without work. What can be seen
//! from the law is refused with the model; the rest is found in the step in which it happens. A jump of the
//! speed is an impact: the motion has it, but no table shows its force, so it is told.

use std::f64::consts::TAU;

use super::{MachineBuilder, Refusal};
use crate::dae::{Note, NoteKind};
use crate::model::{Jump, Law, ModelError, PartReader};

/// What is prescribed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prescribed {
    /// An angle, of which whole turns make no difference.
    Angle,
    /// A length.
    Length,
    /// A sum of rates, in m/s and rad/s.
    Rate,
}

impl Prescribed {
    fn unit(self) -> &'static str {
        match self {
            Self::Angle => "rad",
            Self::Length => "m",
            Self::Rate => "m/s or rad/s",
        }
    }

    fn turn(self) -> Option<f64> {
        (self == Self::Angle).then_some(TAU)
    }
}

/// A law of time that something follows.
#[derive(Clone, Debug)]
pub(super) struct PrescribedMotion {
    /// The key and the part, as messages name them.
    what: String,
    quantity: Prescribed,
    law: Law,
}

impl PrescribedMotion {
    /// Why the law cannot be followed from one time to another.
    fn refusal(&self, from: f64, to: f64) -> Option<Refusal> {
        let turn = self.quantity.turn();
        let found = self.law.jump_within(from, to, turn).or_else(|| self.law.change_between(from, to, turn));
        found.map(|jump| Refusal::Jump {
            what: self.what.clone(),
            jump,
            unit: self.quantity.unit(),
            step: to - from,
        })
    }
}

/// Why some of the prescribed motions cannot be followed from one time to another.
pub(super) fn refusal(motions: &[PrescribedMotion], from: f64, to: f64) -> Option<Refusal> {
    motions.iter().find_map(|motion| motion.refusal(from, to))
}

impl MachineBuilder {
    /// Takes note of a law that something is to follow; refuses one that jumps while the machine runs.
    pub fn prescribe(
        &mut self,
        reader: &PartReader,
        key: &str,
        quantity: Prescribed,
        law: &Law,
    ) -> Result<(), ModelError> {
        let settings = self.settings();
        let end = settings.end_time.unwrap_or(f64::INFINITY);
        if let Some(jump) = law.jump_at_corner(settings.start_time, end, quantity.turn()) {
            let Jump { time, before, after } = jump;
            let [time, before, after] = [time, before, after].map(short);
            let found = format!("one that jumps from {before} to {after} at t = {time} s");
            let error = reader.unsuitable(key, "a law without jumps, which mass can follow", found);
            return Err(error.with_hint(match quantity {
                Prescribed::Angle | Prescribed::Length => {
                    "let it move there in a finite time, with a speed that does not jump either: \
                     `{ speed = …, smooth-start = … }`, or `\"3*min(t/0.1, 1)^2 - 2*min(t/0.1, 1)^3\"`. A force may jump: `[[joint-force]]`"
                }
                Prescribed::Rate => {
                    "let the speed change in a finite time, for instance `\"min(10*t, 1)\"`. A force may jump: `[[joint-force]]`"
                }
            }));
        }
        if !matches!(law, Law::Constant(_)) {
            let what = format!("`{key}` of {}", reader.description());
            self.tell_of_kinks(&what, quantity, law);
            self.add_prescribed(PrescribedMotion { what, quantity, law: law.clone() });
        }
        Ok(())
    }
}

impl MachineBuilder {
    /// Tells of a position whose speed jumps while the machine runs.
    fn tell_of_kinks(&mut self, what: &str, quantity: Prescribed, law: &Law) {
        let settings = self.settings();
        let end = settings.end_time.unwrap_or(f64::INFINITY);
        if quantity == Prescribed::Rate {
            return;
        }
        let Some((count, Jump { time, before, after })) = law.kinks(settings.start_time, end) else { return };
        let unit = quantity.unit();
        let [at, from, to] = [time, before, after].map(short);
        let others = match count - 1 {
            0 => String::new(),
            1 => " (and at one more time)".to_owned(),
            more => format!(" (and at {more} more times)"),
        };
        let advice = "let the speed change in a finite time, as `{ speed = …, smooth-start = … }` does";
        let text = format!(
            "{what} changes its speed from {from} to {to} {unit}/s at once at t = {at} s{others}: that is an impact, whose force is \
             infinite and in no table; {advice}"
        );
        let note = Note::new(NoteKind::SpeedJump, text).at(time).about(what);
        self.note(note.number((after - before).abs()).advice(advice));
    }
}

/// A number to six digits, for messages.
pub(super) fn short(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}
