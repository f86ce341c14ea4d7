//! Icons of tools and buttons.

use maud::{Markup, html};

/// Returns the icon of a tool. It is decorative, since the name is shown too.
pub(super) fn tool(name: &str) -> Markup {
    drawn(match name.split('.').next().unwrap_or(name) {
        "read_file" | "read_result" => "M6 2h8l4 4v16H6zM14 2v4h4",
        "write_file" | "edit_file" | "apply_patch" | "move_file" | "delete_file" => "M4 20l1-5L16 4l4 4L9 19z",
        "list_files" => "M3 6h6l2 2h10v11H3z",
        "run_command" => "M3 4h18v16H3zM7 9l3 3l-3 3M12 15h5",
        "web_fetch" | "web_search" => "M12 3a9 9 0 1 0 0 18a9 9 0 0 0 0-18zM3 12h18M12 3c-6 6-6 12 0 18c6-6 6-12 0-18",
        "message" => "M4 5h16v11H9l-5 4z",
        "spawn" => "M12 3v6M12 9H5v5M12 9h7v5M3 14h4v6H3zM17 14h4v6h-4zM10 14h4v6h-4zM12 9v5",
        "search_files" | "logs" => "M10 4a6 6 0 1 0 0 12a6 6 0 0 0 0-12zM15 15l6 6",
        "processes" | "applications" | "applications_system" | "classification" => {
            "M6 6h12v12H6zM9 2v4M15 2v4M9 18v4M15 18v4M2 9h4M2 15h4M18 9h4M18 15h4"
        }
        "metrics" | "internet_metrics" | "system" | "system_simple" => "M3 20h18M6 16v-4M11 16V6M16 16v-7",
        "system_alerts" | "internet_events" => "M6 17v-6a6 6 0 0 1 12 0v6l2 2H4zM10 21h4",
        "users" => "M12 4a4 4 0 1 0 0 8a4 4 0 0 0 0-8zM4 21c1-6 15-6 16 0",
        _ => "M4 6h16M4 12h16M4 18h10",
    })
}

/// Icon for a new conversation.
pub(super) fn plus() -> Markup {
    drawn("M12 5v14M5 12h14")
}

/// Icon for deleting.
pub(super) fn cross() -> Markup {
    drawn("M6 6l12 12M18 6L6 18")
}

/// Icon for the list of conversations.
pub(super) fn list() -> Markup {
    drawn("M4 6h16M4 12h16M4 18h16")
}

/// Icon for sending a message.
pub(super) fn send() -> Markup {
    drawn("M12 20V5M5 12l7-7l7 7")
}

/// Icon for stopping a run.
pub(super) fn stop() -> Markup {
    drawn("M7 7h10v10H7z")
}

fn drawn(strokes: &str) -> Markup {
    html! { svg.icon viewBox="0 0 24 24" width="18" height="18" aria-hidden="true" { path d=(strokes) {} } }
}
