//! Arguments that stay JSON values: those of tools that were made at run time.

use serde_json::{Map, Value};
use tool_model::ArgumentType;

use super::slot::decode_json;
use super::{Decode, Undecodable};
use crate::shim::Invocation;

/// Reads the arguments of these names, as the one reader does it. What was not sent is not there. Nothing if the call
/// cannot be made; the invocation knows what to answer.
pub(crate) fn read_values(invocation: &mut Invocation<'_>, names: &[String]) -> Option<Map<String, Value>> {
    let mut slots: Vec<JsonSlot> = names.iter().map(|_| JsonSlot::default()).collect();
    let mut decoders: Vec<&mut dyn Decode> = slots.iter_mut().map(|slot| slot as &mut dyn Decode).collect();
    if !invocation.read(&mut decoders, None) {
        return None;
    }
    let sent = names.iter().zip(slots).filter_map(|(name, slot)| Some((name.clone(), slot.value?)));
    Some(sent.collect())
}

/// A place for any value.
#[derive(Default)]
struct JsonSlot {
    value: Option<Value>,
}

impl Decode for JsonSlot {
    fn decode(&mut self, text: &str, at: &mut usize) -> Result<(), Undecodable> {
        self.value = Some(decode_json(text, at)?);
        Ok(())
    }

    /// The schema says which arguments are required, and the reader asks it first.
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
