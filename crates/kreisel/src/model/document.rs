//! A model file with its includes and repetitions written out: a flat list of parts.
//!
//! Order of work: read the TOML tree; compute `[parameters]` (with overrides); bring in included files,
//! each with its prefix, placement and parameters; repeat parts and drop those whose condition does not
//! hold; give names and check that they are unique. What a part's keys mean is left to
//! [`PartReader`](super::reader::PartReader).
//!
//! An included file sees the parameters of the file that includes it, under its own; names of parts and
//! references inside get the prefix. Files must lie in the model's folder or below. The long form of an
//! include says more than the name of the file, and can be repeated like a part:
//!
//! ```toml
//! [[include]]
//! file = "wheel.toml"
//! prefix = "wheel{i}-"
//! repeat = 4
//! position = ["i*2.5", 0, 0]
//! rotation = { axis = [0, 0, 1], angle = "180 deg" }
//! parameters = { radius = "300 mm" }
//! ```

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};

use super::error::{Mistake, ModelError, ModelErrors};
use super::expression::OwnNames;
use super::fields::{Field, Fields};
use super::kind::{Occurrence, PartKind, ValueKind};
use super::name;
use super::orientation;
use super::quantity::Dimension;
use super::scope::{self, Context, Definition, GivenParameter, MeasuredExpression, ParameterValues, Scope};
use super::source::{Place, SourceFile, Text};
use super::table::TableFunction;
use super::tabulated::{self, TABLE};
use super::value::{self, Content, Entries, Entry, Value};
use crate::file::open_regular;
use crate::memory::GrowingRoom;

/// Largest model file in bytes.
pub const MAX_FILE_SIZE: u64 = 100_000_000;
/// Most parts of a model, and most repetitions of one.
const MAX_PARTS: usize = 1_000_000;
/// Memory that is asked for each part before more are listed: 400 bytes, and as much for its name while all are compared.
const PART_BYTES: usize = 1000;
/// Most files that are included, counted as often as they are.
const MAX_INCLUDES: usize = 10_000;
/// Deepest chain of files that include files.
const MAX_INCLUDE_DEPTH: usize = 32;

/// Words of other programs, with the kinds of parts that they mean.
const WORDS_OF_OTHERS: &[(&str, &[&str])] = &[
    ("ball", &["spherical"]),
    ("geom", &["body", "contact"]),
    ("hinge", &["revolute"]),
    ("joint", &["revolute", "prismatic", "cylindrical", "spherical", "fixed"]),
    ("link", &["body"]),
    ("measure", &["sensor"]),
    ("motion", &["drive"]),
    ("motor", &["drive", "joint-force"]),
    ("part", &["body"]),
    ("request", &["sensor"]),
    ("site", &["marker"]),
    ("slide", &["prismatic"]),
    ("slider", &["prismatic"]),
    ("spline", &["table"]),
    ("spring", &["spring-damper"]),
    ("translational", &["prismatic"]),
    ("weld", &["fixed"]),
];
/// Tables of a file that are read before its other parts.
const READ_FIRST: &[&str] = &["parameters", "expressions", "table", "include"];

/// Functions that a file gives by points, by name.
type Tables = BTreeMap<String, Arc<TableFunction>>;

const INCLUDE_KEYS: &[&str] = &["file", "prefix", "position", "rotation", "parameters", "repeat", "when"];

/// One part of a model, with all that is needed to read it.
#[derive(Clone, Debug)]
pub struct Part {
    kind: &'static PartKind,
    name: String,
    name_place: Place,
    entries: Arc<Entries>,
    context: Context,
}

impl Part {
    /// A part of a kind that occurs once, about which nothing is said.
    pub(crate) fn empty(kind: &'static PartKind, place: Place, parameters: ParameterValues) -> Self {
        let scope = Scope::of_model(parameters);
        Self {
            kind,
            name: kind.name.into(),
            name_place: place.clone(),
            entries: Arc::new(Entries::empty(place)),
            context: Context::new(Arc::new(scope), None),
        }
    }

    /// Whether the same table of a file makes both.
    pub fn is_repetition_of(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.entries, &other.entries)
    }

    /// The part that a key names, as far as that can be read; the ground if it names none.
    /// The name that no other part has: of those whose names are unique on their owner only, with the owner's.
    pub fn unique_name(&self) -> String {
        match self.kind.occurrence {
            Occurrence::ManyOn(key) => format!("{}.{}", self.owner(key), self.name),
            _ => self.name.clone(),
        }
    }

    fn owner(&self, key: &str) -> String {
        let text = match self.entries.get(key).map(|entry| &entry.value.content) {
            Some(Content::Text(text)) => self.context.substitute(text).ok(),
            _ => None,
        };
        text.map_or_else(|| name::GROUND.to_string(), |text| self.context.full_name(text.content()))
    }

    /// What kind of part it is.
    pub fn kind(&self) -> &'static PartKind {
        self.kind
    }

    /// Its full name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where the name is written, or the header if it has none.
    pub fn name_place(&self) -> &Place {
        &self.name_place
    }

    /// Its keys and values.
    pub fn entries(&self) -> &Entries {
        &self.entries
    }

    /// Parameters, counter, prefix and placement.
    pub fn context(&self) -> &Context {
        &self.context
    }
}

/// A model file, written out.
#[derive(Clone, Debug)]
pub struct Document {
    parts: Vec<Part>,
    parameters: ParameterValues,
    sources: Vec<Arc<SourceFile>>,
    left_out: Vec<Place>,
    expressions: Vec<MeasuredExpression>,
    origin: Origin,
}

/// A value that is laid over a key, and the keys that do not count beside it.
#[derive(Clone, Debug, PartialEq)]
struct Overlay {
    kind: &'static PartKind,
    entry: Entry,
    replaces: Vec<&'static str>,
}

/// What a document is made from.
#[derive(Clone, Debug)]
struct Origin {
    source: Arc<SourceFile>,
    kinds: Vec<&'static PartKind>,
    overrides: Vec<Override>,
    /// Keys of tables given from outside.
    overlays: Vec<Overlay>,
    /// Folder in which all files must lie, and the model's place in it.
    at: Option<(PathBuf, FileAt)>,
}

impl Document {
    /// Reads a model file. `overrides` are parameters given from outside, as name and expression.
    pub fn read(
        path: impl AsRef<Path>,
        kinds: &[&'static PartKind],
        overrides: &[(&str, &str)],
    ) -> Result<Self, ModelErrors> {
        Self::read_confined(path.as_ref(), kinds, overrides, true)
    }

    /// Reads a model file that may use files wherever they lie: only for models that one trusts.
    pub fn read_unconfined(
        path: impl AsRef<Path>,
        kinds: &[&'static PartKind],
        overrides: &[(&str, &str)],
    ) -> Result<Self, ModelErrors> {
        Self::read_confined(path.as_ref(), kinds, overrides, false)
    }

    fn read_confined(
        path: &Path,
        kinds: &[&'static PartKind],
        overrides: &[(&str, &str)],
        is_confined: bool,
    ) -> Result<Self, ModelErrors> {
        Self::build(origin(path, kinds, overrides, is_confined)?)
    }

    /// The model file and every file that it names, whether they are there or not and whether the model makes
    /// sense or not: what has to be saved before reading it again can come to anything else.
    pub fn named_files(
        path: impl AsRef<Path>,
        kinds: &[&'static PartKind],
        overrides: &[(&str, &str)],
        is_confined: bool,
    ) -> Vec<PathBuf> {
        let path = path.as_ref();
        let mut files = vec![path.to_owned()];
        if let Ok(origin) = origin(path, kinds, overrides, is_confined)
            && let Ok((expander, _)) = Expander::expand(&origin)
        {
            files.extend(expander.wanted);
            expander.parts.iter().for_each(|part| named_files(&part.entries, &part.context, &mut files));
        }
        files.sort_unstable();
        files.dedup();
        files
    }

    /// Reads a model from a text; it cannot include files.
    pub fn from_text(
        name: &str,
        text: &str,
        kinds: &[&'static PartKind],
        overrides: &[(&str, &str)],
    ) -> Result<Self, ModelErrors> {
        let source = value::source(name, text.as_bytes())?;
        Self::build(Origin::new(source, kinds, overrides, None))
    }

    /// The text of a model that comes from elsewhere, such as standard input; `name` is what messages call it.
    pub fn take_text(name: &str, source: impl std::io::Read) -> Result<String, ModelErrors> {
        let nowhere = Place::new(&SourceFile::new(name, ""), 0..0);
        let mut bytes = Vec::new();
        let read = source.take(MAX_FILE_SIZE + 1).read_to_end(&mut bytes);
        read.map_err(|error| unreadable(&error, nowhere.clone()))?;
        let size = bytes.len() as u64;
        if size > MAX_FILE_SIZE {
            let mistake = Mistake::FileTooLarge { size, limit: MAX_FILE_SIZE };
            return Err(ModelError::new(mistake, nowhere).into());
        }
        Ok(value::source(name, &bytes)?.text().to_owned())
    }

    /// Reads a model from a text that stands in place of the file `path`: included files lie beside it.
    pub fn from_text_at(
        path: impl AsRef<Path>,
        text: &str,
        kinds: &[&'static PartKind],
        overrides: &[(&str, &str)],
    ) -> Result<Self, ModelErrors> {
        let path = path.as_ref();
        let source = value::source(&path.display().to_string(), text.as_bytes())?;
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let folder = parent.unwrap_or(Path::new("."));
        // Without its folder a text includes nothing.
        let at = folder.canonicalize().ok().map(|root| {
            let file = root.join(path.file_name().unwrap_or_default());
            (root, FileAt { path: file, folder: folder.to_path_buf() })
        });
        Self::build(Origin::new(source, kinds, overrides, at))
    }

    /// The same model with other values of its parameters.
    pub fn with_parameters(&self, given: &[GivenParameter]) -> Result<Self, ModelErrors> {
        let mut origin = self.origin.clone();
        origin.overrides.extend(given.iter().cloned().map(Override::from));
        Self::build(origin)
    }

    /// Lays a value over a key of a kind of part that occurs once, as if the model said it: the same reader,
    /// checks and messages apply, and a mistake is shown at the place of the text. Its expressions see the
    /// parameters of the model. What the model says of the keys that it replaces does not count any more.
    pub fn overlay(&mut self, kind: &'static PartKind, key: &str, text: Text, replaces: Vec<&'static str>) {
        let place = text.place().clone();
        let content = match (kind.key(key).map(|key| key.value), text.content().parse()) {
            (Some(ValueKind::Boolean), Ok(truth)) => Content::Boolean(truth),
            (Some(ValueKind::Numbers(..)), _) => array(&text).unwrap_or(Content::Text(text)),
            _ => Content::Text(text),
        };
        let entry = Entry { key: key.into(), key_place: place.clone(), value: Value { place, content } };
        let overlay = Overlay { kind, entry, replaces };
        self.lay(overlay.clone());
        self.origin.overlays.push(overlay);
    }

    fn lay(&mut self, Overlay { kind, entry, replaces }: Overlay) {
        let index = self.parts.iter().position(|part| part.kind.name == kind.name).unwrap_or_else(|| {
            let place = Place::new(&self.origin.source, 0..0);
            self.parts.push(Part::empty(kind, place, self.parameters.clone()));
            self.parts.len() - 1
        });
        let entries = Arc::make_mut(&mut self.parts[index].entries);
        replaces.into_iter().for_each(|key| entries.remove(key));
        entries.set(entry);
    }

    fn build(origin: Origin) -> Result<Self, ModelErrors> {
        let (expander, parameters) = Expander::expand(&origin)?;
        let Expander { parts, sources, left_out, expressions, errors, .. } = expander;
        errors.into_result()?;
        let overlays = origin.overlays.clone();
        let mut document = Self { parts, parameters, sources, left_out, expressions, origin };
        overlays.into_iter().for_each(|overlay| document.lay(overlay));
        Ok(document)
    }

    /// All parts: those of included files first, then in the order of the file.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The parts of one kind.
    pub fn parts_of<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Part> {
        self.parts.iter().filter(move |part| part.kind.name == kind)
    }

    /// Named expressions of all files, used or not.
    pub fn expressions(&self) -> &[MeasuredExpression] {
        &self.expressions
    }

    /// Parameters of the model itself.
    pub fn parameters(&self) -> &ParameterValues {
        &self.parameters
    }

    /// Every file that was read, the model first.
    pub fn sources(&self) -> &[Arc<SourceFile>] {
        &self.sources
    }

    /// Paths of the files that the model needs beside its own: included ones, and those that parts name by
    /// `file`.
    pub fn other_files(&self) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> =
            self.sources.iter().skip(1).map(|source| PathBuf::from(source.name())).collect();
        self.parts.iter().for_each(|part| named_files(&part.entries, &part.context, &mut files));
        files.sort_unstable();
        files.dedup();
        files
    }

    /// Tables of included files that were left out because a model has them only once.
    pub fn left_out(&self) -> &[Place] {
        &self.left_out
    }
}

/// A file on disk: its true path, and the folder as messages show it.
#[derive(Clone, Debug)]
struct FileAt {
    path: PathBuf,
    folder: PathBuf,
}

impl Origin {
    fn new(
        source: Arc<SourceFile>,
        kinds: &[&'static PartKind],
        overrides: &[(&str, &str)],
        at: Option<(PathBuf, FileAt)>,
    ) -> Self {
        let overrides = overrides.iter().map(|(name, text)| Override::argument(name, text)).collect();
        Self { source, kinds: kinds.to_vec(), overrides, overlays: Vec::new(), at }
    }
}

/// What a model file is read from.
fn origin(
    path: &Path,
    kinds: &[&'static PartKind],
    overrides: &[(&str, &str)],
    is_confined: bool,
) -> Result<Origin, ModelErrors> {
    let shown = path.display().to_string();
    let nowhere = Place::new(&SourceFile::new(&shown, ""), 0..0);
    let bytes = read_bytes(path, MAX_FILE_SIZE).map_err(|mistake| {
        // A link that leads nowhere is there, and a folder on the way may not be.
        let mistake =
            if path.symlink_metadata().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound) {
                Mistake::NoFile(shown.clone())
            } else {
                mistake
            };
        with_nearest_file(ModelError::new(mistake, nowhere.clone()), path)
    })?;
    let source = value::source(&shown, &bytes)?;
    let source = if is_confined { source } else { source.reaching_outside() };
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let folder = parent.unwrap_or(Path::new("."));
    let root = folder.canonicalize().map_err(|error| unreadable(&error, nowhere.clone()))?;
    let canonical = path.canonicalize().map_err(|error| unreadable(&error, nowhere))?;
    let file = FileAt { path: canonical, folder: folder.to_path_buf() };
    Ok(Origin::new(source, kinds, overrides, Some((root, file))))
}

/// A parameter given from outside of its file.
#[derive(Clone, Debug)]
struct Override {
    name: String,
    name_place: Place,
    definition: Definition,
}

impl Override {
    fn argument(name: &str, text: &str) -> Self {
        let source = SourceFile::new("command line", format!("{name}={text}"));
        let name_place = Place::new(&source, 0..name.len());
        let value = Place::new(&source, name.len() + 1..source.text().len());
        Self { name: name.into(), name_place, definition: Definition::Expression(Text::new(text, value)) }
    }
}

impl From<GivenParameter> for Override {
    fn from(given: GivenParameter) -> Self {
        let GivenParameter { name, name_place, value, value_place } = given;
        Self { name, name_place, definition: Definition::Number(value, value_place) }
    }
}

/// What a file gets from the one that includes it.
struct Outer<'a> {
    parameters: &'a ParameterValues,
    tables: &'a Tables,
    prefix: String,
    placement: Isometry3<f64>,
    overrides: Vec<Override>,
}

/// Writes out includes and repetitions.
struct Expander<'a> {
    kinds: &'a [&'static PartKind],
    /// Folder in which all files must lie; nothing can be included without one.
    root: Option<PathBuf>,
    parts: Vec<Part>,
    sources: Vec<Arc<SourceFile>>,
    left_out: Vec<Place>,
    expressions: Vec<MeasuredExpression>,
    errors: ModelErrors,
    /// Files that are being read, the innermost last.
    stack: Vec<FileAt>,
    /// Files that were read already, by their true path.
    files: HashMap<PathBuf, Arc<Entries>>,
    /// Files that were asked for, by the paths that messages show.
    wanted: Vec<PathBuf>,
    include_count: usize,
    /// Whether the limit on parts was met; nothing more is added then.
    full: bool,
    room: GrowingRoom,
}

impl<'a> Expander<'a> {
    /// Writes a model out as far as it can be, and gives its own parameters; what is wrong is among its errors.
    fn expand(origin: &'a Origin) -> Result<(Self, ParameterValues), ModelErrors> {
        let source = &origin.source;
        let entries = value::parse(source)?;
        if !entries.iter().any(|entry| entry.key != "parameters") {
            let place = Place::new(source, 0..0);
            let error = ModelError::new(Mistake::NoParts, place);
            return Err(error.with_hint("the smallest model is a `[[body]]` and an end time").into());
        }
        let (root, file) = origin.at.clone().unzip();
        let mut expander = Expander {
            kinds: &origin.kinds,
            root,
            parts: Vec::new(),
            sources: vec![Arc::clone(source)],
            left_out: Vec::new(),
            expressions: Vec::new(),
            errors: ModelErrors::new(),
            stack: file.into_iter().collect(),
            files: HashMap::new(),
            wanted: Vec::new(),
            include_count: 0,
            full: false,
            room: GrowingRoom::new(PART_BYTES),
        };
        let outer = Outer {
            parameters: &ParameterValues::new(),
            tables: &Tables::new(),
            prefix: String::new(),
            placement: Isometry3::identity(),
            overrides: origin.overrides.clone(),
        };
        let parameters = expander.file(&entries, outer);
        expander.name_parts();
        Ok((expander, parameters))
    }

    /// Adds all parts of a file; gives its parameters.
    fn file(&mut self, entries: &Entries, outer: Outer<'_>) -> ParameterValues {
        let parameters = self.parameters(entries, &outer);
        let named = OwnNames { expressions: BTreeMap::new(), tables: outer.tables.clone() };
        let (prefix, placement) = (outer.prefix, outer.placement);
        let mut scope = Scope { parameters: parameters.clone(), prefix, placement, named };
        self.functions(entries, &mut scope);
        self.named_expressions(entries, &mut scope);
        let scope = Arc::new(scope);
        if let Some(entry) = entries.get("include") {
            self.includes(entry, &scope);
        }
        let mut tables: Vec<(&'static PartKind, &Value)> = Vec::new();
        for entry in entries.iter().filter(|entry| !READ_FIRST.contains(&&*entry.key)) {
            let found = self.tables_of(entry);
            if let Some(found) = self.errors.keep(found) {
                tables.extend(found);
            }
        }
        // Kinds may alternate in a file; parts follow in the order in which they are written.
        tables.sort_by_key(|(_, value)| value.place.range().start);
        for (kind, value) in tables {
            if let Err(errors) = self.part(kind, value, &scope) {
                self.errors.keep::<()>(Err(errors));
            }
        }
        parameters
    }

    /// Reads the tables of a file: expressions of all other parts may call them.
    fn functions(&mut self, entries: &Entries, scope: &mut Scope) {
        let Some(entry) = entries.get(TABLE.name) else { return };
        let found = self.tables_of(entry);
        let Some(values) = self.errors.keep(found) else { return };
        let first = self.parts.len();
        // A table may take the name of one of the file around.
        let named = OwnNames::default();
        let without = Arc::new(Scope { named, ..scope.clone() });
        for (kind, value) in values {
            if let Err(errors) = self.part(kind, value, &without) {
                self.errors.keep::<()>(Err(errors));
            }
        }
        let read: Vec<_> = self.parts[first..].iter().map(tabulated::read).collect();
        for read in read {
            if let Some((name, table)) = self.errors.keep(read) {
                scope.named.tables.insert(name, Arc::new(table));
            }
        }
    }

    fn named_expressions(&mut self, entries: &Entries, scope: &mut Scope) {
        let Some(entry) = entries.get("expressions") else { return };
        let Content::Table(table) = &entry.value.content else {
            self.errors.push(wrong_table(entry, "[expressions]"));
            return;
        };
        scope.named.expressions = scope::named_expressions(table, scope, &mut self.errors);
        let context = Context::new(Arc::new(scope.clone()), None);
        for text in scope.named.expressions.values() {
            let expression = MeasuredExpression::new(text, &context, Dimension::NONE);
            if let Some(expression) = self.errors.keep(expression) {
                self.expressions.push(expression.of_any_unit());
            }
        }
    }

    fn parameters(&mut self, entries: &Entries, outer: &Outer<'_>) -> ParameterValues {
        let mut definitions = BTreeMap::new();
        match entries.get("parameters").map(|entry| (&entry.value.content, entry)) {
            Some((Content::Table(table), _)) => {
                definitions = scope::definitions(table, &mut self.errors);
            }
            Some((_, entry)) => self.errors.push(wrong_table(entry, "[parameters]")),
            None => {}
        }
        for given in &outer.overrides {
            if definitions.contains_key(&given.name) || outer.parameters.contains_key(&given.name) {
                definitions.insert(given.name.clone(), given.definition.clone());
                continue;
            }
            let mistake = Mistake::UnknownName { what: "parameter", name: given.name.clone() };
            let error = ModelError::new(mistake, given.name_place.clone());
            let names = definitions.keys().chain(outer.parameters.keys()).map(String::as_str);
            self.errors.push(error.with_nearest(&given.name, names));
        }
        scope::resolve(&definitions, outer.parameters, &mut self.errors)
    }

    /// The tables that an entry of a file holds, with their kind.
    fn tables_of<'v>(&self, entry: &'v Entry) -> Result<Vec<(&'static PartKind, &'v Value)>, ModelError> {
        let Some(&kind) = self.kinds.iter().find(|kind| kind.name == entry.key) else {
            let shown: String = entry.key.chars().take(60).collect();
            let names = self.kinds.iter().map(|kind| kind.name).chain(READ_FIRST.iter().copied());
            let error = ModelError::new(Mistake::UnknownKind(shown), entry.key_place.clone());
            let here = self.kinds_called(&entry.key);
            if !here.is_empty() {
                return Err(error.with_hint(format!("that is {} here", name::list(&here))));
            }
            return Err(error.with_nearest(&entry.key, names));
        };
        match (kind.occurrence, &entry.value.content) {
            (Occurrence::Once, Content::Table(_)) => Ok(vec![(kind, &entry.value)]),
            (Occurrence::Many | Occurrence::ManyOn(_), Content::Array(values))
                if values.iter().all(|value| matches!(value.content, Content::Table(_))) =>
            {
                Ok(values.iter().map(|value| (kind, value)).collect())
            }
            _ => Err(wrong_table(entry, &kind.header())),
        }
    }

    /// What a word of other programs is called here.
    fn kinds_called(&self, word: &str) -> Vec<&'static str> {
        let kinds =
            WORDS_OF_OTHERS.iter().find(|(other, _)| *other == word).map_or(&[][..], |(_, kinds)| kinds);
        let is_known =
            |kind: &&str| READ_FIRST.contains(kind) || self.kinds.iter().any(|known| known.name == *kind);
        kinds.iter().copied().filter(is_known).collect()
    }

    /// Adds a part as often as it is repeated.
    fn part(
        &mut self,
        kind: &'static PartKind,
        value: &Value,
        scope: &Arc<Scope>,
    ) -> Result<(), ModelErrors> {
        let Content::Table(entries) = &value.content else { return Ok(()) };
        let entries = Arc::new(entries.clone());
        if kind.occurrence == Occurrence::Once {
            if self.stack.len() > 1 {
                self.left_out.push(value.place.clone());
                return Ok(());
            }
            let context = Context::new(Arc::clone(scope), None);
            return self.push(kind, kind.name.into(), value.place.clone(), &entries, context);
        }
        for context in repetitions(&entries, &Context::new(Arc::clone(scope), None))? {
            let context = context?;
            if self.full {
                break;
            }
            let (name, place) = match entries.get("name") {
                Some(entry) => {
                    let text = Field::new(entry, &context).text()?;
                    name::check(text.content())
                        .map_err(|mistake| ModelError::new(mistake, text.place().clone()))?;
                    (context.full_name(text.content()), entry.value.place.clone())
                }
                None => (String::new(), value.place.clone()),
            };
            self.push(kind, name, place, &entries, context)?;
        }
        Ok(())
    }

    fn push(
        &mut self,
        kind: &'static PartKind,
        name: String,
        name_place: Place,
        entries: &Arc<Entries>,
        context: Context,
    ) -> Result<(), ModelErrors> {
        if self.parts.len() >= MAX_PARTS {
            self.full = true;
            return Err(ModelError::new(Mistake::TooManyParts(MAX_PARTS), entries.place().clone()).into());
        }
        if !self.room.has_one_more() {
            self.full = true;
            return Err(ModelError::new(Mistake::NoRoom(self.parts.len()), entries.place().clone()).into());
        }
        self.parts.push(Part { kind, name, name_place, entries: Arc::clone(entries), context });
        Ok(())
    }

    /// Checks that names are unique and names the parts that have none: `body-1`, `body-2`, …
    fn name_parts(&mut self) {
        let mut places: HashMap<String, Place> = HashMap::new();
        let mut repeated: HashSet<*const Entries> = HashSet::new();
        for part in self.parts.iter().filter(|part| part.kind.occurrence != Occurrence::Once) {
            if part.name.is_empty() {
                continue;
            }
            let name = part.unique_name();
            if let Some(first) = places.get(&name) {
                // All that one table repeats is wrong in the same way.
                if repeated.insert(Arc::as_ptr(&part.entries)) {
                    self.errors.push(duplicate(part, first));
                }
            } else {
                places.insert(name, part.name_place.clone());
            }
        }
        let mut counts: HashMap<(&str, String), usize> = HashMap::new();
        for part in self.parts.iter_mut().filter(|part| part.name.is_empty()) {
            let prefix = part.context.scope().prefix.clone();
            let count = counts.entry((part.kind.name, prefix.clone())).or_default();
            part.name = loop {
                *count += 1;
                let name = format!("{prefix}{}-{count}", part.kind.name);
                if !places.contains_key(&name) {
                    break name;
                }
            };
            places.insert(part.name.clone(), part.name_place.clone());
        }
    }

    fn includes(&mut self, entry: &Entry, scope: &Arc<Scope>) {
        let Content::Array(values) = &entry.value.content else {
            self.errors.push(wrong_table(entry, "include = [\"part.toml\"] or [[include]]"));
            return;
        };
        for value in values {
            if let Err(errors) = self.include(value, scope) {
                self.errors.keep::<()>(Err(errors));
            }
        }
    }

    /// Brings in a file: its name alone, or a table that says how and how often.
    fn include(&mut self, value: &Value, scope: &Arc<Scope>) -> Result<(), ModelErrors> {
        let plain = Context::new(Arc::clone(scope), None);
        let field = Field { key: "include", value, context: &plain };
        let entries = match &value.content {
            Content::Text(_) => {
                let file = field.text()?;
                let outer = Outer {
                    parameters: &scope.parameters,
                    tables: &scope.named.tables,
                    prefix: scope.prefix.clone(),
                    placement: scope.placement,
                    overrides: Vec::new(),
                };
                return self.include_file(&file, outer);
            }
            Content::Table(entries) => entries,
            _ => return Err(field.wrong_type("a file name in quotes or a table").into()),
        };
        let part = "the include";
        Fields { entries, context: &plain, part }.check_keys(INCLUDE_KEYS)?;
        for context in repetitions(entries, &plain)? {
            let context = context?;
            let fields = Fields { entries, context: &context, part };
            let file = Field::new(fields.required("file")?, &context).text()?;
            let outer = outer_of(fields)?;
            self.include_file(&file, outer)?;
        }
        Ok(())
    }

    fn include_file(&mut self, file: &Text, outer: Outer<'_>) -> Result<(), ModelErrors> {
        if self.full {
            return Ok(());
        }
        self.include_count += 1;
        if self.include_count > MAX_INCLUDES {
            let mistake = Mistake::TooManyIncludes(MAX_INCLUDES);
            return Err(ModelError::new(mistake, file.place().clone()).into());
        }
        let at = self.locate(file)?;
        let entries = self.load(&at, file)?;
        self.stack.push(at);
        self.file(&entries, outer);
        self.stack.pop();
        Ok(())
    }

    /// Finds an included file and checks that it may be included.
    fn locate(&mut self, file: &Text) -> Result<FileAt, ModelError> {
        let place = || file.place().clone();
        let outside = || {
            let shown = file.content().chars().take(100).collect();
            ModelError::new(Mistake::IncludeOutside(shown), place()).with_hint(
                "included files lie in the folder of the model or below, unless `--allow-outside` is given",
            )
        };
        let (Some(root), Some(current)) = (&self.root, self.stack.last()) else {
            return Err(ModelError::new(Mistake::Unreadable("a text has no folder".into()), place())
                .with_hint("only a model that is read from a file can include others"));
        };
        let is_confined = !file.place().file().reaches_outside();
        if is_confined && Path::new(file.content()).is_absolute() {
            return Err(outside());
        }
        let shown = current.folder.join(file.content());
        self.wanted.push(shown.clone());
        let path =
            shown.canonicalize().map_err(|error| with_nearest_file(unreadable(&error, place()), &shown))?;
        if is_confined && !path.starts_with(root) {
            return Err(outside());
        }
        if let Some(first) = self.stack.iter().position(|open| open.path == path) {
            let chain = self.stack[first..].iter().map(|open| &open.path).chain([&path]);
            let names: Vec<String> =
                chain.map(|path| path.strip_prefix(root).unwrap_or(path).display().to_string()).collect();
            return Err(ModelError::new(Mistake::IncludeCycle(names.join(" → ")), place()));
        }
        if self.stack.len() > MAX_INCLUDE_DEPTH {
            return Err(ModelError::new(Mistake::TooManyIncludes(MAX_INCLUDE_DEPTH), place()));
        }
        let folder = shown.parent().map_or_else(PathBuf::new, Path::to_path_buf);
        Ok(FileAt { path, folder })
    }

    fn load(&mut self, at: &FileAt, file: &Text) -> Result<Arc<Entries>, ModelError> {
        if let Some(entries) = self.files.get(&at.path) {
            return Ok(Arc::clone(entries));
        }
        let bytes = read_bytes(&at.path, MAX_FILE_SIZE)
            .map_err(|mistake| ModelError::new(mistake, file.place().clone()))?;
        let file_name = at.path.file_name().map_or_else(PathBuf::new, PathBuf::from);
        let source = value::source(&at.folder.join(file_name).display().to_string(), &bytes)?;
        let outside = file.place().file().reaches_outside();
        let source = if outside { source.reaching_outside() } else { source };
        let entries = Arc::new(value::parse(&source)?);
        self.sources.push(source);
        self.files.insert(at.path.clone(), Arc::clone(&entries));
        Ok(entries)
    }
}

/// Prefix, placement and parameters that an include gives to its file, inside those of its own file.
fn outer_of(fields: Fields<'_>) -> Result<Outer<'_>, ModelErrors> {
    let context = fields.context;
    let field = |key: &str| fields.optional(key).map(|entry| Field::new(entry, context));
    let mut prefix = context.scope().prefix.clone();
    if let Some(field) = field("prefix") {
        let text = field.text()?;
        if !text.content().is_empty() {
            name::check(text.content()).map_err(|mistake| ModelError::new(mistake, text.place().clone()))?;
        }
        prefix.push_str(text.content());
    }
    let position = match field("position") {
        Some(field) => field.vector3(Dimension::LENGTH)?,
        None => Vector3::zeros(),
    };
    let rotation = match field("rotation") {
        Some(field) => orientation::read(field)?,
        None => UnitQuaternion::identity(),
    };
    let mut overrides = Vec::new();
    if let Some(field) = field("parameters") {
        let given = scope::given_parameters(field.table()?, context)?;
        overrides.extend(given.into_iter().map(Override::from));
    }
    let placement = context.scope().placement * Isometry3::from_parts(Translation3::from(position), rotation);
    let Scope { parameters, named, .. } = context.scope();
    Ok(Outer { parameters, tables: &named.tables, prefix, placement, overrides })
}

type Repetition = Result<Context, ModelError>;

/// Contexts of the repetitions of a table for which its condition holds; a table that is not repeated
/// keeps the counter of the part around it.
pub(crate) fn repetitions(
    entries: &Entries,
    around: &Context,
) -> Result<impl Iterator<Item = Repetition>, ModelError> {
    let count = match entries.get("repeat") {
        Some(entry) => {
            let field = Field::new(entry, around);
            let count = field.count()?;
            if count as usize > MAX_PARTS {
                return Err(field.unsuitable(format!("at most {MAX_PARTS}"), count.to_string()));
            }
            Some(count)
        }
        None => None,
    };
    let condition = entries.get("when").cloned();
    let around = around.clone();
    Ok((0..count.unwrap_or(1)).filter_map(move |index| {
        let context = if count.is_some() { around.counted(index) } else { around.clone() };
        let holds = condition.as_ref().map_or(Ok(true), |entry| Field::new(entry, &context).condition());
        match holds {
            Ok(true) => Some(Ok(context)),
            Ok(false) => None,
            Err(error) => Some(Err(error)),
        }
    }))
}

fn duplicate(part: &Part, first: &Place) -> ModelError {
    let error = ModelError::new(Mistake::DuplicateName(part.name.clone()), part.name_place.clone());
    if *first == part.name_place {
        let hint = if part.context.index().is_some() {
            "put `{i}` into the name of the repeated part"
        } else {
            "give each include of the file a `prefix` of its own"
        };
        return error.with_hint(hint);
    }
    error.with_related(first.clone(), "first used here").with_hint("names are unique among all parts")
}

fn wrong_table(entry: &Entry, expected: &str) -> ModelError {
    let mistake = Mistake::WrongTable { kind: entry.key.clone(), expected: format!("`{expected}`") };
    ModelError::new(mistake, entry.key_place.clone())
}

fn unreadable(error: &std::io::Error, place: Place) -> ModelError {
    ModelError::new(Mistake::Unreadable(io_words(error)), place)
}

/// Adds the files that a table names by `file`, at their place beside the file in which the name stands.
fn named_files(entries: &Entries, context: &Context, files: &mut Vec<PathBuf>) {
    for entry in entries.iter() {
        match &entry.value.content {
            // Names of repeated parts may hold their number.
            Content::Text(_) if entry.key == "file" => {
                if let Ok(name) = Field::new(entry, context).text() {
                    let folder = Path::new(name.place().file().name()).parent().unwrap_or(Path::new(""));
                    files.push(folder.join(name.content()));
                }
            }
            Content::Table(inner) => named_files(inner, context, files),
            Content::Array(values) => values.iter().for_each(|value| {
                if let Content::Table(inner) = &value.content {
                    named_files(inner, context, files);
                }
            }),
            _ => {}
        }
    }
}

/// The values of a text in brackets, such as `[1, 2]`.
fn array(text: &Text) -> Option<Content> {
    let content = value::parse_value(text.place().file()).ok()?.content;
    matches!(content, Content::Array(_)).then_some(content)
}

/// Suggests a file of the same folder whose name is near.
fn with_nearest_file(error: ModelError, path: &Path) -> ModelError {
    /// Files that are looked at.
    const MAX_FILES: usize = 1000;
    let (Some(folder), Some(written)) = (path.parent(), path.file_name()) else { return error };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let files = std::fs::read_dir(folder).into_iter().flatten().take(MAX_FILES).flatten();
    let names: Vec<String> = files
        .map(|file| file.file_name().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".toml"))
        .collect();
    let written = written.to_string_lossy();
    // Most often only the ending is missing.
    match names.iter().find(|name| name.strip_suffix(".toml") == Some(&*written)) {
        Some(name) => error.with_hint(format!("did you mean `{name}`?")),
        None => error.with_nearest(&written, names.iter().map(String::as_str)),
    }
}

/// What the operating system says, in plain words where it is common.
fn io_words(error: &std::io::Error) -> String {
    use std::io::ErrorKind;
    match error.kind() {
        ErrorKind::NotFound => "there is no such file".to_owned(),
        ErrorKind::PermissionDenied => "there is no permission to read it".to_owned(),
        ErrorKind::IsADirectory => "it is a folder".to_owned(),
        _ => error.to_string(),
    }
}

/// Reads a file that a part names, which lies in the folder of the part's own file or below.
pub(crate) fn read_beside(file: &Text, limit: u64) -> Result<Vec<u8>, ModelError> {
    let error = |mistake| ModelError::new(mistake, file.place().clone());
    let model = Path::new(file.place().file().name());
    if !model.is_file() {
        return Err(error(Mistake::Unreadable("a text has no folder".to_string()))
            .with_hint("only a model that is read from a file can use other files"));
    }
    let folder = match model.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let find = |path: &Path| path.canonicalize().map_err(|reason| unreadable(&reason, file.place().clone()));
    let (root, path) = (find(folder)?, find(&folder.join(file.content()))?);
    if !path.starts_with(&root) && !file.place().file().reaches_outside() {
        let reason = "it lies outside of the folder of the model".to_string();
        return Err(error(Mistake::Unreadable(reason))
            .with_hint("put the file into that folder or below, or give `--allow-outside`"));
    }
    read_bytes(&path, limit).map_err(error)
}

/// Reads a file that a model consists of or names: a regular one that is not larger than a limit.
///
/// What is looked at is what was opened, so that nobody can put a pipe in its place meanwhile, for which one would
/// wait without end.
pub fn read_bytes(path: &Path, limit: u64) -> Result<Vec<u8>, Mistake> {
    let refuse = |error: std::io::Error| Mistake::Unreadable(io_words(&error));
    let file = open_regular(path).map_err(refuse)?;
    let size = file.metadata().map_err(refuse)?.len();
    if size > limit {
        return Err(Mistake::FileTooLarge { size, limit });
    }
    let mut bytes = Vec::new();
    // It may grow while it is read.
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(refuse)?;
    let size = bytes.len() as u64;
    if size > limit { Err(Mistake::FileTooLarge { size, limit }) } else { Ok(bytes) }
}
