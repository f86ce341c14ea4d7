//! The performance goals, and whether the figures meet them.

use super::table::table;
use crate::contenders::{ALL, ContenderGroup, FLOOR};
use crate::figures::Figures;
use crate::specimens::SPECIMENS;

pub fn section(figures: &Figures) -> String {
    let mut rows = Vec::new();
    for (name, goals) in [("ours, sync", [1.0, 1.0, 1.0]), ("ours, async", [1.1, 1.0, 1.0])] {
        for deadline in ["", ", with a deadline"] {
            rows.push(instructions(figures, &format!("{name}{deadline}"), goals));
        }
        rows.push(growth(figures, name));
    }
    rows.push(allocations(figures));
    for (what, subject) in [
        ("`cargo check`", "compile check"),
        ("debug build", "compile debug"),
        ("release build", "compile release"),
        ("binary size", "binary"),
    ] {
        rows.push(per_tool(figures, what, subject));
    }
    rows.push(agent(figures));
    rows.push(mcp(figures));
    let rows: Vec<Vec<String>> = rows.into_iter().map(|[goal, got, met]| vec![goal, met, got]).collect();
    let table = table(&["goal", "", "measured"], &rows).replace("--:|", "---|");
    format!("## Goals\n\n{table}")
}

fn verdict(met: Option<bool>) -> String {
    match met {
        Some(true) => "met",
        Some(false) => "missed",
        None => "not measured",
    }
    .to_owned()
}

fn row(goal: &str, got: String, met: Option<bool>) -> [String; 3] {
    [goal.to_owned(), got, verdict(met)]
}

fn instructions(figures: &Figures, name: &str, goals: [f64; 3]) -> [String; 3] {
    let ratios: Vec<Option<f64>> = ["add", "search", "order"]
        .iter()
        .map(|tool| {
            let subject = format!("instructions {tool} 0");
            Some(figures.get(&subject, name)? / figures.get(&subject, FLOOR)?)
        })
        .collect();
    let goal = format!("{name}: at most {} / {} / {} of the table's instructions", goals[0], goals[1], goals[2]);
    let got: Vec<String> =
        ratios.iter().map(|ratio| ratio.map_or("–".to_owned(), |ratio| format!("{ratio:.3}"))).collect();
    // Compared with the two decimals of the goals: the third varies from build to build.
    let met = ratios.iter().zip(goals).map(|(ratio, goal)| ratio.map(|ratio| ratio < goal + 0.005));
    row(&goal, got.join(" / "), met.collect::<Option<Vec<_>>>().map(|met| met.into_iter().all(|met| met)))
}

fn growth(figures: &Figures, name: &str) -> [String; 3] {
    let few = figures.get("instructions add 0", name);
    let many = figures.get("instructions add 1000", name);
    let times = few.zip(many).map(|(few, many)| many / few);
    let got = times.map_or("–".to_owned(), |times| format!("{times:.3} times"));
    row(&format!("{name}: no growth of `add` at 1,000 tools"), got, times.map(|times| times < 1.02))
}

/// Goal: fewer allocations than every peer, for every tool.
fn allocations(figures: &Figures) -> [String; 3] {
    let mut beaten = Vec::new();
    let mut known = false;
    for tool in ["add", "search", "order"] {
        let subject = format!("allocations {tool} 0");
        for ours in ["ours, sync", "ours, async"] {
            for peer in ALL.iter().filter(|contender| contender.side == ContenderGroup::Peer) {
                let (Some(own), Some(other)) = (figures.get(&subject, ours), figures.get(&subject, peer.name)) else {
                    continue;
                };
                known = true;
                if own >= other {
                    beaten.push(format!("`{tool}`, {ours}: {own} against {other} of {}", peer.name));
                }
            }
        }
    }
    let got = if beaten.is_empty() { "fewer everywhere".to_owned() } else { beaten.join("; ") };
    row("fewer allocations than every peer", got, known.then_some(beaten.is_empty()))
}

fn per_tool(figures: &Figures, what: &str, subject: &str) -> [String; 3] {
    let ours = figures.get(subject, "ours");
    let peers = SPECIMENS.iter().filter(|specimen| specimen.infers && specimen.title != "ours");
    let best = peers.filter_map(|peer| Some((figures.get(subject, peer.title)?, peer.title)));
    let best = best.min_by(|one, other| one.0.total_cmp(&other.0));
    let got = match (ours, best) {
        (Some(ours), Some((least, who))) => format!("{:.2} of the least, {who}", ours / least),
        _ => "–".to_owned(),
    };
    let met = ours.zip(best).map(|(ours, (least, _))| ours < least);
    row(&format!("{what} of a tool below every peer that infers a schema"), got, met)
}

fn agent(figures: &Figures) -> [String; 3] {
    let share = figures.get("agent turn", "ours").zip(figures.get("agent turn", "rig")).map(|(ours, rig)| ours / rig);
    let got = share.map_or("–".to_owned(), |share| format!("{share:.2}"));
    row(
        "a turn of the agent with three calls: at most half of rig's instructions",
        got,
        share.map(|share| share <= 0.5),
    )
}

/// Goal: every transport is as fast as the plain server, for each number of tools.
fn mcp(figures: &Figures) -> [String; 3] {
    let cases = figures.all("mcp calls ours");
    let ratios = cases.iter().filter_map(|(case, ours)| Some(ours / figures.get("mcp calls rmcp", case)?));
    let (least, most) = ratios.fold((f64::MAX, f64::MIN), |(least, most), ratio| (least.min(ratio), most.max(ratio)));
    let known = least <= most;
    let got = if known { format!("{least:.2} to {most:.2}") } else { "–".to_owned() };
    row("an MCP server: at least the calls per second of a plain rmcp server", got, known.then_some(least >= 0.995))
}
