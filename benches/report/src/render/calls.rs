//! The section about the cost of one call.

use super::plot::{self, PlotSeries};
use super::table::{number, ratio, table};
use crate::Outcome;
use crate::contenders::{ALL, ContenderGroup, FLOOR};
use crate::figures::Figures;

const TOOLS: [(&str, &str); 3] = [
    ("add", "two integers"),
    ("search", "query, limit, list, map; three structs back"),
    ("order", "an order of twelve fields, echoed"),
];

pub fn section(figures: &Figures) -> Outcome<String> {
    let mut text = String::from(
        "## A call, text in and text out\n\n\
         `add` takes two integers; `search` a query, an optional limit, a list and a map, and returns three structs; \
         `order` is one order of twelve fields (Uuid, date-time, enum, list of structs, map), echoed. Ours is measured with default settings (validation, repair, scope, policy, panic guard), with an \
         additional deadline, and bare (no repair, no policy). The table by hand uses boxed futures and \
         derived structs, and validates what serde validates.\n\n",
    );
    text += "### Instructions, absolute and relative to the table by hand\n\n";
    text += &per_call(figures, "instructions", true);
    text += "\n![Instructions of a call](plots/calls.svg)\n\n### Allocations, and bytes\n\n";
    let rows = ALL.iter().map(|contender| {
        let cells = TOOLS.iter().map(|(tool, _)| {
            let count = number(figures.get(&format!("allocations {tool} 0"), contender.name));
            format!("{count} ({})", number(figures.get(&format!("bytes {tool} 0"), contender.name)))
        });
        std::iter::once(contender.name.to_owned()).chain(cells).collect()
    });
    text += &table(&["", "add", "search", "order"], &rows.collect::<Vec<_>>());
    text += "### Nanoseconds (median)\n\n";
    text += &per_call(figures, "nanoseconds", false);
    plot(figures)?;
    Ok(text)
}

/// Three tools alone, and `add` with a thousand more.
fn per_call(figures: &Figures, what: &str, ratios: bool) -> String {
    let rows = ALL.iter().map(|contender| {
        let columns = [("add", 0), ("search", 0), ("order", 0), ("add", 1_000), ("search", 1_000), ("order", 1_000)];
        let cells = columns.map(|(tool, fillers)| {
            let subject = format!("{what} {tool} {fillers}");
            let figure = figures.get(&subject, contender.name);
            // With many tools, the baseline is still the table with few, so that growth is visible.
            let floor = figures.get(&format!("{what} {tool} 0"), FLOOR);
            match figure {
                Some(_) if ratios => format!("{} ({})", number(figure), ratio(figure, floor)),
                _ => number(figure.map(f64::round)),
            }
        });
        std::iter::once(contender.name.to_owned()).chain(cells).collect()
    });
    let head = ["", "add", "search", "order", "add, 1,000 tools", "search, 1,000", "order, 1,000"];
    table(&head, &rows.collect::<Vec<_>>())
}

fn plot(figures: &Figures) -> Outcome {
    let series: Vec<PlotSeries> = ALL
        .iter()
        .filter(|contender| contender.plotted && contender.name != FLOOR)
        .map(|contender| {
            let points = TOOLS.iter().enumerate().filter_map(|(place, (tool, _))| {
                let subject = format!("instructions {tool} 0");
                Some((place as f64, figures.get(&subject, contender.name)? / figures.get(&subject, FLOOR)?))
            });
            PlotSeries {
                name: contender.name.to_owned(),
                ours: contender.side == ContenderGroup::Ours,
                points: points.collect(),
            }
        })
        .collect();
    let groups = TOOLS.map(|(tool, what)| format!("{tool}: {what}"));
    let groups: Vec<&str> = groups.iter().map(String::as_str).collect();
    plot::bars("calls.svg", "Instructions of a call; 1 is a table of functions by hand", &groups, 8.0, &series)
}
