use tool_runtime::tool_class;

trait OrderRepository: Send + Sync + 'static {
    fn len(&self) -> usize;
}

struct OrderService<R> {
    repository: R,
}

#[tool_class]
impl<R: OrderRepository + Clone> OrderService<R> {
    pub fn count(&self) -> usize {
        self.repository.len()
    }
}

fn main() {}
