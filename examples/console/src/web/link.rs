//! Links with a query string.

/// Returns a path with a query string of the non-empty parameters.
pub(super) fn link(path: &str, query: &[(&str, &str)]) -> String {
    let said = query.iter().filter(|(_, value)| !value.is_empty());
    form_urlencoded::Serializer::for_suffix(format!("{path}?"), path.len() + 1).extend_pairs(said).finish()
}

#[cfg(test)]
mod tests {
    use super::link;

    #[test]
    fn what_is_asked_for_stays_one_value() {
        assert_eq!(link("/tools", &[("tag", "a&b=c d"), ("search", "")]), "/tools?tag=a%26b%3Dc+d");
    }
}
