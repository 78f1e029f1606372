//! How much stack a thread has left: a run on a small one gets an exception, where the interpreter would die.

use std::cell::Cell;

/// Bytes of stack that a run needs: all models of `models/` start, step and find modes on 272 KiB. Observers and
/// functions are called on it, too.
const NEEDED: usize = 256 << 10;

thread_local! {
    /// The mapping in which the stack of this thread was found.
    static FOUND: Cell<Option<Mapping>> = const { Cell::new(None) };
}

/// Addresses that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mapping {
    from: usize,
    to: usize,
    /// Whether it grows by itself, as the stack of the first thread does.
    grows: bool,
}

impl Mapping {
    fn holds(&self, address: usize) -> bool {
        (self.from..self.to).contains(&address)
    }
}

/// Why the stack of this thread is too short for a run, if it is known to be.
pub fn shortage() -> Option<String> {
    let here = here();
    // A thread that changes stacks by itself, for coroutines, is looked at again.
    let known = FOUND.get().filter(|mapping| mapping.holds(here));
    let mapping =
        known.or_else(|| mapping_of(&std::fs::read_to_string("/proc/thread-self/maps").ok()?, here))?;
    FOUND.set(Some(mapping));
    let left = here - mapping.from;
    (!mapping.grows && left < NEEDED).then(|| {
        format!(
            "this thread has {} KiB of stack left, and a run needs {}; call `threading.stack_size(1 << 20)` before it is made",
            left >> 10,
            NEEDED >> 10
        )
    })
}

/// An address on the stack.
fn here() -> usize {
    let marker = 0_u8;
    std::ptr::from_ref(&marker).addr()
}

/// The mapping that holds an address, with those that lie without a gap below it: a stack may be told in parts.
/// Below the stack of a thread there is a page that nobody may touch.
fn mapping_of(maps: &str, here: usize) -> Option<Mapping> {
    let mapping = |line: &str| {
        let mut words = line.split_whitespace();
        let (from, to) = words.next()?.split_once('-')?;
        let [from, to] = [from, to].map(|digits| usize::from_str_radix(digits, 16).ok());
        let is_writable = words.next()?.starts_with("rw");
        is_writable.then_some(Mapping { from: from?, to: to?, grows: line.ends_with("[stack]") })
    };
    let mut below: Option<Mapping> = None;
    maps.lines().filter_map(mapping).find_map(|mut mapping| {
        if let Some(below) = below.filter(|below| below.to == mapping.from) {
            mapping.from = below.from;
        }
        below = Some(mapping);
        below.filter(|mapping| mapping.holds(here))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mapping_of_an_address_is_found() {
        let maps = "1000-2000 ---p 00000000 00:00 0\n2000-3000 rw-p 00000000 00:00 0\n\
            3000-9000 rw-p 00000000 00:00 0\na000-b000 rw-p 00000000 00:00 0          [stack]\n";
        let found = |here: usize| mapping_of(maps, here).map(|mapping| (mapping.from, mapping.grows));
        assert_eq!(found(0x2000), Some((0x2000, false)));
        assert_eq!(found(0x8000), Some((0x2000, false)));
        assert_eq!(found(0x1800), None);
        assert_eq!(found(0xa800), Some((0xa000, true)));
        assert_eq!(found(0xf000), None);
        assert_eq!(mapping_of("nonsense\n", 0x3000), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_thread_with_a_small_stack_is_told() {
        let on = |bytes: usize| {
            let thread = std::thread::Builder::new().stack_size(bytes).spawn(shortage);
            thread.map(|thread| thread.join().unwrap_or_default()).unwrap_or_default()
        };
        assert!(on(100 << 10).is_some_and(|words| words.contains("KiB of stack left")));
        assert_eq!(on(1 << 20), None);
    }
}
