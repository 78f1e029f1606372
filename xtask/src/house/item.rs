//! Types and traits that a file defines: their fields and methods.

use super::source::File;
use super::token::{Kind, Token, angle, closing, step};

/// A struct, enum, trait or type alias.
#[derive(Debug)]
pub struct Item {
    /// `struct`, `enum`, `trait` or `type`.
    pub keyword: String,
    /// Its name.
    pub name: String,
    /// Whether `pub` stands before it, without a limit in parentheses.
    pub is_public: bool,
    /// Its file and line.
    pub place: String,
    /// Its module.
    pub module: Vec<String>,
    /// Fields of a struct.
    pub fields: Vec<Field>,
    /// Methods of a trait.
    pub methods: Vec<Method>,
}

/// A field of a struct.
#[derive(Debug)]
pub struct Field {
    /// Its name, or its number.
    pub name: String,
    /// Its type without spaces and lifetimes.
    pub type_text: String,
    /// Whether other crates could reach it: `pub` without a limit in parentheses.
    pub is_open: bool,
}

/// A method of a trait.
#[derive(Debug)]
pub struct Method {
    /// Whether every implementation has to write it.
    pub is_needed: bool,
}

/// All types and traits of a file, those inside of functions included; types that belong to a trait are none.
pub fn items(file: &File) -> Vec<Item> {
    let tokens = &file.tokens;
    let mut items = Vec::new();
    // For each open brace whether it belongs to a trait or an implementation; `next` for the one to come.
    let (mut braces, mut next) = (Vec::new(), false);
    for (at, token) in tokens.iter().enumerate() {
        match token.text.as_str() {
            _ if token.kind == Kind::Text => (),
            "impl" | "trait" => next = true,
            ";" => next = false,
            "{" => braces.push(std::mem::take(&mut next)),
            "}" => drop(braces.pop()),
            _ => (),
        }
        let belongs = token.is("type") && braces.last() == Some(&true);
        let is_keyword = ["struct", "enum", "trait", "type"].iter().any(|keyword| token.is(keyword));
        let Some(name) = tokens.get(at + 1).filter(|name| name.kind == Kind::Word) else { continue };
        if is_keyword && !belongs {
            items.push(Item {
                keyword: token.text.clone(),
                name: name.text.clone(),
                is_public: at > 0 && tokens[at - 1].is("pub"),
                place: file.place(token),
                module: file.module.clone(),
                fields: if token.is("struct") { fields(tokens, at + 2) } else { Vec::new() },
                methods: if token.is("trait") { methods(tokens, at + 2) } else { Vec::new() },
            });
        }
    }
    items
}

/// Where the body after a name begins: its brace, parenthesis or semicolon behind generics and bounds.
fn body(tokens: &[Token], from: usize) -> Option<usize> {
    let (mut at, mut angles) = (from, 0);
    while at < tokens.len() {
        angles += angle(tokens, at);
        let is_body =
            tokens[at].is("{") || tokens[at].is(";") || (tokens[at].is("(") && at == start(tokens, from));
        if angles == 0 && is_body {
            return Some(at);
        }
        // Parentheses in bounds such as `Fn(f64) -> f64`.
        at = if tokens[at].is("(") || tokens[at].is("[") { closing(tokens, at) + 1 } else { at + 1 };
    }
    None
}

/// The first word behind the generics that may stand at `from`.
fn start(tokens: &[Token], from: usize) -> usize {
    let mut angles = 0;
    for at in from..tokens.len() {
        angles += angle(tokens, at);
        if angles == 0 {
            return if tokens[at].is(">") { at + 1 } else { at };
        }
    }
    tokens.len()
}

fn fields(tokens: &[Token], from: usize) -> Vec<Field> {
    let Some(open) = body(tokens, from).filter(|at| !tokens[*at].is(";")) else { return Vec::new() };
    let within = &tokens[open + 1..closing(tokens, open)];
    let named = tokens[open].is("{");
    split(within).into_iter().enumerate().filter_map(|(number, words)| field(words, number, named)).collect()
}

/// The words between commas outside of brackets.
fn split(tokens: &[Token]) -> Vec<&[Token]> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0);
    for (at, token) in tokens.iter().enumerate() {
        depth += step(token) + angle(tokens, at);
        if depth == 0 && token.is(",") {
            parts.push(&tokens[start..at]);
            start = at + 1;
        }
    }
    parts.push(&tokens[start..]);
    parts
}

fn field(mut words: &[Token], number: usize, named: bool) -> Option<Field> {
    while words.first()?.is("#") {
        words = &words[closing(words, 1) + 1..];
    }
    let mut is_open = words.first()?.is("pub");
    if is_open {
        words = &words[1..];
        let is_limited = words.first()?.is("(") && (named || words.get(1).is_some_and(is_limit));
        words = if is_limited { &words[closing(words, 0) + 1..] } else { words };
        is_open = !is_limited;
    }
    let (name, words) =
        if named { (words.first()?.text.clone(), words.get(2..)?) } else { (number.to_string(), words) };
    let type_words = words.iter().filter(|word| word.kind != Kind::Lifetime).map(|word| word.text.as_str());
    Some(Field { name, type_text: type_words.collect(), is_open })
}

fn is_limit(word: &Token) -> bool {
    ["crate", "super", "self", "in"].iter().any(|limit| word.is(limit))
}

fn methods(tokens: &[Token], from: usize) -> Vec<Method> {
    let Some(open) = body(tokens, from).filter(|at| tokens[*at].is("{")) else { return Vec::new() };
    let close = closing(tokens, open);
    let mut methods = Vec::new();
    let mut at = open + 1;
    while at < close {
        if tokens[at].is("fn") {
            let mut end = at + 2;
            while end < close && !tokens[end].is(";") && !tokens[end].is("{") {
                end = if step(&tokens[end]) > 0 { closing(tokens, end) + 1 } else { end + 1 };
            }
            methods.push(Method { is_needed: tokens[end].is(";") });
            at = end;
        }
        at = if tokens[at].is("{") { closing(tokens, at) + 1 } else { at + 1 };
    }
    methods
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(text: &str) -> Vec<Item> {
        super::items(&File::new("file.rs", &["dae"], text))
    }

    #[test]
    fn types_and_traits_are_found_and_types_of_a_trait_are_not() {
        let text = "pub struct A; pub(crate) enum B { C } trait D { type E; } impl D for A { type E = u8; }
            pub type F<T> = Vec<T>; fn g() { struct H(u8); } #[cfg(test)] mod tests { struct A; }
            macro_rules! m { ($name:ident) => { struct $name; } }";
        let found: Vec<_> = items(text).into_iter().map(|item| (item.name, item.is_public)).collect();
        let wanted = [("A", true), ("B", false), ("D", false), ("F", true), ("H", false)];
        assert_eq!(found, wanted.map(|(name, is_public)| (name.to_owned(), is_public)));
    }

    #[test]
    fn fields_are_counted_with_their_types_and_whether_they_are_open() {
        let text = "struct A<'a, F: Fn(f64) -> f64> where F: Send {
            /// Position, q.
            #[serde(default)]
            pub q: &'a [f64], pub(super) v: Map<u8, Vec<f64>>, f: F,
        }";
        let fields = items(text).remove(0).fields;
        let found: Vec<_> = fields
            .iter()
            .map(|field| (field.name.as_str(), field.type_text.as_str(), field.is_open))
            .collect();
        assert_eq!(found, [("q", "&[f64]", true), ("v", "Map<u8,Vec<f64>>", false), ("f", "F", false)]);
        let found =
            |text: &str| items(text).remove(0).fields.iter().map(|field| field.is_open).collect::<Vec<_>>();
        assert_eq!(
            found("struct A(pub u8, pub (f64, f64), pub(crate) u8, [u8; 2]);"),
            [true, true, false, false]
        );
        assert_eq!(found("struct A<const N: usize>([f64; N]);"), [false]);
        assert_eq!(found("struct A; struct B { a: u8 }"), Vec::<bool>::new());
    }

    #[test]
    fn methods_of_a_trait_are_needed_unless_they_have_a_body() {
        let text = "pub trait A<T>: Send where T: Fn(u8) -> u8 {
            const N: usize = { 2 };
            fn a(&self, x: [f64; 3]);
            fn b(&self) -> Vec<f64> { fn inner() {} Vec::new() }
            fn c<F>(&self, f: F) where F: Fn(f64) -> f64;
        }";
        let methods = items(text).remove(0).methods;
        let found: Vec<_> = methods.iter().map(|method| method.is_needed).collect();
        assert_eq!(found, [true, false, true]);
    }
}
