//! The sections about listing, loading, scanning, searching, the agent and MCP servers.

use super::table::{number, ratio, table};
use crate::contenders::ALL;
use crate::figures::Figures;
use crate::measure::{AGENTS, FILE_WAYS, FORMS, PERCENT, SERVERS, STEPS, WAYS, WHAT};

pub fn section(figures: &Figures) -> String {
    [list, load, scan, files, search, dialect, agent, mcp].map(|part| part(figures)).concat()
}

fn list(figures: &Figures) -> String {
    let rows: Vec<Vec<String>> = ALL
        .iter()
        .filter_map(|contender| Some((contender, figures.get("list 1000", contender.name)?)))
        .map(|(contender, cost)| vec![contender.name.to_owned(), number(Some((cost / 1e3).round()))])
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    format!(
        "## Listing a thousand tools\n\nAll definitions as one JSON text, in instructions per tool.\n\n{}",
        table(&["", "instructions"], &rows)
    )
}

fn load(figures: &Figures) -> String {
    let (Some(tools), Some(bytes)) = (figures.get("load tools", ""), figures.get("load bytes", "")) else {
        return "## Loading a manifest\n\nNot measured.\n\n".to_owned();
    };
    let floor = figures.get("load", STEPS[0]);
    let mut rows: Vec<Vec<String>> = STEPS
        .iter()
        .map(|step| {
            let cost = figures.get("load", step);
            vec![(*step).to_owned(), number(cost.map(f64::round)), ratio(cost, floor)]
        })
        .collect();
    let linked = figures.get("start linked", "");
    rows.push(vec![
        "start without a manifest: all linked tools".to_owned(),
        number(linked.map(f64::round)),
        ratio(linked, floor),
    ]);
    format!(
        "## Loading a manifest of {} tools\n\nInstructions per tool, of {} bytes each. The peers have no such file; with 10,000 tools they would take most of an hour to compile.\n\n{}",
        number(Some(tools)),
        number(Some(bytes.round())),
        table(&["", "instructions", "times reading JSON"], &rows)
    )
}

fn scan(figures: &Figures) -> String {
    let rows = WAYS.iter().map(|way| {
        let mut row = vec![(*way).to_owned()];
        for percent in PERCENT {
            let subject = format!("scan {percent}");
            let cost = figures.get(&subject, way);
            row.push(number(cost));
            let share = cost.zip(figures.get(&subject, WAYS[0])).map(|(cost, parse)| cost / parse * 100.0);
            row.push(number(share));
        }
        row
    });
    let rows: Vec<Vec<String>> = rows.collect();
    let head = ["", "1 file in 100 has a tool", "% of parsing", "every file", "% of parsing"];
    let names = "`parse` is `syn::parse_file` on every file, `search` a search for the attribute's bytes, `scan` the generator; in millions of instructions.";
    format!("## The generator over sources of the registry\n\n{names}\n\n{}", table(&head, &rows))
}

fn files(figures: &Figures) -> String {
    let head = "## The built-in file tools compared with `rg`\n\n";
    let cases = figures.all("files ours");
    if cases.is_empty() {
        return format!("{head}Not measured.\n\n");
    }
    let row = |case: &str| {
        let cost = |way: &str| figures.get(&format!("files {way}"), case);
        let mut row = vec![case.to_owned()];
        row.extend(FILE_WAYS.iter().map(|way| number(cost(way))));
        row.push(ratio(cost("ours"), cost("rg")));
        row
    };
    let rows: Vec<Vec<String>> = cases.iter().map(|(case, _)| row(case)).collect();
    let large: Vec<Vec<String>> =
        figures.all("files large").iter().map(|(case, cost)| vec![(*case).to_owned(), number(Some(*cost))]).collect();
    let large = if large.is_empty() { String::new() } else { table(&["", "ms"], &large) };
    let words = "A tree of 100,000 files, in milliseconds; minimum of several alternating rounds.\n\n";
    format!("{head}{words}{}{large}", table(&["", "ours", "rg", "rg --sort path", "times rg"], &rows))
}

fn search(figures: &Figures) -> String {
    let head = "## Searching 10,000 tools\n\n";
    let rows: Vec<Vec<String>> = WHAT
        .iter()
        .filter_map(|what| Some(vec![(*what).to_owned(), number(Some(figures.get("search", what)?.round()))]))
        .collect();
    if rows.is_empty() {
        return format!("{head}Not measured.\n\n");
    }
    let words = "Instructions of a query of three words that few or all tools contain, and of requesting \
         unchanged definitions.\n\n";
    format!("{head}{words}{}", table(&["", "instructions"], &rows))
}

fn dialect(figures: &Figures) -> String {
    let head = "## A thousand tools in the format of a model provider\n\n";
    let rows: Vec<Vec<String>> = FORMS
        .iter()
        .filter_map(|form| {
            let (offer, value) = (figures.get("dialect offer", form)?, figures.get("dialect value", form));
            let again = figures.get("dialect again", form);
            Some(vec![(*form).to_owned(), number(Some(offer)), number(value), ratio(Some(offer), value), number(again)])
        })
        .collect();
    if rows.is_empty() {
        return format!("{head}Not measured.\n\n");
    }
    format!("{head}{}", table(&["", "instructions", "`to_string` of the same", "times that", "the second time"], &rows))
}

fn agent(figures: &Figures) -> String {
    let head = "## A turn of an agent\n\n";
    let floor = figures.get("agent turn", AGENTS[0]);
    let rows: Vec<Vec<String>> = AGENTS
        .iter()
        .filter_map(|agent| {
            let cost = figures.get("agent turn", agent)?;
            let allocations = figures.get("agent allocations", agent);
            Some(vec![(*agent).to_owned(), number(Some(cost.round())), number(allocations), ratio(Some(cost), floor)])
        })
        .collect();
    if rows.is_empty() {
        return format!("{head}Not measured.\n");
    }
    let words =
        "The model is scripted and responds at once: three concurrent calls of `add`, and their results back.\n\n";
    format!("{head}{words}{}", table(&["", "instructions", "allocations", "times ours"], &rows))
}

fn mcp(figures: &Figures) -> String {
    let head = "## MCP servers\n\n";
    let [rmcp, ours] = SERVERS;
    let cases = figures.all(&format!("mcp calls {ours}"));
    if cases.is_empty() {
        return format!("{head}Not measured.\n");
    }
    let row = |case: &str| {
        let get = |what: &str, server: &str| figures.get(&format!("mcp {what} {server}"), case);
        let mut row = vec![case.to_owned()];
        for what in ["calls", "slow"] {
            let (rmcp, ours) = (get(what, rmcp), get(what, ours));
            row.extend([number(rmcp), number(ours), ratio(ours, rmcp)]);
        }
        row
    };
    let rows: Vec<Vec<String>> = cases.iter().map(|(case, _)| row(case)).collect();
    let words = "A plain rmcp server and ours with the same tools, each in its own process, alternating: calls \
         per second (medians), and the 99th percentile in microseconds.\n\n";
    let columns = ["", "rmcp, calls/s", "ours", "times rmcp", "rmcp, p99", "ours", "times rmcp"];
    format!("{head}{words}{}", table(&columns, &rows))
}
