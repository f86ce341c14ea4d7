//! String formats that are enforced. Any other `format` is an annotation.

use std::net::{Ipv4Addr, Ipv6Addr};

/// An enforced string format.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum StringFormat {
    DateTime,
    Date,
    Time,
    Uuid,
    Email,
    Ipv4,
    Ipv6,
    Uri,
}

impl StringFormat {
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "date-time" => Self::DateTime,
            "date" => Self::Date,
            "time" => Self::Time,
            "uuid" => Self::Uuid,
            "email" => Self::Email,
            "ipv4" => Self::Ipv4,
            "ipv6" => Self::Ipv6,
            "uri" => Self::Uri,
            _ => return None,
        })
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::DateTime => "date-time",
            Self::Date => "date",
            Self::Time => "time",
            Self::Uuid => "uuid",
            Self::Email => "email",
            Self::Ipv4 => "ipv4",
            Self::Ipv6 => "ipv6",
            Self::Uri => "uri",
        }
    }

    pub(crate) fn accepts(self, text: &str) -> bool {
        match self {
            Self::DateTime => text.split_once(['T', 't']).is_some_and(|(date, time)| is_date(date) && is_time(time)),
            Self::Date => is_date(text),
            Self::Time => is_time(text),
            Self::Uuid => is_uuid(text),
            Self::Email => is_email(text),
            Self::Ipv4 => text.parse::<Ipv4Addr>().is_ok(),
            Self::Ipv6 => text.parse::<Ipv6Addr>().is_ok(),
            Self::Uri => is_uri(text),
        }
    }
}

/// `2024-02-29`
fn is_date(text: &str) -> bool {
    let [year, month, day] = numbers(text, '-', [4, 2, 2]).unwrap_or_default();
    (1..=days_in(month, year)).contains(&day)
}

fn days_in(month: u32, year: u32) -> u32 {
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        _ => 0,
    }
}

/// `23:59:59.5Z`, `12:00:00+02:00`
fn is_time(text: &str) -> bool {
    let Some((clock, rest)) = text.split_at_checked(8) else { return false };
    let Some([hour, minute, second]) = numbers(clock, ':', [2, 2, 2]) else { return false };
    let Some(offset) = without_fraction(rest).and_then(offset_in_minutes) else { return false };
    let in_range = hour <= 23 && minute <= 59 && second <= 60;
    // A leap second is the last second of a day in UTC.
    let day = 24 * 60;
    in_range && (second < 60 || (hour * 60 + minute + 2 * day).saturating_add_signed(-offset) % day == day - 1)
}

fn without_fraction(text: &str) -> Option<&str> {
    match text.strip_prefix('.') {
        None => Some(text),
        Some(fraction) => {
            let rest = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
            (rest.len() < fraction.len()).then_some(rest)
        }
    }
}

fn offset_in_minutes(text: &str) -> Option<i32> {
    if matches!(text, "Z" | "z") {
        return Some(0);
    }
    let (sign, clock) = text.split_at_checked(1)?;
    let [hours, minutes] = numbers(clock, ':', [2, 2])?;
    let offset = i32::try_from(hours * 60 + minutes).ok().filter(|_| hours <= 23 && minutes <= 59)?;
    match sign {
        "+" => Some(offset),
        "-" => Some(-offset),
        _ => None,
    }
}

/// Parses exactly `N` groups of digits with these widths.
fn numbers<const N: usize>(text: &str, separator: char, widths: [usize; N]) -> Option<[u32; N]> {
    let mut parts = text.split(separator);
    let mut found = [0; N];
    for (slot, width) in found.iter_mut().zip(widths) {
        let part = parts.next().filter(|part| part.len() == width && part.bytes().all(|b| b.is_ascii_digit()))?;
        *slot = part.parse().ok()?;
    }
    parts.next().is_none().then_some(found)
}

fn is_uuid(text: &str) -> bool {
    let groups: Vec<_> = text.split('-').collect();
    groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12])
        && groups.iter().all(|group| group.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// Only what every address has: something, one `@`, a domain.
fn is_email(text: &str) -> bool {
    text.split_once('@').is_some_and(|(local, domain)| {
        let plain = !text.contains(|c: char| c.is_whitespace() || c.is_control());
        plain && !local.is_empty() && !domain.contains('@') && domain.split('.').all(|label| !label.is_empty())
    })
}

/// A scheme, and no spaces after it.
fn is_uri(text: &str) -> bool {
    text.split_once(':').is_some_and(|(scheme, rest)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
            && !rest.contains(|c: char| c.is_whitespace() || c.is_control())
    })
}
