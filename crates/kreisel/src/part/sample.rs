//! What the samples of parts have in common.

/// The smallest model with some more parts: one body.
macro_rules! on_body {
    ($parts:expr) => {
        concat!(
            "[simulation]\nend-time = 1\n[[body]]\nname = 'arm'\nmass = 1\ninertia = [1, 1, 1]\n",
            "position = [1, 0, 0]\n",
            $parts
        )
    };
}

/// The smallest model with a joint and some more parts.
macro_rules! on_hinge {
    ($parts:expr) => {
        on_body!(concat!(
            "[[revolute]]\nname = 'hinge'\nbodies = ['ground', 'arm']\npoint = [0, 0, 0]\naxis = [0, 1, 0]\n",
            $parts
        ))
    };
}
