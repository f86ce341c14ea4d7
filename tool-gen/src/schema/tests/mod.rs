//! The same source compiled and parsed: schemars' schemas must equal the computed ones.

mod seen;
mod source;
mod tiers;
mod traced;
mod types;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use super::{LossKind, SchemaContract, SchemaGenerator, TypeShapes};
use source::Source;

/// Compares both directions for types of [`types`], each with its own generator.
macro_rules! same {
    ($($ty:ty),* $(,)?) => {{
        let source = Source::parse_all(types::SOURCE);
        #[allow(unused_imports)]
        use types::*;
        let mut wrong = Vec::new();
        $(wrong.extend(differences::<$ty>(&source, stringify!($ty)));)*
        #[allow(unused_imports)]
        use traced::NotDeserialize as _;
        $(wrong.extend((&traced::TraceProbe::<$ty>::NEW).differences(&source, stringify!($ty)));)*
        assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    }};
}
use same;

fn differences<T: JsonSchema + ?Sized>(source: &Source, written: &str) -> Vec<String> {
    let shapes = TypeShapes::new(source);
    let mut wrong = Vec::new();
    for (contract, settings) in [
        (SchemaContract::Deserialize, SchemaSettings::draft2020_12().for_deserialize()),
        (SchemaContract::Serialize, SchemaSettings::draft2020_12().for_serialize()),
    ] {
        let mut real = settings.into_generator();
        let expected = (Value::from(real.subschema_for::<T>()), real.take_definitions(true));
        let mut generator = SchemaGenerator::new(&shapes, contract);
        let schema = generator.subschema_for(&source.ty(written));
        let unseen = generator.take_unseen();
        let computed = (schema, generator.into_definitions());
        if computed != expected {
            wrong.push(format!("{written} ({contract:?})\n{}", both(&expected, &computed)));
        }
        if !unseen.is_empty() {
            wrong.push(format!("{written}: {unseen:#?}"));
        }
    }
    wrong
}

fn both(expected: &(Value, Map<String, Value>), computed: &(Value, Map<String, Value>)) -> String {
    let text = |(schema, definitions): &(Value, Map<String, Value>)| {
        format!("{schema}\n    {}", Value::Object(definitions.clone()))
    };
    format!("  expected {}\n  computed {}", text(expected), text(computed))
}

fn unseen(source: &Source, written: &str) -> Vec<(String, LossKind)> {
    let shapes = TypeShapes::new(source);
    let mut generator = SchemaGenerator::new(&shapes, SchemaContract::Deserialize);
    generator.subschema_for(&source.ty(written));
    generator.take_unseen().into_iter().map(|unseen| (unseen.what, unseen.loss)).collect()
}
