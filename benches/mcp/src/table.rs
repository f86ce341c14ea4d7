//! Results of the measurements.

use std::fmt;
use std::time::Duration;

/// The turns of one server.
#[derive(Default)]
pub struct ServerTurns {
    /// Calls per second in each turn.
    rates: Vec<f64>,
    times: Vec<Duration>,
}

impl ServerTurns {
    pub fn turn(&mut self, elapsed: Duration, times: Vec<Duration>) {
        self.rates.push(times.len() as f64 / elapsed.as_secs_f64());
        self.times.extend(times);
    }

    fn rate(&self) -> f64 {
        let mut rates = self.rates.clone();
        rates.sort_by(f64::total_cmp);
        rates[rates.len() / 2]
    }

    fn p99(&self) -> Duration {
        let mut times = self.times.clone();
        times.sort();
        times[times.len() * 99 / 100]
    }
}

/// One comparison: the plain server, then ours.
pub struct ComparisonRow {
    pub transport: &'static str,
    pub version: &'static str,
    pub tools: usize,
    pub measured: [ServerTurns; 2],
}

impl fmt::Display for ComparisonRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [plain, ours] = &self.measured;
        write!(
            f,
            "| {} {} | {} | {:.0} | {:.0} | {:.2} ",
            self.transport,
            self.version,
            self.tools,
            plain.rate(),
            ours.rate(),
            ours.rate() / plain.rate()
        )?;
        write!(f, "| {:.0} µs | {:.0} µs |", plain.p99().as_secs_f64() * 1e6, ours.p99().as_secs_f64() * 1e6)
    }
}

pub fn markdown(rows: &[ComparisonRow]) -> String {
    let head =
        "| transport | tools | rmcp, calls/s | ours | ratio | rmcp, p99 | ours |\n|---|---|---|---|---|---|---|\n";
    head.to_owned() + &rows.iter().map(|row| format!("{row}\n")).collect::<String>()
}
