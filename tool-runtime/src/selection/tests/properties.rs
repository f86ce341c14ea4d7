//! Random tools and selections, compared with a naive filter.

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
struct ToolFlags {
    tags: Vec<String>,
    category: Option<String>,
    read_only: bool,
    sensitive: bool,
}

fn words() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec("[ab]", 0..3)
}

fn made() -> impl Strategy<Value = ToolFlags> {
    let parts = (words(), prop::option::of("[xy]"), any::<bool>(), any::<bool>());
    parts.prop_map(|(tags, category, read_only, sensitive)| ToolFlags { tags, category, read_only, sensitive })
}

/// Matches a glob by brute force.
fn fits(glob: &[u8], name: &[u8]) -> bool {
    match (glob.split_first(), name.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), _) => (0..=name.len()).any(|taken| fits(rest, &name[taken..])),
        (Some((b'?', rest)), Some((_, name))) => fits(rest, name),
        (Some((letter, rest)), Some((first, name))) => letter == first && fits(rest, name),
        _ => false,
    }
}

proptest! {
    #[test]
    fn selects_the_same_tools_as_a_naive_filter(
        made in prop::collection::btree_map("[abc]{1,2}(\\.[abc]{1,2})?", made(), 0..12),
        tags in words(),
        category in prop::option::of("[xy]"),
        glob in prop::option::of("[abc.*?]{1,4}"),
        hidden in prop::option::of("[abc*]{1,3}\\*"),
        read_only in prop::option::of(any::<bool>()),
        sensitive in prop::option::of(any::<bool>()),
    ) {
        let mut builder = Dispatcher::builder().allow_empty();
        for (name, made) in &made {
            let mut tool = tool(name).tags(&made.tags);
            tool = if made.read_only { tool.read_only() } else { tool };
            tool = if made.sensitive { tool.sensitive() } else { tool };
            tool = match &made.category { Some(category) => tool.category(category), None => tool };
            builder = builder.tool(tool);
        }
        let tools = builder.build().unwrap();
        let mut json = serde_json::json!({"tags": tags, "hide": hidden.iter().collect::<Vec<_>>()});
        json["category"] = category.clone().into();
        json["name_glob"] = glob.clone().into();
        json["read_only"] = read_only.into();
        json["sensitive"] = sensitive.into();
        let selected = tools.select(serde_json::from_value::<Selection>(json).unwrap()).unwrap();
        let expected: Vec<&str> = made
            .iter()
            .filter(|(name, made)| {
                tags.iter().all(|tag| made.tags.contains(tag))
                    && (category.is_none() || category == made.category)
                    && glob.as_ref().is_none_or(|glob| fits(glob.as_bytes(), name.as_bytes()))
                    && hidden.as_ref().is_none_or(|hidden| !fits(hidden.as_bytes(), name.as_bytes()))
                    && read_only.is_none_or(|read_only| read_only == made.read_only)
                    && sensitive.is_none_or(|sensitive| sensitive == made.sensitive)
            })
            .map(|(name, _)| name.as_str())
            .collect();
        prop_assert_eq!(names(&selected), expected.join(" "));
    }
}
