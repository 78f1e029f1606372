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
    /// Nodes whose configuration is not to be changed, ascending.
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
            fixed: Vec::new(),
            multipliers: Vec::new(),
            nonholonomic_multipliers: Vec::new(),
        }
    }
}
