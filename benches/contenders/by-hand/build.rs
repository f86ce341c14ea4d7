//! Generates `FILLERS` more arms for the `match`.

fn main() {
    let arm = |number: usize| {
        format!("\"filler_{number}\" => read::<Filler>(arguments).and_then(|filler| text(&(filler.a + {number}))),\n")
    };
    let arms = |count: usize| {
        format!(
            "pub fn more(tool: &str, arguments: &str) -> Option<Outcome> {{ Some(match tool {{ {} _ => return None }}) }}",
            (0..count).map(arm).collect::<String>()
        )
    };
    fillers::write(|_| String::new(), arms);
}
