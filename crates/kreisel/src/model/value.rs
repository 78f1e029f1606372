//! A model file as a tree of values, each with its place.
//!
//! TOML is read by the `toml` crate, which limits nesting to 80 levels for values, tables and dotted keys
//! alike; deeper files are refused instead of exhausting the stack.

use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use super::error::{Mistake, ModelError};
use super::source::{Place, SourceFile, Text};

/// A value with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// Where it stands.
    pub place: Place,
    /// What it is.
    pub content: Content,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// A whole or decimal number.
    Number(f64),
    /// A text in quotes, perhaps an expression.
    Text(Text),
    /// `true` or `false`.
    Boolean(bool),
    /// A date or a time of day, which no part uses.
    Date,
    /// Values in brackets, or an array of tables.
    Array(Vec<Value>),
    /// A table, inline or with a header.
    Table(Entries),
}

impl Value {
    /// What the value is, for messages.
    pub fn description(&self) -> String {
        match &self.content {
            Content::Number(value) => format!("the number {value}"),
            Content::Text(text) => {
                let mut shown: String = text.content().chars().take(30).collect();
                if shown.len() < text.content().len() {
                    shown.push('…');
                }
                format!("the text \"{shown}\"")
            }
            Content::Boolean(value) => value.to_string(),
            Content::Date => "a date".into(),
            Content::Array(values) => format!("an array of {}", values.len()),
            Content::Table(_) => "a table".into(),
        }
    }
}

/// Keys and values of a table, in the order in which they stand in the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Entries {
    entries: Vec<Entry>,
    place: Place,
}

/// One key with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Where the key stands.
    pub key_place: Place,
    /// Its value.
    pub value: Value,
}

impl Entries {
    /// A table without entries.
    pub(crate) fn empty(place: Place) -> Self {
        Self { entries: Vec::new(), place }
    }

    /// Puts an entry in place of the one with the same key, or at the end.
    pub(crate) fn set(&mut self, entry: Entry) {
        match self.entries.iter_mut().find(|known| known.key == entry.key) {
            Some(known) => *known = entry,
            None => self.entries.push(entry),
        }
    }

    /// Takes the entry with a key away, if there is one.
    pub(crate) fn remove(&mut self, key: &str) {
        self.entries.retain(|known| known.key != key);
    }

    /// The entry with a key.
    pub fn get(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// All entries.
    pub fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter()
    }

    /// The header of the table, or the braces of an inline one.
    pub fn place(&self) -> &Place {
        &self.place
    }
}

/// Turns the bytes of a file into text.
pub fn source(name: &str, bytes: &[u8]) -> Result<Arc<SourceFile>, ModelError> {
    let refuse = |text: String, offset: usize, reason| {
        let file = SourceFile::new(name, text);
        let letter = file.text()[offset..].chars().next().map_or(0, char::len_utf8);
        let error = ModelError::new(Mistake::NotText(reason), Place::new(&file, offset..offset + letter));
        Err(error.with_hint("a model is a TOML file: text in UTF-8"))
    };
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return refuse(String::new(), 0, "it seems to be UTF-16; save it as UTF-8");
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if let Some(offset) = bytes.iter().position(|&byte| byte == 0) {
        let before = String::from_utf8_lossy(&bytes[..offset]).into_owned();
        let offset = before.len();
        return refuse(before + "\u{fffd}", offset, "it contains a zero byte here");
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(SourceFile::new(name, text)),
        Err(error) => {
            let text = String::from_utf8_lossy(bytes).into_owned();
            refuse(text, error.valid_up_to(), "this byte is not UTF-8")
        }
    }
}

/// Reads a TOML text into a tree.
pub fn parse(file: &Arc<SourceFile>) -> Result<Entries, ModelError> {
    let table = DeTable::parse(file.text()).map_err(|error| syntax_error(file, &error))?;
    let place = Place::new(file, 0..0);
    entries(file, table.get_ref(), place)
}

/// Reads a single TOML value, such as the default of a key.
pub(crate) fn parse_value(file: &Arc<SourceFile>) -> Result<Value, ModelError> {
    let value = DeValue::parse(file.text()).map_err(|error| syntax_error(file, &error))?;
    convert(file, &value)
}

fn syntax_error(file: &Arc<SourceFile>, error: &toml::de::Error) -> ModelError {
    let range = error.span().unwrap_or(0..0);
    let reason = error.message().lines().collect::<Vec<_>>().join("; ");
    let deep = reason.contains("recurs");
    let reason = if deep { "tables or arrays are nested too deeply".into() } else { reason };
    let error = ModelError::new(Mistake::Syntax(reason), Place::new(file, range));
    if deep { error.with_hint("no part of a model needs more than four levels") } else { error }
}

fn entries(file: &Arc<SourceFile>, table: &DeTable<'_>, place: Place) -> Result<Entries, ModelError> {
    let mut entries = Vec::with_capacity(table.len());
    for (key, value) in table {
        entries.push(Entry {
            key: key.get_ref().to_string(),
            key_place: Place::new(file, key.span()),
            value: convert(file, value)?,
        });
    }
    // The crate sorts by name; people read from top to bottom.
    entries.sort_by_key(|entry| entry.key_place.range().start);
    Ok(Entries { entries, place })
}

fn convert(file: &Arc<SourceFile>, value: &Spanned<DeValue<'_>>) -> Result<Value, ModelError> {
    let place = Place::new(file, value.span());
    let content = match value.get_ref() {
        DeValue::String(text) => Content::Text(Text::new(text.as_ref(), place.clone())),
        DeValue::Integer(number) => {
            Content::Number(integer(number.as_str(), number.radix()).ok_or_else(|| bad_number(&place))?)
        }
        DeValue::Float(number) => Content::Number(number.as_str().parse().map_err(|_| bad_number(&place))?),
        DeValue::Boolean(value) => Content::Boolean(*value),
        DeValue::Datetime(_) => Content::Date,
        DeValue::Array(values) => Content::Array(array(file, values)?),
        DeValue::Table(table) => Content::Table(entries(file, table, place.clone())?),
    };
    Ok(Value { place, content })
}

fn array(file: &Arc<SourceFile>, values: &DeArray<'_>) -> Result<Vec<Value>, ModelError> {
    values.iter().map(|value| convert(file, value)).collect()
}

/// A whole number of any length as the nearest floating-point number.
fn integer(digits: &str, radix: u32) -> Option<f64> {
    if radix == 10 {
        return digits.parse().ok();
    }
    i64::from_str_radix(digits, radix).ok().map(|value| value as f64)
}

fn bad_number(place: &Place) -> ModelError {
    ModelError::new(Mistake::Syntax("this number cannot be read".into()), place.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Entries, ModelError> {
        parse(&source("test.toml", text.as_bytes()).unwrap())
    }

    #[test]
    fn values_keep_their_places_and_order() {
        let text = "z = 1\na = [1_000, 2.5e-3, 0x10]\n\n[[body]]\nname = \"top\"\nmarkers = [{ x = 'l' }]\n";
        let table = read(text).unwrap();
        assert_eq!(table.iter().map(|entry| entry.key.as_str()).collect::<Vec<_>>(), ["z", "a", "body"]);
        let Content::Array(numbers) = &table.get("a").unwrap().value.content else { panic!() };
        let numbers: Vec<&Content> = numbers.iter().map(|value| &value.content).collect();
        assert_eq!(numbers, [&Content::Number(1000.0), &Content::Number(2.5e-3), &Content::Number(16.0)]);
        let Content::Array(bodies) = &table.get("body").unwrap().value.content else { panic!() };
        let Content::Table(body) = &bodies[0].content else { panic!() };
        assert_eq!(body.place().text(), "[[body]]");
        let name = body.get("name").unwrap();
        assert_eq!((name.key_place.text(), name.value.place.text()), ("name", "\"top\""));
    }

    #[test]
    fn windows_line_ends_and_a_byte_order_mark_are_welcome() {
        let file = source("test.toml", b"\xef\xbb\xbfa = 1\r\nb = 2\r\n").unwrap();
        let table = parse(&file).unwrap();
        assert_eq!(table.get("b").unwrap().key_place.line(), 2);
        assert_eq!(table.get("a").unwrap().key_place.column(), 1);
    }

    #[test]
    fn files_that_are_not_text_are_refused_at_the_byte() {
        let cases: [(&[u8], usize, &str); 4] = [
            (b"\xff\xfea\0", 1, "UTF-16"),
            (b"a = 1\nb\0\0", 2, "zero byte"),
            (b"a = 1\n\n\xff\xff", 3, "not UTF-8"),
            (b"\x7fELF\x02\x01\x01\x00\xff\xfe", 1, "zero byte"),
        ];
        for (bytes, line, reason) in cases {
            let error = source("test.toml", bytes).unwrap_err();
            assert_eq!(error.place().line(), line);
            assert!(error.to_string().contains(reason), "{error}");
            assert!(error.render(false).contains("test.toml"));
        }
    }

    #[test]
    fn nesting_of_any_depth_is_refused_without_exhausting_the_stack() {
        let depth = 10_000;
        let nested = [
            format!("a = {}{}", "[".repeat(depth), "]".repeat(depth)),
            format!("a = {}{}", "{a=".repeat(depth), "}".repeat(depth)),
            format!("a = {}", "[".repeat(depth)),
            format!("a = {}", "{a=".repeat(depth)),
            format!("{}a = 1", "a.".repeat(depth)),
            format!("[{}a]\nb = 1", "a.".repeat(depth)),
            format!("[[{}a]]\nb = 1", "a.".repeat(depth)),
            (0..200).map(|k| format!("[[{}a]]\n", "a.".repeat(k))).collect(),
        ];
        for text in nested {
            let error = read(&text).unwrap_err();
            assert!(error.to_string().contains("nested too deeply"), "{error}");
            assert!(error.render(false).len() < 2_000);
        }
    }

    #[test]
    fn a_line_of_ten_megabytes_gives_a_short_message() {
        let long = "x".repeat(10_000_000);
        for text in [format!("a = \"{long}"), long.clone(), format!("a = [{}", "1, ".repeat(3_000_000))] {
            let error = read(&text).unwrap_err();
            assert!(error.render(false).len() < 2_000, "{}", error.render(false).len());
        }
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..60)) {
            if let Err(error) = source("test.toml", &bytes).and_then(|file| parse(&file)) {
                error.render(true);
            }
        }

        #[test]
        fn no_text_makes_the_reader_panic(text in "[\\[\\]{}=.,\"'#a-c0-9 \n\r\t-]{0,60}") {
            if let Err(error) = read(&text) {
                error.render(false);
            }
        }
    }
}
