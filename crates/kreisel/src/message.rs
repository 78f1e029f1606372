//! Errors as people read them, also where `?` in `main` ends a program.

/// Shows errors by their message: `main` prints an error that ends it by its `Debug`, and nobody wants to
/// read fields there.
macro_rules! shown_by_message {
    ($($error:ty),+ $(,)?) => {$(
        impl ::std::fmt::Debug for $error {
            fn fmt(&self, formatter: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Display::fmt(self, formatter)
            }
        }
    )+};
}
