//! Tests of the console in Chromium. They are skipped without `chromium` and `chromedriver` in the path, unless
//! `BROWSER=required` is set.

// Chromium, driven over WebDriver.
mod driver;

// A conversation with cards and a diff, and the tools of each mode.
mod conversation;

// The list of conversations.
mod list;

// Decisions about pending calls.
mod confirmation;

// The form of a tool.
mod form;

// Pages reloaded during a run, and two pages of one conversation.
mod live;

// Hostile text.
mod hostile;

// Forms that work without a script: settings and login.
mod plain;

// Layout, contrast and target sizes of every page: light, dark and on a phone.
mod look;

// The screenshot of the README.
mod screenshot;
