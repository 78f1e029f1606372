//! Scratch.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)]
use std::path::Path;
use kreisel::integrate::{GeneralizedAlpha, Method, Parameters, Predictor, Settings};
use kreisel::machine::{Machine, SettingTexts};
use kreisel::solve::newton::Refresh;
fn cpu() -> f64 {
    std::thread::yield_now();
    let line = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    1e-9 * line.split(' ').next().unwrap().parse::<f64>().unwrap()
}
fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let model = words[0].clone();
    let n: usize = words[1].parse().unwrap();
    let steps: usize = words[2].parse().unwrap();
    let has = |w: &str| words.iter().any(|x| x == w);
    let method = if has("index2") { Method::Index2 } else { Method::Index3 };
    let refresh = if has("slow") { Refresh::WhenSlow } else if has("every") { Refresh::EveryIteration } else { Refresh::EveryStep };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../models/{model}.toml"));
    let parameters: &[(&str, &str)] = &[("n", &n.to_string())];
    let start = cpu();
    let machine = Machine::read_with(&path, if n > 0 { parameters } else { &[] }, &SettingTexts::default())
        .map_err(|errors| errors.render(false)).unwrap();
    let read = cpu() - start;
    let mut settings = Settings::new(method, Parameters::chung_hulbert(0.9).unwrap(), 1e-3);
    settings.newton.refresh = refresh;
    if has("const") { settings.predictor = Predictor::ConstantAcceleration; }
    if has("tight") { settings.newton_rtol = 1e-14; settings.newton_atol = 1e-14; }
    let mut run = GeneralizedAlpha::with(settings).start(&machine.system, machine.initial.clone()).unwrap();
    let started = cpu() - start - read;
    let begin = cpu();
    for _ in 0..steps { run.step().unwrap(); }
    let seconds = cpu() - begin;
    let s = run.statistics();
    let q = &run.state().configuration;
    let l: f64 = run.state().multipliers.iter().map(|x| x * x).sum::<f64>().sqrt();
    println!("read {read:.4} start {started:.4} us/step {:.2} its {:.3} mats {:.3} res {:.3} tip {:?} lambda {l:.12e}",
        1e6 * seconds / steps as f64, s.iterations as f64 / steps as f64, s.matrices as f64 / steps as f64, s.residuals as f64 / steps as f64, &q[q.len() - 3..]);
}
