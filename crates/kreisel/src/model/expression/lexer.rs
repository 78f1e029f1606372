//! Words of an expression with their places.

use std::ops::Range;

use super::{MAX_TOKENS, Meaning, Vocabulary};
use crate::model::error::{ExpressionMistake, Mistake};
use crate::model::name::MAX_NAME_LENGTH;

/// What a word is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Token {
    Number(f64),
    /// A known name that stands for a number.
    Known(Meaning),
    /// Any other name: a function, a unit or a mistake.
    Name,
    Plus,
    Minus,
    Times,
    Divide,
    Power,
    Open,
    Close,
    Comma,
    Not,
    And,
    Or,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
    /// A unit in brackets.
    Unit,
    /// A letter without meaning.
    Bad,
}

/// A word and the bytes it covers.
#[derive(Clone, Debug)]
pub(crate) struct Word {
    pub(crate) token: Token,
    pub(crate) range: Range<usize>,
}

/// Splits a text into words. What cannot be read becomes [`Token::Bad`]: it may belong to the unit.
pub(crate) fn tokens(text: &str, vocabulary: &Vocabulary<'_>) -> Result<Vec<Word>, (Range<usize>, Mistake)> {
    let mut tokens = Vec::new();
    let mut position = 0;
    while let Some(letter) = text[position..].chars().next() {
        if letter.is_whitespace() {
            position += letter.len_utf8();
            continue;
        }
        if tokens.len() == MAX_TOKENS {
            return Err((position..text.len(), Mistake::Expression(ExpressionMistake::TooLong)));
        }
        let (token, length) = word(&text[position..], letter, vocabulary)
            .map_err(|(length, mistake)| (position..position + length, Mistake::Expression(mistake)))?;
        tokens.push(Word { token, range: position..position + length });
        position += length;
    }
    Ok(tokens)
}

fn word(
    rest: &str,
    letter: char,
    vocabulary: &Vocabulary<'_>,
) -> Result<(Token, usize), (usize, ExpressionMistake)> {
    let second = rest[letter.len_utf8()..].chars().next();
    if letter.is_ascii_digit() || (letter == '.' && second.is_some_and(|next| next.is_ascii_digit())) {
        let length = number_length(rest.as_bytes());
        return match rest[..length].parse() {
            Ok(value) => Ok((Token::Number(value), length)),
            Err(_) => Err((length, ExpressionMistake::BadNumber)),
        };
    }
    if letter.is_alphabetic() || letter == '_' {
        return Ok(named(rest, vocabulary));
    }
    Ok(match (letter, second) {
        ('<', Some('=')) => (Token::LessOrEqual, 2),
        ('>', Some('=')) => (Token::GreaterOrEqual, 2),
        ('=', Some('=')) => (Token::Equal, 2),
        ('!', Some('=')) => (Token::NotEqual, 2),
        ('&', Some('&')) => (Token::And, 2),
        ('|', Some('|')) => (Token::Or, 2),
        ('<', _) => (Token::Less, 1),
        ('>', _) => (Token::Greater, 1),
        ('!', _) => (Token::Not, 1),
        ('+', _) => (Token::Plus, 1),
        ('-', _) => (Token::Minus, 1),
        ('*', _) => (Token::Times, 1),
        ('/', _) => (Token::Divide, 1),
        ('^', _) => (Token::Power, 1),
        ('(', _) => (Token::Open, 1),
        (')', _) => (Token::Close, 1),
        (',', _) => (Token::Comma, 1),
        ('[', _) => match rest.find(']') {
            Some(end) => (Token::Unit, end + 1),
            None => (Token::Bad, 1),
        },
        _ => (Token::Bad, letter.len_utf8()),
    })
}

/// Length of digits, point, digits, and an exponent if one is complete.
fn number_length(bytes: &[u8]) -> usize {
    let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut length = digits(0);
    if bytes.get(length) == Some(&b'.') {
        length += 1;
        length += digits(length);
    }
    if matches!(bytes.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(length + 1), Some(b'+' | b'-')));
        if bytes.get(length + 1 + sign).is_some_and(u8::is_ascii_digit) {
            length += 1 + sign;
            length += digits(length);
        }
    }
    length
}

fn belongs_to_name(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '.' | '-')
}

/// Where the run of letters begins that could be one name and holds the given position.
pub(crate) fn run_start(text: &str, position: usize) -> usize {
    let before = &text[..position];
    let start = before.trim_end_matches(belongs_to_name).len();
    let skipped = before[start..].find(char::is_alphabetic).unwrap_or(position - start);
    start + skipped
}

/// Length of the longest run that could be one name: letters, digits, `_`, and dots and dashes between.
pub(crate) fn run_length(rest: &str) -> usize {
    let run =
        rest.char_indices().find(|&(_, letter)| !belongs_to_name(letter)).map_or(rest.len(), |(at, _)| at);
    rest[..run].trim_end_matches(['.', '-']).len()
}

/// The longest known name at the start; else the letters up to the first dash.
fn named(rest: &str, vocabulary: &Vocabulary<'_>) -> (Token, usize) {
    let run = &rest[..run_length(rest)];
    let mut end = run.len();
    loop {
        if end <= MAX_NAME_LENGTH
            && let Some(meaning) = (vocabulary.meaning)(&run[..end])
        {
            return (Token::Known(meaning), end);
        }
        if vocabulary.named.tables.contains_key(&run[..end]) {
            return (Token::Name, end);
        }
        match run[..end].rfind('-') {
            Some(dash) if dash > 0 => end = dash,
            _ => return (Token::Name, end),
        }
    }
}
