//! The section about the growth of the cost of a call.

use super::fit::exponent;
use super::plot::{self, PlotSeries};
use super::table::{number, table};
use crate::Outcome;
use crate::contenders::{ALL, ContenderEntry, ContenderGroup};
use crate::figures::Figures;
use crate::measure::{BYTES, TOGETHER, TOOLS};

pub fn section(figures: &Figures) -> Outcome<String> {
    let mut text = String::from(
        "## As work grows\n\nThe exponent is the slope through the logarithms of the last three points: 0 is constant, 1 is \
         linear.\n\n### The number of tools: instructions of `add`\n\n",
    );
    text += &one(
        figures,
        "tools",
        &TOOLS,
        1.0,
        "tools.svg",
        ["Instructions of a call as tools grow", "tools", "instructions"],
    )?;
    text += "### The size of the arguments: instructions per byte of `search`, with a growing list\n\n";
    text += &one(
        figures,
        "argument bytes",
        &BYTES,
        0.0,
        "bytes.svg",
        ["Instructions of a call as its arguments grow", "bytes", "instructions"],
    )?;
    text += "### Concurrent calls on two threads: processor nanoseconds per call\n\nThe tool yields once, so that all calls are in flight at the same time; spawning its task is \
         part of the cost.\n\n";
    text += &one(
        figures,
        "together processor",
        &TOGETHER,
        1.0,
        "together.svg",
        ["Processor time of a call as calls grow", "calls in flight", "nanoseconds a call"],
    )?;
    Ok(text)
}

/// Renders a table and a plot. `whole` is 1 if the table shows the figures as measured, 0 if divided by the size.
fn one(
    figures: &Figures,
    subject: &str,
    sizes: &[usize],
    whole: f64,
    file: &str,
    [title, across, up]: [&str; 3],
) -> Outcome<String> {
    let points = |contender: &ContenderEntry| -> Vec<(f64, f64)> {
        let cost = |size: &usize| Some((*size as f64, figures.get(&format!("{subject} {size}"), contender.name)?));
        sizes.iter().filter_map(cost).collect()
    };
    let plotted = || ALL.iter().filter(|contender| contender.plotted);
    let rows = plotted().map(|contender| {
        let points = points(contender);
        let mut row = vec![contender.name.to_owned()];
        row.extend(sizes.iter().map(|size| {
            let cost = figures.get(&format!("{subject} {size}"), contender.name);
            number(cost.map(|cost| if whole == 1.0 { cost.round() } else { cost / *size as f64 }))
        }));
        row.push(exponent(&points).map_or_else(|| "–".to_owned(), |exponent| format!("{exponent:.2}")));
        row
    });
    let rows: Vec<Vec<String>> = rows.collect();
    let mut head = vec![String::new()];
    head.extend(sizes.iter().map(|size| number(Some(*size as f64))));
    head.push("exponent".to_owned());
    let series: Vec<PlotSeries> = plotted()
        .map(|contender| PlotSeries {
            name: contender.name.to_owned(),
            ours: contender.side == ContenderGroup::Ours,
            points: points(contender),
        })
        .filter(|series| !series.points.is_empty())
        .collect();
    if series.is_empty() {
        return Ok("Not measured.\n\n".to_owned());
    }
    plot::lines(file, title, across, up, &series)?;
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    Ok(format!("{}![{title}](plots/{file})\n\n", table(&head, &rows)))
}
