//! A step allocates nothing: everything is made at the start.
#![allow(unsafe_code, reason = "an allocator that counts is one that forwards")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use kreisel::integrate::{GeneralizedAlpha, Method, Parameters, Settings};
use kreisel::lie::Group;
use kreisel::problem::HeavyTop;
use kreisel::solve::newton::Refresh;

thread_local! {
    /// Per thread, so that tests that run beside each other do not count each other's.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

fn count() {
    // A thread that ends may allocate after its counter is gone.
    let _ = ALLOCATIONS.try_with(|allocations| allocations.set(allocations.get() + 1));
}

// SAFETY: every call is forwarded to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations_of_a_thousand_steps(method: Method, group: Group, refresh: Refresh) -> u64 {
    let top = HeavyTop::new(group);
    let mut settings =
        Settings::new(method, Parameters::chung_hulbert(0.9).expect("0.9 is a spectral radius"), 1e-3);
    settings.newton.refresh = refresh;
    let mut run = GeneralizedAlpha::with(settings).start(&top, top.initial()).expect("consistent");
    for _ in 0..2 {
        run.step().expect("the first steps converge");
    }
    let before = ALLOCATIONS.get();
    for _ in 0..1000 {
        run.step().expect("every step converges");
    }
    ALLOCATIONS.get() - before
}

#[test]
fn the_allocator_counts() {
    let before = ALLOCATIONS.get();
    drop(std::hint::black_box(vec![1_u8; 100]));
    assert_eq!(ALLOCATIONS.get() - before, 1);
}

#[test]
fn steps_of_the_heavy_top_allocate_nothing() {
    for method in [Method::Index3, Method::Index2] {
        for group in [Group::So3xR3, Group::Se3] {
            for refresh in [Refresh::EveryIteration, Refresh::EveryStep, Refresh::WhenSlow] {
                let allocations = allocations_of_a_thousand_steps(method, group, refresh);
                assert_eq!(allocations, 0, "{method:?} {group:?} {refresh:?}");
            }
        }
    }
}
