//! Rust source as words: comments fall away, strings stay whole, tests can be taken out.

use std::collections::BTreeSet;

/// What kind of word it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A name or keyword, also a number.
    Word,
    /// A literal in quotes, with them.
    Text,
    /// One sign such as `{` or `:`.
    Sign,
    /// `'a`.
    Lifetime,
}

/// A word of the source with the lines that it covers.
#[derive(Clone, Debug)]
pub struct Token {
    /// What kind of word it is.
    pub kind: Kind,
    /// The word as it stands there.
    pub text: String,
    /// Line of its first letter, from 1.
    pub line: usize,
    /// Line of its last letter.
    pub last_line: usize,
}

impl Token {
    /// Whether it is this name, keyword or sign; never true of a text in quotes.
    pub fn is(&self, text: &str) -> bool {
        matches!(self.kind, Kind::Word | Kind::Sign) && self.text == text
    }
}

/// All words of a source.
pub fn tokens(source: &str) -> Vec<Token> {
    let letters: Vec<char> = source.chars().collect();
    let mut tokens = Vec::new();
    let (mut at, mut line) = (0, 1);
    while at < letters.len() {
        let (end, kind) = next(&letters, at);
        let last_line = line + letters[at..end].iter().filter(|letter| **letter == '\n').count();
        if let Some(kind) = kind {
            tokens.push(Token { kind, text: letters[at..end].iter().collect(), line, last_line });
        }
        (at, line) = (end, last_line);
    }
    tokens
}

/// Where the word that begins at `at` ends, and what it is; nothing for space and comments.
fn next(letters: &[char], at: usize) -> (usize, Option<Kind>) {
    let letter = letters[at];
    let follows =
        |text: &str| text.chars().enumerate().all(|(i, wanted)| letters.get(at + i) == Some(&wanted));
    if letter.is_whitespace() {
        return (at + 1, None);
    }
    if follows("//") {
        return (end_of_line(letters, at), None);
    }
    if follows("/*") {
        return (end_of_comment(letters, at), None);
    }
    if letter == '"' {
        return (end_of_text(letters, at), Some(Kind::Text));
    }
    if letter == '\'' {
        return quoted(letters, at);
    }
    if is_word(letter) {
        return word(letters, at);
    }
    (at + 1, Some(Kind::Sign))
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

fn end_of_line(letters: &[char], from: usize) -> usize {
    letters[from..].iter().position(|letter| *letter == '\n').map_or(letters.len(), |length| from + length)
}

/// Comments of this form may stand within each other.
fn end_of_comment(letters: &[char], from: usize) -> usize {
    let (mut at, mut depth) = (from, 0);
    while at < letters.len() {
        match (letters[at], letters.get(at + 1)) {
            ('/', Some('*')) => (depth, at) = (depth + 1, at + 2),
            ('*', Some('/')) => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at.min(letters.len())
}

fn end_of_text(letters: &[char], quote: usize) -> usize {
    let mut at = quote + 1;
    while at < letters.len() && letters[at] != letters[quote] {
        at += if letters[at] == '\\' { 2 } else { 1 };
    }
    (at + 1).min(letters.len())
}

/// A single letter in quotes, or a lifetime.
fn quoted(letters: &[char], at: usize) -> (usize, Option<Kind>) {
    if letters.get(at + 1) == Some(&'\\') || letters.get(at + 2) == Some(&'\'') {
        return (end_of_text(letters, at), Some(Kind::Text));
    }
    let end = (at + 1..letters.len()).find(|end| !is_word(letters[*end]));
    (end.unwrap_or(letters.len()), Some(Kind::Lifetime))
}

/// A name, a number, or a text with letters before its quotes such as `r#"…"#`.
fn word(letters: &[char], at: usize) -> (usize, Option<Kind>) {
    let end = (at..letters.len()).find(|end| !is_word(letters[*end])).unwrap_or(letters.len());
    let name: String = letters[at..end].iter().collect();
    if matches!(name.as_str(), "b" | "c") && letters.get(end) == Some(&'"') {
        return (end_of_text(letters, end), Some(Kind::Text));
    }
    if name == "b" && letters.get(end) == Some(&'\'') {
        return (end_of_text(letters, end), Some(Kind::Text));
    }
    if matches!(name.as_str(), "r" | "br" | "cr") {
        let hashes = letters[end..].iter().take_while(|letter| **letter == '#').count();
        if letters.get(end + hashes) == Some(&'"') {
            return (end_of_raw_text(letters, end + hashes, hashes), Some(Kind::Text));
        }
    }
    (end, Some(Kind::Word))
}

fn end_of_raw_text(letters: &[char], quote: usize, hashes: usize) -> usize {
    let closes = |at: &usize| {
        letters[*at] == '"'
            && letters[at + 1..].iter().take(hashes).filter(|letter| **letter == '#').count() == hashes
    };
    (quote + 1..letters.len()).find(closes).map_or(letters.len(), |at| at + 1 + hashes)
}

/// Where the bracket that opens at `open` is closed.
pub fn closing(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        depth += step(token);
        if depth == 0 {
            return at;
        }
    }
    tokens.len().saturating_sub(1)
}

/// How a word changes the depth of brackets; angle brackets are not counted.
pub fn step(token: &Token) -> isize {
    match token.text.as_str() {
        "(" | "[" | "{" if token.kind == Kind::Sign => 1,
        ")" | "]" | "}" if token.kind == Kind::Sign => -1,
        _ => 0,
    }
}

/// How the word at `at` changes the depth of angle brackets; arrows are none.
pub fn angle(tokens: &[Token], at: usize) -> isize {
    let is_arrow = at > 0 && (tokens[at - 1].is("-") || tokens[at - 1].is("="));
    match () {
        () if tokens[at].is("<") => 1,
        () if tokens[at].is(">") && !is_arrow => -1,
        () => 0,
    }
}

/// The words without items, fields and statements that `#[cfg(test)]` or `#[test]` stand before. A file
/// declared by `#[cfg(test)] mod name;` is then declared nowhere.
pub fn without_tests(tokens: &[Token]) -> Vec<Token> {
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let Some(attribute) = attribute(tokens, at) else {
            kept.push(tokens[at].clone());
            at += 1;
            continue;
        };
        if !is_test(&tokens[attribute.open + 1..attribute.close]) {
            kept.extend_from_slice(&tokens[at..=attribute.close]);
            at = attribute.close + 1;
        } else if attribute.is_inner {
            // `#![cfg(test)]` speaks of the whole file.
            return Vec::new();
        } else {
            at = end_of_item(tokens, attribute.close + 1);
        }
    }
    kept
}

struct Attribute {
    open: usize,
    close: usize,
    is_inner: bool,
}

fn attribute(tokens: &[Token], at: usize) -> Option<Attribute> {
    let is = |at: usize, text: &str| tokens.get(at).is_some_and(|token| token.is(text));
    let is_inner = is(at + 1, "!");
    let open = at + 1 + usize::from(is_inner);
    (is(at, "#") && is(open, "[")).then(|| Attribute { open, close: closing(tokens, open), is_inner })
}

/// Whether an attribute keeps something for tests: `test`, `cfg(test)`, `cfg(all(test, …))`.
fn is_test(words: &[Token]) -> bool {
    let words: Vec<&str> = words.iter().map(|token| token.text.as_str()).collect();
    match words[..] {
        ["test"] => true,
        ["cfg", "(", "test", ")"] => true,
        ["cfg", "(", "all", "(", ref rest @ ..] => rest.first() == Some(&"test"),
        _ => false,
    }
}

/// The first word after the item, field or statement that begins at `from`, further attributes included.
fn end_of_item(tokens: &[Token], from: usize) -> usize {
    let mut at = from;
    while let Some(attribute) = attribute(tokens, at) {
        at = attribute.close + 1;
    }
    let (mut depth, mut angles) = (0, 0);
    while at < tokens.len() {
        let token = &tokens[at];
        depth += step(token);
        angles += if depth == 0 { angle(tokens, at) } else { 0 };
        if depth < 0 {
            return at;
        }
        let is_end = token.is(";") || token.is("}") || (token.is(",") && angles == 0);
        if depth == 0 && is_end {
            return at + 1;
        }
        at += 1;
    }
    at
}

/// Lines that hold a word: no blank lines, no comments.
pub fn code_lines(tokens: &[Token]) -> usize {
    tokens.iter().flat_map(|token| token.line..=token.last_line).collect::<BTreeSet<_>>().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(source: &str) -> String {
        tokens(source).iter().map(|token| token.text.as_str()).collect::<Vec<_>>().join(" ")
    }

    fn kept(source: &str) -> String {
        without_tests(&tokens(source)).iter().map(|token| token.text.as_str()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn comments_fall_away_and_texts_stay_whole() {
        assert_eq!(words("/// [`crate::dae`]\n//! x\na /* b /* c */ d */ e // f"), "a e");
        assert_eq!(
            words(r#"f("// no \" comment", 'x', '\'', b'"')"#),
            r#"f ( "// no \" comment" , 'x' , '\'' , b'"' )"#
        );
        assert_eq!(words("r#\"a \" b\"# r\"\\\" c"), "r#\"a \" b\"# r\"\\\" c");
        assert_eq!(words("&'a str"), "& 'a str");
        assert_eq!(tokens("a\n\"b\nc\"\nd").iter().map(|token| token.line).collect::<Vec<_>>(), [1, 2, 4]);
    }

    #[test]
    fn tests_are_taken_out() {
        assert_eq!(kept("a; #[cfg(test)] mod tests { fn f() {} } b;"), "a ; b ;");
        assert_eq!(kept("#[cfg(test)] mod tests; mod b;"), "mod b ;");
        assert_eq!(kept("#[cfg(test)] #[allow(x)] pub fn f<A, B>(a: A) { g(a); } b"), "b");
        assert_eq!(kept("struct A { #[cfg(test)] a: Map<u8, u8>, b: u8 }"), "struct A { b : u8 }");
        assert_eq!(kept("fn f() { #[cfg(test)] self.a.push(b); c }"), "fn f ( ) { c }");
        assert_eq!(kept("#[test] fn f() {} #[inline] fn g() {}"), "# [ inline ] fn g ( ) { }");
        assert_eq!(kept("#![cfg(test)] fn f() {}"), "");
        assert_eq!(kept("#[cfg(not(test))] a"), "# [ cfg ( not ( test ) ) ] a");
    }

    #[test]
    fn lines_of_code_are_those_with_words() {
        let source =
            "//! What.\n\nfn f() {\n    // why\n    1\n}\n\n#[cfg(test)]\nmod tests {\n    fn g() {}\n}\n";
        assert_eq!(code_lines(&tokens(source)), 7);
        assert_eq!(code_lines(&without_tests(&tokens(source))), 3);
    }
}
