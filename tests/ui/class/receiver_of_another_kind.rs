use std::rc::Rc;

use tool_runtime::tool_class;

struct Service;

#[tool_class]
impl Service {
    pub fn ping(self: Rc<Self>) {}
}

fn main() {
    Rc::new(Service).ping();
}
