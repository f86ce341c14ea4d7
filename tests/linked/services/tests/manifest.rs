//! The line that every author of tools can have.

use linked_services as _;

#[test]
fn the_committed_manifest_is_up_to_date() {
    tool_runtime::assert_manifest!();
}
