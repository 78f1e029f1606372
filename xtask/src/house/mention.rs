//! Where a thing is mentioned in code: how many files and places know it by name.

use super::source::File;
use super::token::{Kind, Token};
use std::collections::BTreeMap;

/// Lines by file that mention one of the words: as a name or part of one, as a whole word of a text in
/// quotes, or, written with colons, as a path.
pub fn mentions<'f>(files: impl Iterator<Item = &'f File>, words: &[&str]) -> BTreeMap<&'f str, Vec<usize>> {
    lines(files, |tokens| match tokens {
        [first, ..] if words.iter().any(|word| mentions_word(first, word)) => true,
        [first, colon, second, name, ..] => words
            .iter()
            .filter_map(|word| word.split_once("::"))
            .any(|(wanted, last)| first.is(wanted) && colon.is(":") && second.is(":") && name.is(last)),
        _ => false,
    })
}

/// Lines by file with a path in which `name::` stands.
pub fn paths<'f>(files: impl Iterator<Item = &'f File>, name: &str) -> BTreeMap<&'f str, Vec<usize>> {
    lines(files, |tokens| match tokens {
        [first, colon, second, ..] => first.is(name) && colon.is(":") && second.is(":"),
        _ => false,
    })
}

/// Lines by file where the words from some place on are as `is_meant` says.
fn lines<'f>(
    files: impl Iterator<Item = &'f File>,
    is_meant: impl Fn(&[Token]) -> bool,
) -> BTreeMap<&'f str, Vec<usize>> {
    let found = files.map(|file| {
        let places = (0..file.tokens.len()).filter(|at| is_meant(&file.tokens[*at..]));
        let mut lines: Vec<usize> = places.map(|at| file.tokens[at].line).collect();
        lines.dedup();
        (file.path.as_str(), lines)
    });
    found.filter(|(_, lines)| !lines.is_empty()).collect()
}

fn mentions_word(token: &Token, word: &str) -> bool {
    match token.kind {
        Kind::Word => token.text.contains(word),
        Kind::Text => has_whole_word(&token.text, word),
        Kind::Sign | Kind::Lifetime => false,
    }
}

fn has_whole_word(text: &str, word: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '-';
    text.match_indices(word)
        .any(|(at, _)| !text[..at].ends_with(is_part) && !text[at + word.len()..].starts_with(is_part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_words_in_quotes_are_mentions_and_comments_are_not() {
        let text =
            "// bdf2\nlet bdf2_step = Bdf2::new();\nlet a = \"the bdf2 method\";\nlet b = \"my-bdf2\";\n";
        let files = [File::new("a.rs", &[], text), File::new("b.rs", &[], "/// Bdf2.\nfn f() {}")];
        let found = mentions(files.iter(), &["bdf2", "Bdf2"]);
        assert_eq!(found.into_iter().collect::<Vec<_>>(), [("a.rs", vec![2, 3])]);
        let files = [File::new("a.rs", &[], "open(scene::FILE);\nscene.file();\nopen(table::FILE);")];
        let found = mentions(files.iter(), &["scene::FILE"]);
        assert_eq!(found.into_iter().collect::<Vec<_>>(), [("a.rs", vec![1])]);
    }

    #[test]
    fn paths_are_counted_by_line() {
        let files = [File::new(
            "a.rs",
            &[],
            "f(Method::A, Method::B);\nuse x::Method;\nmy::Method::C;\nMyMethod::D;",
        )];
        assert_eq!(paths(files.iter(), "Method").into_iter().collect::<Vec<_>>(), [("a.rs", vec![1, 3])]);
    }
}
