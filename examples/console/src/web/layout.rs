//! The layout that all pages share.

use maud::{DOCTYPE, Markup, html};

/// A page of the console.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SitePage {
    Chat,
    Tools,
    Journal,
    Settings,
}

impl SitePage {
    const ALL: [Self; 4] = [Self::Chat, Self::Tools, Self::Journal, Self::Settings];

    fn link(self) -> (&'static str, &'static str) {
        match self {
            Self::Chat => ("/", "Chat"),
            Self::Tools => ("/tools", "Tools"),
            Self::Journal => ("/journal", "Journal"),
            Self::Settings => ("/settings", "Settings"),
        }
    }
}

/// Renders the head of a page, with an optional stylesheet and script by file name.
pub(super) fn head(title: &str, style: Option<&str>, script: Option<&str>) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            title { (title) " · Console" }
            link rel="stylesheet" href="/assets/style.css";
            @if let Some(style) = style { link rel="stylesheet" href={ "/assets/" (style) }; }
            link rel="icon" href="/assets/icon.svg";
            @if let Some(script) = script { script type="module" src={ "/assets/" (script) } {} }
        }
    }
}

/// Renders a page. `controls` are shown in the header; `script` is the file name of a module.
pub(super) fn page(place: SitePage, title: &str, controls: Markup, script: Option<&str>, content: Markup) -> Markup {
    let style = (place == SitePage::Chat).then_some("chat.css");
    html! {
        (DOCTYPE)
        html lang="en" {
            (head(title, style, script))
            body {
                a.skip href="#main" { "Skip to content" }
                header.top {
                    a.brand href="/" { img src="/assets/icon.svg" alt="" width="24" height="24"; span { "Console" } }
                    nav aria-label="Pages" {
                        @for other in SitePage::ALL {
                            @let (link, name) = other.link();
                            a href=(link) aria-current=[(other == place).then_some("page")] { (name) }
                        }
                    }
                    (controls)
                }
                main #main tabindex="-1" { (content) }
            }
        }
    }
}
