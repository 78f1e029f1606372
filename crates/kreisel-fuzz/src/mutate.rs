//! Inputs from other inputs: bytes and words are changed, dropped, doubled, swapped and taken from elsewhere.

/// Random numbers that are the same everywhere: SplitMix64.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The numbers of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below a limit; 0 if there is none.
    pub fn below(&mut self, limit: usize) -> usize {
        if limit == 0 { 0 } else { (self.draw() % limit as u64) as usize }
    }
}

/// Longest input.
const LONGEST: usize = 20_000;

/// What is put in the place of words: numbers at the edges, and letters that mean something.
const SPICE: &[&str] = &[
    "0",
    "-1",
    "1e308",
    "-1e308",
    "1e-320",
    "nan",
    "inf",
    "0/0",
    "9999999999999999999",
    "0.1",
    "1e9",
    "-0",
    "[",
    "]",
    "{",
    "}",
    "\"",
    "'",
    "=",
    "\n",
    "\r\n",
    "#",
    "\\",
    "\\u0000",
    "é",
    "𝔘",
    "[[",
    "]]",
    "(",
    ")",
    "((((((((",
    "-",
    "--",
    "^",
    "**",
    "/",
    "%",
    "e",
    "t",
    "i",
    "{i}",
    ",",
    ".",
    "..",
    "/dev/zero",
    "mm",
    "kg*m^2",
    "deg",
    "1 m",
    "if(",
    "sqrt(",
    "abs(",
    "mod(",
    "min(",
    "true",
    "false",
    "ground",
    "[[body]]",
    "repeat = 3",
    "when = 0",
    "null",
    ":",
];

/// An input made from one of a corpus by a few changes.
pub fn mutated(corpus: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut input = corpus[random.below(corpus.len())].clone();
    let longest = LONGEST.max(input.len());
    let changes = 1 + random.below(6);
    for _ in 0..changes {
        change(&mut input, corpus, random);
    }
    input.truncate(longest);
    input
}

fn change(input: &mut Vec<u8>, corpus: &[Vec<u8>], random: &mut Random) {
    let at = random.below(input.len() + 1);
    let bits = random.below(7);
    let count = 1 + random.below(1 << bits);
    let end = (at + count).min(input.len());
    match random.below(11) {
        0 if at < input.len() => input[at] ^= 1 << random.below(8),
        1 if at < input.len() => input[at] = random.draw() as u8,
        2 => drop(input.drain(at..end)),
        3 => {
            let part = input[at..end].to_vec();
            splice(input, at..at, &part);
        }
        4 => {
            let other = &corpus[random.below(corpus.len())];
            let from = random.below(other.len() + 1);
            let part = &other[from..(from + count).min(other.len())];
            splice(input, at..end, part);
        }
        5 => {
            let to = random.below(input.len() + 1);
            let part: Vec<u8> = input.drain(at..end).collect();
            let to = to.min(input.len());
            splice(input, to..to, &part);
        }
        6 => input.truncate(at),
        7 => {
            let whole = random.draw().to_le_bytes();
            let end = (at + 8).min(input.len());
            splice(input, at..end, &whole);
        }
        8 => replace_word(input, at, random),
        9 => drop_line(input, at),
        _ => {
            let spice = SPICE[random.below(SPICE.len())];
            splice(input, at..at, spice.as_bytes());
        }
    }
}

fn splice(input: &mut Vec<u8>, range: std::ops::Range<usize>, part: &[u8]) {
    input.splice(range, part.iter().copied());
}

/// Replaces the word or number around a place.
fn replace_word(input: &mut Vec<u8>, at: usize, random: &mut Random) {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    let start = input[..at].iter().rposition(|byte| !is_word(byte)).map_or(0, |before| before + 1);
    let end = input[at..].iter().position(|byte| !is_word(byte)).map_or(input.len(), |length| at + length);
    let spice = SPICE[random.below(SPICE.len())];
    splice(input, start..end, spice.as_bytes());
}

fn drop_line(input: &mut Vec<u8>, at: usize) {
    let start = input[..at].iter().rposition(|&byte| byte == b'\n').map_or(0, |before| before + 1);
    let end =
        input[at..].iter().position(|&byte| byte == b'\n').map_or(input.len(), |length| at + length + 1);
    input.drain(start..end.min(input.len()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_gives_the_same_input_each_time_and_another_number_another() {
        let corpus = vec![b"mass = 1\n".to_vec(), b"[[body]]\nname = 'a'\n".to_vec()];
        let input = |seed| mutated(&corpus, &mut Random::new(seed));
        assert_eq!(input(7), input(7));
        let distinct: std::collections::HashSet<_> = (0..1000).map(input).collect();
        assert!(distinct.len() > 800, "{}", distinct.len());
    }
}
