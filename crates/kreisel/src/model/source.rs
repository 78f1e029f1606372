//! Model files as text, and places in them.
//!
//! A [`Place`] is a range of bytes of a [`SourceFile`] that it keeps alive, so that a message can show
//! the user's own line long after reading has ended. A [`Text`] is a quoted text of the file with its
//! place; positions inside the quotes map back to the file.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// One file that was read, or a text given on the command line, with the name that messages show.
#[derive(Debug, PartialEq, Eq)]
pub struct SourceFile {
    name: String,
    text: String,
    /// Byte offset at which each line begins.
    line_starts: Vec<usize>,
    /// Whether files that it names may lie outside of its folder.
    reaches_outside: bool,
}

impl SourceFile {
    /// Source with the given name and text.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Arc<Self> {
        let text = text.into();
        let line_starts =
            std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect::<Vec<_>>();
        Arc::new(Self { name: name.into(), text, line_starts, reaches_outside: false })
    }

    /// The same source, allowed to name files outside of its folder.
    pub fn reaching_outside(&self) -> Arc<Self> {
        let (name, text, line_starts) = (self.name.clone(), self.text.clone(), self.line_starts.clone());
        Arc::new(Self { name, text, line_starts, reaches_outside: true })
    }

    /// Whether files that it names may lie outside of its folder.
    pub fn reaches_outside(&self) -> bool {
        self.reaches_outside
    }

    /// The name shown in messages, usually a path.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Number of the line that holds a byte offset, counted from 1.
    pub fn line(&self, offset: usize) -> usize {
        self.line_starts.partition_point(|&start| start <= offset)
    }

    /// Number of the letter at a byte offset within its line, counted from 1.
    pub fn column(&self, offset: usize) -> usize {
        let start = self.line_range(self.line(offset)).start;
        let offset = floor_boundary(&self.text, offset);
        self.text[start..offset].chars().count() + 1
    }

    /// Bytes of a line (counted from 1), without the end of the line.
    pub fn line_range(&self, line: usize) -> Range<usize> {
        let start = self.line_starts[line - 1];
        let end = self.line_starts.get(line).map_or(self.text.len(), |next| next - 1);
        let end = if self.text[start..end].ends_with('\r') { end - 1 } else { end };
        start..end
    }
}

/// The last character boundary at or before an offset.
pub(crate) fn floor_boundary(text: &str, offset: usize) -> usize {
    let mut at = offset.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The first character boundary at or after an offset.
pub(crate) fn ceil_boundary(text: &str, offset: usize) -> usize {
    let mut at = offset.min(text.len());
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

/// A range of bytes in a source, with the source itself.
#[derive(Clone, PartialEq, Eq)]
pub struct Place {
    file: Arc<SourceFile>,
    start: usize,
    end: usize,
}

impl Place {
    /// Place of a range of bytes; the range is moved to the nearest characters inside the text.
    pub fn new(file: &Arc<SourceFile>, range: Range<usize>) -> Self {
        let start = floor_boundary(file.text(), range.start);
        let end = ceil_boundary(file.text(), range.end.max(start));
        Self { file: Arc::clone(file), start, end }
    }

    /// The source in which the place lies.
    pub fn file(&self) -> &Arc<SourceFile> {
        &self.file
    }

    /// The bytes of the place.
    pub fn range(&self) -> Range<usize> {
        self.start..self.end
    }

    /// Line of the first letter, counted from 1.
    pub fn line(&self) -> usize {
        self.file.line(self.start)
    }

    /// Column of the first letter, counted from 1.
    pub fn column(&self) -> usize {
        self.file.column(self.start)
    }

    /// The text at this place.
    pub fn text(&self) -> &str {
        &self.file.text[self.start..self.end]
    }
}

/// The beginning of an empty text: for what no user wrote.
impl Default for Place {
    fn default() -> Self {
        Self { file: SourceFile::new("", ""), start: 0, end: 0 }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}:{}", self.file.name, self.line(), self.column())
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

/// A text the user wrote, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    content: String,
    place: Place,
    /// Where the content begins in the file, if it stands there letter by letter (no escapes).
    content_start: Option<usize>,
}

impl Text {
    /// Text whose place in the file includes its quotes.
    pub fn new(content: impl Into<String>, place: Place) -> Self {
        let content = content.into();
        let written = place.text();
        let content_start = [3, 1, 0].into_iter().find_map(|quotes| {
            let inner = written.get(quotes..written.len().checked_sub(quotes)?)?;
            (inner == content).then_some(place.start + quotes)
        });
        Self { content, place, content_start }
    }

    /// Text that is a source of its own, such as an argument of the command line.
    pub fn standalone(name: impl Into<String>, content: impl Into<String>) -> Self {
        let content = content.into();
        let file = SourceFile::new(name, content.clone());
        let place = Place::new(&file, 0..content.len());
        Self { content, place, content_start: Some(0) }
    }

    /// The same place with another content, for instance after `{i}` was replaced.
    pub fn with_content(&self, content: String) -> Self {
        if content == self.content {
            return self.clone();
        }
        Self { content, place: self.place.clone(), content_start: None }
    }

    /// The letters without quotes.
    pub fn content(&self) -> &str {
        &self.content
    }

    /// The place of the whole text, quotes included.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// The place of a range of the content; the whole text if the range cannot be found in the file.
    pub fn place_of(&self, range: Range<usize>) -> Place {
        match self.content_start {
            Some(start) => Place::new(self.place.file(), start + range.start..start + range.end),
            None => self.place.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_letters_from_one() {
        let file = SourceFile::new("a.toml", "über = 1\r\nx = \"ab\"\n");
        let place = Place::new(&file, file.text().find("= 1").unwrap()..9);
        assert_eq!((place.line(), place.column()), (1, 6));
        let place = Place::new(&file, file.text().find("ab").unwrap()..18);
        assert_eq!((place.line(), place.column()), (2, 6));
        assert_eq!(file.line_range(1), 0..9);
    }

    #[test]
    fn a_text_maps_back_into_its_quotes() {
        let file = SourceFile::new("a.toml", "x = 'a + b'\ny = \"a\\tb\"\n");
        let text = Text::new("a + b", Place::new(&file, 4..11));
        assert_eq!(text.place_of(4..5).text(), "b");
        // An escape moves the letters: the whole text is shown.
        let text = Text::new("a\tb", Place::new(&file, 16..22));
        assert_eq!(text.place_of(2..3).text(), "\"a\\tb\"");
    }

    #[test]
    fn a_range_outside_the_text_is_moved_inside() {
        let file = SourceFile::new("a.toml", "ü");
        assert_eq!(Place::new(&file, 1..9).range(), 0..2);
        assert_eq!(Place::new(&SourceFile::new("e", ""), 3..4).line(), 1);
    }
}
