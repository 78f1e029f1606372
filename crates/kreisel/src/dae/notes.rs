//! What the user should know: warnings as data.

use std::collections::HashSet;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

macro_rules! kinds {
    ($($(#[doc = $doc:literal])+ $kind:ident = $word:literal, $doubt:ident;)+) => {
        /// What a note says; each kind has a word that stays the same from version to version.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum NoteKind {
            $($(#[doc = $doc])+ $kind,)+
        }

        impl NoteKind {
            /// Every kind.
            pub const ALL: &'static [Self] = &[$(Self::$kind),+];

            /// Its word.
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$kind => $word,)+
                }
            }

            /// Whether it casts doubt on the result, and is more than worth knowing.
            pub const fn is_doubt(self) -> bool {
                match self {
                    $(Self::$kind => $doubt,)+
                }
            }
        }
    };
}

/// Weights of kinds: worth knowing, or a reason to doubt the result.
const NOTE: bool = false;
const DOUBT: bool = true;

kinds! {
    /// Nothing is attached to a marker.
    UnusedMarker = "unused-marker", NOTE;
    /// Nothing uses an input.
    UnusedInput = "unused-input", NOTE;
    /// A joint does not hold where the model puts its bodies; the number is by how much, in m or rad.
    Misfit = "misfit", NOTE;
    /// The initial positions were changed; the number is by how much they violated the joints.
    PositionsChanged = "positions-changed", NOTE;
    /// The initial velocities were changed; the number is by how much they violated the joints.
    VelocitiesChanged = "velocities-changed", NOTE;
    /// No start was found at which blocks are steady; the number is the rate of the state that changes
    /// fastest.
    NoSteadyStart = "no-steady-start", DOUBT;
    /// The speed of a prescribed motion jumps; the number is by how much, in m/s or rad/s.
    SpeedJump = "speed-jump", NOTE;
    /// No joint or force touches a body.
    FreeBody = "free-body", NOTE;
    /// Equations of a joint are implied by others; the number is how many.
    RedundantConstraints = "redundant-constraints", NOTE;
    /// Reactions are not unique; the number is that of the joints that share them.
    SharedReactions = "shared-reactions", NOTE;
    /// Drives ask for what is decided already; the number is that of the drives.
    LockedDrives = "locked-drives", NOTE;
    /// There is no degree of freedom.
    Immobile = "immobile", NOTE;
    /// A small push ends an equilibrium; the number is that of the directions.
    UnstableEquilibrium = "unstable-equilibrium", DOUBT;
    /// The pull in a beam exceeds its shear stiffness; the number is the pull in N.
    PullBeyondShear = "pull-beyond-shear", DOUBT;
    /// The mesh of a beam is coarse; the number is the error in parts of the way.
    CoarseMesh = "coarse-mesh", DOUBT;
    /// A part turns too far in a step; the number is the largest turn in rad.
    LargeTurn = "large-turn", DOUBT;
    /// An explicit method takes small steps for a fast motion; the number is its rate in 1/s.
    StiffMachine = "stiff-machine", NOTE;
    /// Another method takes the steps from here on.
    MethodChanged = "method-changed", NOTE;
    /// The steps are too large for the motion; the number is their error in parts of the range.
    LargeSteps = "large-steps", DOUBT;
    /// Vibrations are faster than the steps and large; the number is their amplitude in parts of the range.
    UnresolvedVibrations = "unresolved-vibrations", DOUBT;
    /// Vibrations are faster than the steps and small; the number is their amplitude in parts of the range.
    SmallVibrations = "small-vibrations", NOTE;
    /// Energy came from nowhere or went there; the number is how much of it, in parts of the largest energy.
    EnergyLost = "energy-lost", DOUBT;
    /// Runs with larger steps show a large error; the number is that error in parts of the range.
    LargeError = "large-error", DOUBT;
    /// The accuracy that was asked for was not reached; the number is the largest error: of positions in lengths of
    /// the machine, of angles in rad, of what else it is of in parts of the largest.
    AccuracyMissed = "accuracy-missed", DOUBT;
    /// The result is that of a coarser run than was to be: a finer one was stopped, or failed.
    CoarserRun = "coarser-run", DOUBT;
    /// Runs with larger steps do not get through, so that nothing is known of the error.
    NoErrorEstimate = "no-error-estimate", DOUBT;
    /// Modes are those of a moment, not of an equilibrium; the number is the largest acceleration.
    NotAtRest = "not-at-rest", NOTE;
    /// Modes are not as good as they should be; the number is the largest residual.
    DoubtfulModes = "doubtful-modes", DOUBT;
    /// Modes are missing, or may be; the number is how many.
    MissingModes = "missing-modes", DOUBT;
    /// The state space of a linearised machine is not written.
    NoStateSpace = "no-state-space", NOTE;
    /// The page of a run could not be made.
    NoReport = "no-report", NOTE;
}

impl Serialize for NoteKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl<'de> Deserialize<'de> for NoteKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        let kind = Self::ALL.iter().find(|kind| kind.word() == word);
        kind.copied().ok_or_else(|| D::Error::custom(format!("there is no kind of note `{word}`")))
    }
}

/// What looks like a mistake but is not one, or is worth knowing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Note {
    /// What it says.
    pub kind: NoteKind,
    /// When, in s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<f64>,
    /// The part or sensor that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// How much or how many; the kind says of what.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<f64>,
    /// Whether it casts doubt on the result.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub doubt: bool,
    /// All of it in words.
    pub text: String,
    /// The words of the text that say what to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

impl Note {
    /// A note in words.
    pub fn new(kind: NoteKind, text: impl Into<String>) -> Self {
        let doubt = kind.is_doubt();
        Self { kind, time: None, subject: None, number: None, doubt, text: text.into(), advice: None }
    }

    /// The same at a time in s.
    pub fn at(self, time: f64) -> Self {
        Self { time: Some(time), ..self }
    }

    /// The same about a part or a sensor.
    pub fn about(self, subject: impl Into<String>) -> Self {
        Self { subject: Some(subject.into()), ..self }
    }

    /// The same with a number; one that is not finite has no form in a file, and is left to the words.
    pub fn number(self, number: f64) -> Self {
        Self { number: Some(number).filter(|number| number.is_finite()), ..self }
    }

    /// The same with the words that say what to do.
    pub fn advice(self, advice: impl Into<String>) -> Self {
        Self { advice: Some(advice.into()), ..self }
    }
}

/// Notes in the order in which they were made, one for each kind and subject.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Notes {
    list: Vec<Note>,
    known: HashSet<(NoteKind, Option<String>)>,
}

impl Notes {
    /// Keeps a note, unless there is one of its kind about the same subject.
    pub fn add(&mut self, note: Note) {
        if self.known.insert((note.kind, note.subject.clone())) {
            self.list.push(note);
        }
    }

    /// Their words.
    pub fn texts(&self) -> Vec<String> {
        self.list.iter().map(|note| note.text.clone()).collect()
    }
}

impl Extend<Note> for Notes {
    fn extend<I: IntoIterator<Item = Note>>(&mut self, notes: I) {
        notes.into_iter().for_each(|note| self.add(note));
    }
}

impl<'a> IntoIterator for &'a Notes {
    type Item = &'a Note;
    type IntoIter = std::slice::Iter<'a, Note>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.iter()
    }
}

impl IntoIterator for Notes {
    type Item = Note;
    type IntoIter = std::vec::IntoIter<Note>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_told_once_of_each_subject() {
        let mut notes = Notes::default();
        let note = |subject: &str, text: &str| Note::new(NoteKind::FreeBody, text).about(subject);
        notes.extend([note("a", "first"), note("b", "second"), note("a", "third")]);
        notes.add(Note::new(NoteKind::Immobile, "fourth"));
        notes.add(Note::new(NoteKind::Immobile, "fifth"));
        assert_eq!(notes.texts(), ["first", "second", "fourth"]);
    }

    #[test]
    fn words_are_unique_and_in_the_form_of_keys() {
        let words: HashSet<&str> = NoteKind::ALL.iter().map(|kind| kind.word()).collect();
        assert_eq!(words.len(), NoteKind::ALL.len());
        let is_plain = |word: &&str| word.chars().all(|letter| letter.is_ascii_lowercase() || letter == '-');
        assert!(words.iter().all(is_plain), "{words:?}");
    }

    #[test]
    fn what_a_note_does_not_have_is_left_out_of_its_json() {
        let note = Note::new(NoteKind::Misfit, "off").about("hinge").number(0.5);
        let json = serde_json::to_string(&note).unwrap();
        assert_eq!(json, r#"{"kind":"misfit","subject":"hinge","number":0.5,"text":"off"}"#);
    }
}
