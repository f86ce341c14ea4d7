mod hours {
    pub fn deserialize<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<super::Hours, D::Error> {
        <u64 as serde::Deserialize>::deserialize(deserializer).map(super::Hours)
    }
}

pub struct Hours(u64);

/// Waits.
#[tool_runtime::tool]
fn wait(#[arg(with = "hours")] hours: Hours) -> u64 {
    hours.0
}

/// Waits.
pub struct Clock;

#[tool_runtime::tool_class(types(Hours = with("hours")))]
impl Clock {
    /// Waits.
    pub fn wait(&self, hours: Hours) -> u64 {
        hours.0
    }
}

fn main() {}
