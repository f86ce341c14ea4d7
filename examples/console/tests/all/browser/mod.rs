//! The console in Chromium. Where there is no `chromium` or no `chromedriver` in the path these tests are skipped, unless
//! `BROWSER=required` is set.

// Chromium, driven over WebDriver.
mod driver;

// A conversation with cards and a diff, and what a model is offered in each mode.
mod conversation;

// The list of conversations, and what stays of each.
mod list;

// What a person decides about a call.
mod confirmation;

// The form of a tool.
mod form;

// Pages that are loaded again in mid-answer, and two pages of one conversation.
mod live;

// Text of people who mean harm.
mod hostile;

// Forms that are sent without a script: the settings, and a console that asks for its token.
mod plain;

// Every page in light, in dark and on a phone: it fits, it can be read, it can be pressed.
mod look;

// The picture of the README.
mod screenshot;
