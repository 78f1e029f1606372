//! What the user should know: warnings as data.

use std::collections::HashSet;

use serde::{Serialize, Serializer};

macro_rules! kinds {
    ($($(#[doc = $doc:literal])+ $kind:ident = $word:literal,)+) => {
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
        }
    };
}

kinds! {
    /// Nothing is attached to a marker.
    UnusedMarker = "unused-marker",
    /// Nothing uses an input.
    UnusedInput = "unused-input",
    /// A joint does not hold where the model puts its bodies; the number is by how much, in m or rad.
    Misfit = "misfit",
    /// The settings do not say all that a run needs.
    OpenSettings = "open-settings",
    /// The initial positions were changed; the number is by how much they violated the joints.
    PositionsChanged = "positions-changed",
    /// The initial velocities were changed; the number is by how much they violated the joints.
    VelocitiesChanged = "velocities-changed",
    /// No joint or force touches a body.
    FreeBody = "free-body",
    /// Equations of a joint are implied by others; the number is how many.
    RedundantConstraints = "redundant-constraints",
    /// Reactions are not unique; the number is that of the joints that share them.
    SharedReactions = "shared-reactions",
    /// Drives ask for what is decided already; the number is that of the drives.
    LockedDrives = "locked-drives",
    /// There is no degree of freedom.
    Immobile = "immobile",
    /// A small push ends an equilibrium; the number is that of the directions.
    UnstableEquilibrium = "unstable-equilibrium",
    /// The pull in a beam exceeds its shear stiffness; the number is the pull in N.
    PullBeyondShear = "pull-beyond-shear",
    /// The mesh of a beam is coarse; the number is the error in parts of the way.
    CoarseMesh = "coarse-mesh",
    /// A part turns too far in a step; the number is the largest turn in rad.
    LargeTurn = "large-turn",
    /// Modes are those of a moment, not of an equilibrium; the number is the largest acceleration.
    NotAtRest = "not-at-rest",
    /// Modes are not as good as they should be; the number is the largest residual.
    DoubtfulModes = "doubtful-modes",
    /// Modes are missing, or may be; the number is how many.
    MissingModes = "missing-modes",
    /// The state space of a linearised machine is not written.
    NoStateSpace = "no-state-space",
    /// The page of a run could not be made.
    NoReport = "no-report",
}

impl Serialize for NoteKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

/// What looks like a mistake but is none, or is worth knowing.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Note {
    /// What it says.
    pub kind: NoteKind,
    /// When, in s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<f64>,
    /// The part or sensor that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// How much or how many; the kind says of what.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<f64>,
    /// All of it in words.
    pub text: String,
    /// The words of the text that say what to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

impl Note {
    /// A note in words.
    pub fn new(kind: NoteKind, text: impl Into<String>) -> Self {
        Self { kind, time: None, subject: None, number: None, text: text.into(), advice: None }
    }

    /// The same at a time in s.
    pub fn at(self, time: f64) -> Self {
        Self { time: Some(time), ..self }
    }

    /// The same about a part or a sensor.
    pub fn about(self, subject: impl Into<String>) -> Self {
        Self { subject: Some(subject.into()), ..self }
    }

    /// The same with a number.
    pub fn number(self, number: f64) -> Self {
        Self { number: Some(number), ..self }
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
