//! Markdown tables and number formatting.

/// Renders a Markdown table; the first column is text, the others are numbers.
pub fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let mut text = line(&head.iter().map(|cell| (*cell).to_owned()).collect::<Vec<_>>());
    text += &format!("|---|{}\n", "--:|".repeat(head.len() - 1));
    for row in rows {
        text += &line(row);
    }
    text + "\n"
}

/// Formats a number with thousands separators and significant decimals.
pub fn number(figure: Option<f64>) -> String {
    let Some(figure) = figure else { return "–".to_owned() };
    match figure.abs() {
        ..10.0 if figure.fract() != 0.0 => format!("{figure:.2}"),
        ..100.0 if figure.fract() != 0.0 => format!("{figure:.1}"),
        _ => thousands(figure.round() as i64),
    }
}

fn thousands(figure: i64) -> String {
    let digits = figure.abs().to_string();
    let mut text = String::from(if figure < 0 { "-" } else { "" });
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats the ratio of two numbers.
pub fn ratio(figure: Option<f64>, floor: Option<f64>) -> String {
    match (figure, floor) {
        (Some(figure), Some(floor)) if floor != 0.0 => format!("{:.2}", figure / floor),
        _ => "–".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{number, ratio};

    #[test]
    fn numbers_are_formatted_for_reading() {
        assert_eq!(number(Some(1234567.0)), "1,234,567");
        assert_eq!(number(Some(-1234.0)), "-1,234");
        assert_eq!(number(Some(12.34)), "12.3");
        assert_eq!(number(Some(2.0)), "2");
        assert_eq!(number(Some(0.126)), "0.13");
        assert_eq!(number(None), "–");
        assert_eq!(ratio(Some(3.0), Some(2.0)), "1.50");
        assert_eq!(ratio(Some(3.0), None), "–");
    }
}
