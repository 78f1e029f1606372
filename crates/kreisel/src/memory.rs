//! Whether there is room for what is about to be made, where the system limits a program's memory.
//!
//! An allocation that fails in the middle of work ends the program. So those of a size that a user can choose
//! ask before, and refuse.

/// Whether so many bytes can be had now. They are not touched, and given back at once.
pub(crate) fn has_room(bytes: usize) -> bool {
    Vec::<u8>::new().try_reserve_exact(bytes).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_for_little_and_none_for_more_than_an_address_can_name() {
        assert!(has_room(1 << 20));
        assert!(!has_room(usize::MAX / 2));
    }
}
