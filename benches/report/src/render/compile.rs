//! The section about compile time and binary size.

use super::plot::{self, PlotSeries};
use super::table::{number, table};
use crate::Outcome;
use crate::figures::Figures;
use crate::specimens::SPECIMENS;

pub fn section(figures: &Figures) -> Outcome<String> {
    let get = |subject: &str, title: &str| figures.get(subject, title);
    let mut text = String::from(
        "## Compile cost of a tool\n\nThe slope from 50 to 300 async tools of three arguments: milliseconds of processor time (minimum of several alternating rounds); bytes of the stripped \
         release binary.\n\n",
    );
    let rows = SPECIMENS.iter().map(|specimen| {
        vec![
            if specimen.infers { specimen.title.to_owned() } else { format!("{} (no schema)", specimen.title) },
            number(get("compile check", specimen.title)),
            number(get("compile debug", specimen.title)),
            number(get("compile release", specimen.title)),
            number(get("binary", specimen.title).map(f64::round)),
        ]
    });
    text += &table(&["", "check, ms", "debug, ms", "release, ms", "binary, bytes"], &rows.collect::<Vec<_>>());
    let series: Vec<PlotSeries> = SPECIMENS
        .iter()
        .map(|specimen| {
            let modes = ["compile check", "compile debug", "compile release"];
            let points =
                modes.iter().enumerate().filter_map(|(place, mode)| Some((place as f64, get(mode, specimen.title)?)));
            PlotSeries { name: specimen.title.to_owned(), ours: specimen.title == "ours", points: points.collect() }
        })
        .collect();
    let most = series.iter().flat_map(|series| &series.points).fold(0.0, |most: f64, point| most.max(point.1));
    if most > 0.0 {
        plot::bars(
            "compile.svg",
            "Milliseconds of processor time for one more tool",
            &["check", "debug", "release"],
            most,
            &series,
        )?;
        text += "![Compile cost of a tool](plots/compile.svg)\n\n";
    }
    text += "## Dependencies, build and start\n\nNumber of packages; a clean debug build with 50 tools, in seconds of processor time; and the \
         start of a process with 300 distinct tools until all are described, in instructions.\n\n";
    let rows = SPECIMENS.iter().map(|specimen| {
        vec![
            specimen.title.to_owned(),
            number(get("dependencies", specimen.title)),
            number(get("cold build", specimen.title)),
            number(get("start 300", specimen.title)),
            number(get("start each", specimen.title).map(f64::round)),
        ]
    });
    text += &table(&["", "packages", "build, s", "start with 300", "each tool of it"], &rows.collect::<Vec<_>>());
    Ok(text)
}
