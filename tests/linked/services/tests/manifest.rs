//! The one-line test that authors of tools can add.

use linked_services as _;

#[test]
fn the_committed_manifest_is_up_to_date() {
    tool_runtime::assert_manifest!();
}
