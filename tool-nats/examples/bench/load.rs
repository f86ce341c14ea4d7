//! Concurrent calls and their latencies.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use crate::Anything;

/// The result of one round.
pub struct Round {
    pub per_second: f64,
    pub p99_us: f64,
}

/// Makes this many calls, with limited concurrency.
pub async fn round<F, Fut>(lanes: usize, calls: usize, call: F) -> Result<Round, Anything>
where
    F: Fn(usize) -> Fut + Clone + Send + 'static,
    Fut: Future<Output = Result<(), Anything>> + Send,
{
    let next = Arc::new(AtomicUsize::new(0));
    let started = Instant::now();
    let lanes: Vec<_> = (0..lanes)
        .map(|_| {
            let (call, next) = (call.clone(), next.clone());
            tokio::spawn(async move {
                let mut times = Vec::new();
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= calls {
                        return Ok::<_, Anything>(times);
                    }
                    let started = Instant::now();
                    call(number).await?;
                    times.push(started.elapsed());
                }
            })
        })
        .collect();
    let mut times = Vec::with_capacity(calls);
    for lane in lanes {
        times.extend(lane.await??);
    }
    let took = started.elapsed();
    times.sort_unstable();
    let p99 = times[times.len() * 99 / 100];
    Ok(Round { per_second: calls as f64 / took.as_secs_f64(), p99_us: p99.as_secs_f64() * 1e6 })
}

pub fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}
