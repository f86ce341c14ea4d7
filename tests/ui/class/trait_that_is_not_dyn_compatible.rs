use tool_runtime::tool_class;

#[tool_class]
trait WithAsync: Send + Sync {
    async fn load(&self) -> u8;
}

#[tool_class]
trait WithGenericMethod: Send + Sync {
    fn load<T: Into<String>>(&self, key: T) -> u8;
}

#[tool_class]
trait WithAssociatedType: Send + Sync {
    type Key;

    fn load(&self) -> u8;
}

#[tool_class]
trait WithFunction: Send + Sync {
    fn load() -> u8;
}

#[tool_class]
trait Generic<T>: Send + Sync {
    fn load(&self) -> u8;
}

fn main() {}
