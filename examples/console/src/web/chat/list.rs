//! The list of conversations.

use chrono::{DateTime, Utc};
use maud::{Markup, html};
use tool_agent::ConversationSummary;

use super::icon;
use crate::listing::clip;

/// Maximum length of a title in characters.
const TITLE: usize = 80;

/// Returns the title of a conversation: its first message, shortened.
pub(super) fn title(first: &str) -> String {
    let words = first.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.is_empty() { "Untitled".to_owned() } else { clip(&words, TITLE) }
}

/// Renders the list. It is a drawer on narrow screens.
pub(super) fn render(recent: &[ConversationSummary], open: &str) -> Markup {
    html! {
        nav.conversations #conversations popover aria-label="Conversations" {
            a.new href="/" { (icon::plus()) "New conversation" }
            ul {
                @for one in recent {
                    (entry(&one.id, &title(one.first.as_deref().unwrap_or_default()), Some(one.changed.into()), one.id == open))
                }
            }
            // Template for `chat.js`, which adds an entry with the first message.
            template #entry { (entry(open, "", None, true)) }
        }
        dialog #forget aria-labelledby="forget-title" {
            form method="dialog" {
                h2 #forget-title { "Delete this conversation?" }
                p.name {}
                p.quiet { "What was said in it is gone then. Its calls stay in the journal." }
                div.buttons {
                    button.danger.strong value="delete" { "Delete" }
                    button value="keep" autofocus { "Keep" }
                }
            }
        }
    }
}

fn entry(id: &str, title: &str, changed: Option<DateTime<Utc>>, is_open: bool) -> Markup {
    html! {
        li data-id=(id) {
            a href={ "/chat/" (id) } aria-current=[is_open.then_some("page")] {
                span.title { (title) }
                @if let Some(changed) = changed {
                    time datetime=(changed.to_rfc3339()) { (changed.format("%-d %b, %H:%M")) }
                }
            }
            button.forget type="button" aria-label={ "Delete " (title) } title="Delete" { (icon::cross()) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::title;

    #[test]
    fn a_title_is_one_short_line() {
        assert_eq!(title("  How is\n\tthis machine? "), "How is this machine?");
        assert_eq!(title("\n"), "Untitled");
        assert_eq!(title(&"word ".repeat(100)).chars().count(), 81);
    }
}
