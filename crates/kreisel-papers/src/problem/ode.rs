//! Reference solutions of ordinary differential equations by extrapolation.
//!
//! The modified midpoint rule of Gragg with 2, 4, 6, … substeps, extrapolated to substep zero in the square
//! of the substep [HairerNorsettWanner1993, §II.9]. Eight columns give order 16: with steps that resolve the
//! solution the result is exact to round-off, and of another kind than the methods it judges.

/// Columns of the extrapolation table.
const COLUMNS: usize = 8;

/// Advances `y' = rate(t, y)` from `from` to `to` in equal steps.
pub fn integrate<const N: usize>(
    rate: impl Fn(f64, &[f64; N]) -> [f64; N],
    from: f64,
    to: f64,
    steps: usize,
    y: &mut [f64; N],
) {
    let step = (to - from) / steps as f64;
    for n in 0..steps {
        extrapolated_step(&rate, from + n as f64 * step, step, y);
    }
}

fn extrapolated_step<const N: usize>(
    rate: &impl Fn(f64, &[f64; N]) -> [f64; N],
    t: f64,
    step: f64,
    y: &mut [f64; N],
) {
    // Row j holds the results for 2, 4, …, 2(j+1) substeps, extrapolated column by column (Aitken–Neville).
    let mut table = [[0.0; N]; COLUMNS];
    for j in 0..COLUMNS {
        let mut above = midpoint(rate, t, step, 2 * (j + 1), y);
        for (column, entry) in table[..j].iter_mut().enumerate() {
            let ratio = (j + 1) as f64 / (j - column) as f64;
            let factor = 1.0 / (ratio * ratio - 1.0);
            let next = std::array::from_fn(|i| above[i] + factor * (above[i] - entry[i]));
            *entry = above;
            above = next;
        }
        table[j] = above;
    }
    *y = table[COLUMNS - 1];
}

/// Gragg's modified midpoint rule without final smoothing: an even number of substeps has an expansion in
/// squares.
fn midpoint<const N: usize>(
    rate: &impl Fn(f64, &[f64; N]) -> [f64; N],
    t: f64,
    step: f64,
    substeps: usize,
    start: &[f64; N],
) -> [f64; N] {
    let h = step / substeps as f64;
    let mut before = *start;
    let first = rate(t, start);
    let mut now = std::array::from_fn(|i| start[i] + h * first[i]);
    for n in 1..substeps {
        let slope = rate(t + n as f64 * h, &now);
        let after = std::array::from_fn(|i| before[i] + 2.0 * h * slope[i]);
        before = now;
        now = after;
    }
    now
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_oscillator_is_exact_to_round_off() {
        let mut y = [1.0, 0.0];
        integrate(|_, y| [y[1], -y[0]], 0.0, 10.0, 20, &mut y);
        // Some 20 steps with a few roundings each.
        assert!((y[0] - 10f64.cos()).abs() < 1e-13 && (y[1] + 10f64.sin()).abs() < 1e-13, "{y:?}");
    }
}
