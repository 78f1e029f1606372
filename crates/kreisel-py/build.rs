//! Lets the module be linked where the linker wants to know of Python's symbols (macOS); nothing elsewhere.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
