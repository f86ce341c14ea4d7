//! Slots for JSON values: the arguments of runtime tools.

use serde_json::{Map, Value};
use tool_model::ArgumentType;

use super::slot::decode_json;
use super::{Decode, Undecodable};
use crate::shim::Invocation;

/// Reads the arguments of these names; absent ones are left out. Returns `None` if the call is refused, for which the
/// invocation has the error.
pub(crate) fn read_values(invocation: &mut Invocation<'_>, names: &[String]) -> Option<Map<String, Value>> {
    let mut slots: Vec<JsonSlot> = names.iter().map(|_| JsonSlot::default()).collect();
    let mut decoders: Vec<&mut dyn Decode> = slots.iter_mut().map(|slot| slot as &mut dyn Decode).collect();
    if !invocation.read(&mut decoders, None) {
        return None;
    }
    let sent = names.iter().zip(slots).filter_map(|(name, slot)| Some((name.clone(), slot.value?)));
    Some(sent.collect())
}

/// A slot for any JSON value.
#[derive(Default)]
struct JsonSlot {
    value: Option<Value>,
}

impl Decode for JsonSlot {
    fn decode(&mut self, text: &str, at: &mut usize) -> Result<(), Undecodable> {
        self.value = Some(decode_json(text, at)?);
        Ok(())
    }

    /// Accepts absence: the reader has checked by the schema whether the argument is required.
    fn absent(&mut self) -> bool {
        true
    }

    fn is_filled(&self) -> bool {
        self.value.is_some()
    }

    fn clear(&mut self) {
        self.value = None;
    }

    fn argument_type(&self) -> ArgumentType {
        ArgumentType { type_name: "serde_json::Value", schema: None, optional: false, variants: &[] }
    }
}
