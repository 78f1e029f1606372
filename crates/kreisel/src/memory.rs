//! Whether there is room for what is about to be made, where the system limits a program's memory.
//!
//! An allocation that fails in the middle of work ends the program. So those of a size that a user can choose
//! ask before, and refuse.

/// Whether so many bytes can be had now. They are not touched, and given back at once.
pub(crate) fn has_room(bytes: usize) -> bool {
    Vec::<u8>::new().try_reserve_exact(bytes).is_ok()
}

/// Things that are counted without asking.
const FEW: usize = 1_000;

/// Counts things of which a user may want any number, and asks whether there is room for them whenever they are a
/// tenth more.
pub(crate) struct GrowingRoom {
    /// Memory of each, in bytes, that is yet to be taken.
    each: usize,
    count: usize,
    next: usize,
}

impl GrowingRoom {
    /// None so far.
    pub const fn new(each: usize) -> Self {
        Self { each, count: 0, next: FEW }
    }

    /// How many there are.
    pub const fn count(&self) -> usize {
        self.count
    }

    /// Counts one more if there is room for all so far and a tenth.
    pub fn has_one_more(&mut self) -> bool {
        if self.count >= self.next {
            self.next += self.next / 10;
            if !has_room(self.next.saturating_mul(self.each)) {
                return false;
            }
        }
        self.count += 1;
        true
    }
}

/// Memory that is left for everything else where a list grows with a run, such as the words about its end.
const SPARE: usize = 4 << 20;

/// Whether there is room in a list for so many more entries; it is made if that leaves memory for other things.
pub fn let_grow<T>(list: &mut Vec<T>, more: usize) -> bool {
    if list.capacity() - list.len() >= more {
        return true;
    }
    let wanted = list.len().saturating_add(more).max(2 * list.capacity());
    let bytes = (wanted - list.capacity()).saturating_mul(size_of::<T>()).saturating_add(SPARE);
    has_room(bytes) && list.try_reserve(more).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_things_have_room_and_many_only_where_there_is_memory() {
        let [mut small, mut huge] = [1, usize::MAX / 2].map(GrowingRoom::new);
        assert!((0..3 * FEW).all(|_| small.has_one_more()));
        assert!((0..FEW).all(|_| huge.has_one_more()) && !huge.has_one_more());
        assert_eq!((small.count(), huge.count()), (3 * FEW, FEW));
    }

    #[test]
    fn a_list_grows_in_large_pieces_and_not_beyond_all_memory() {
        let mut list = vec![1.0_f64];
        let mut moved = 0;
        for count in 2..=1000 {
            let before = list.capacity();
            assert!(let_grow(&mut list, 1));
            list.push(f64::from(count));
            moved += usize::from(list.capacity() != before);
        }
        assert!(moved <= 11, "{moved}");
        assert!(!let_grow(&mut list, usize::MAX / 16));
        assert_eq!(list.len(), 1000);
    }

    #[test]
    fn there_is_room_for_little_and_none_for_more_than_an_address_can_name() {
        assert!(has_room(1 << 20));
        assert!(!has_room(usize::MAX / 2));
    }
}
