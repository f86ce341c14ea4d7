use crate::ty::*;
use serde_json::{Map, Value};
pub(crate) enum Contract {
    Deserialize,
}
pub(crate) struct Unseen {
    pub(crate) why: String,
    pub(crate) loss: Loss,
}
pub(crate) enum Loss {
    Type,
    Detail,
}
pub(crate) struct Shapes<'a>(&'a dyn Types);
impl<'a> Shapes<'a> {
    pub(crate) fn new(t: &'a dyn Types) -> Self {
        Self(t)
    }
}
pub(crate) struct Generator<'a>(&'a Shapes<'a>);
impl<'a> Generator<'a> {
    pub(crate) fn new(s: &'a Shapes<'a>, _: Contract) -> Self {
        Self(s)
    }
    pub(crate) fn into_definitions(self) -> Map<String, Value> {
        Map::new()
    }
    pub(crate) fn take_unseen(&mut self) -> Vec<Unseen> {
        vec![]
    }
}
pub(crate) struct SeenArgument {
    pub(crate) schema: Option<Value>,
    pub(crate) optional: bool,
    pub(crate) variants: Vec<String>,
}
pub(crate) fn argument(g: &mut Generator<'_>, form: &tool_syntax::ArgumentForm, id: ScopeId) -> SeenArgument {
    let tool_syntax::ArgumentForm::Owned(ty) = form else {
        return SeenArgument { schema: None, optional: false, variants: vec![] };
    };
    let t = g.0.0.resolve(ty, id, &[]);
    if std::env::var_os("SHOW").is_some() {
        let d = if let Ty::Defined { definition, .. } = &t {
            g.0.0.definition(*definition).item.ident.to_string()
        } else {
            String::new()
        };
        eprintln!("{t:?} {d}");
    }
    SeenArgument { schema: None, optional: matches!(t.library(), Some(("std", "Option"))), variants: vec![] }
}
pub(crate) fn returns(_: &Shapes<'_>, _: &Ty) -> Option<(Value, Map<String, Value>)> {
    None
}
