//! Initial values.

/// Initial values as the user gives them; they are made consistent at the start.
#[derive(Clone, Debug, PartialEq)]
pub struct Initial {
    /// Initial time t₀ in s.
    pub time: f64,
    /// Configuration q(t₀).
    pub configuration: Vec<f64>,
    /// Velocity v(t₀).
    pub velocity: Vec<f64>,
    /// States c(t₀).
    pub internal_states: Vec<f64>,
    /// Whether each change of the configuration, by velocity coordinate, would change what the user states;
    /// the others are guesses, which are changed first. Empty if all count alike.
    pub stated_position: Vec<bool>,
    /// Whether each velocity is stated; the others are guesses, which follow. Empty if all count alike.
    pub stated_velocity: Vec<bool>,
    /// Nodes whose configuration and stated velocities are not to be changed, ascending.
    pub fixed: Vec<usize>,
    /// First guess of λ(t₀), for forces that are nonlinear in it; zeros if empty.
    pub multipliers: Vec<f64>,
    /// First guess of ψ(t₀); zeros if empty.
    pub nonholonomic_multipliers: Vec<f64>,
}

impl Initial {
    /// Initial values of a system without states.
    pub fn new(time: f64, configuration: impl Into<Vec<f64>>, velocity: impl Into<Vec<f64>>) -> Self {
        Self {
            time,
            configuration: configuration.into(),
            velocity: velocity.into(),
            internal_states: Vec::new(),
            stated_position: Vec::new(),
            stated_velocity: Vec::new(),
            fixed: Vec::new(),
            multipliers: Vec::new(),
            nonholonomic_multipliers: Vec::new(),
        }
    }
}
