use tool_runtime::tool_class;

pub struct Service;

pub struct RunId(u64);

impl From<u64> for RunId {
    fn from(id: u64) -> Self {
        Self(id)
    }
}

#[tool_class(types(RunId = via(u64), RunID = via(u64)), results(RunId = debug))]
impl Service {
    pub fn run(&self, id: RunId) -> u64 {
        id.0
    }
}

fn main() {
    Service.run(RunId(1));
}
