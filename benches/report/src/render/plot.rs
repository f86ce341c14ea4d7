//! Plots as small SVG files. Style sheets choose colours for light and dark pages; plotting libraries write fixed
//! colours into every element.

use std::fmt::Write;
use std::fs;

use crate::Outcome;
use crate::cargo::benches;

const STYLE: &str = "text{font:12px sans-serif;fill:#333}.t{font-size:14px;font-weight:bold}.o{font-weight:bold}.g{stroke:#8885;fill:none}\
.l{fill:none;stroke-width:2}.ours{stroke-width:3.5}\
@media(prefers-color-scheme:dark){text{fill:#ddd}}";
/// Distinguishable on white and on black.
const COLOURS: [&str; 11] = [
    "#888888", "#b07aa1", "#e15759", "#f28e2b", "#4e79a7", "#76b7b2", "#59a14f", "#c9a227", "#9c755f", "#d37295",
    "#6b8fd4",
];

/// One line, or one group of bars.
pub struct PlotSeries {
    pub name: String,
    pub ours: bool,
    pub points: Vec<(f64, f64)>,
}

/// Renders lines over logarithmic axes.
pub fn lines(file: &str, title: &str, across: &str, up: &str, series: &[PlotSeries]) -> Outcome {
    let (width, height, left, top, plot_width, plot_height) = (760.0, 400.0, 70.0, 40.0, 440.0, 300.0);
    let all = || series.iter().flat_map(|series| &series.points);
    let (low_x, high_x) = decades(all().map(|point| point.0));
    let (low_y, high_y) = decades(all().map(|point| point.1));
    let x = |value: f64| left + (value.log10() - low_x) / (high_x - low_x) * plot_width;
    let y = |value: f64| top + plot_height - (value.log10() - low_y) / (high_y - low_y) * plot_height;
    let mut body = format!("<text class=\"t\" x=\"{left}\" y=\"20\">{title}</text>");
    for power in low_x as i32..=high_x as i32 {
        let at = x(10f64.powi(power));
        write!(
            body,
            "<path class=\"g\" d=\"M{at:.0} {top}v{plot_height}\"/><text x=\"{at:.0}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            top + plot_height + 18.0,
            power_of_ten(power)
        )?;
    }
    for power in low_y as i32..=high_y as i32 {
        let at = y(10f64.powi(power));
        write!(
            body,
            "<path class=\"g\" d=\"M{left} {at:.0}h{plot_width}\"/><text x=\"{}\" y=\"{:.0}\" text-anchor=\"end\">{}</text>",
            left - 6.0,
            at + 4.0,
            power_of_ten(power)
        )?;
    }
    write!(
        body,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{across}</text>",
        left + plot_width / 2.0,
        height - 16.0
    )?;
    write!(
        body,
        "<text transform=\"translate(16 {}) rotate(-90)\" text-anchor=\"middle\">{up}</text>",
        top + plot_height / 2.0
    )?;
    for (place, (series, colour)) in series.iter().zip(COLOURS.iter().cycle()).enumerate() {
        let path: Vec<String> = series.points.iter().map(|&(a, b)| format!("{:.0} {:.0}", x(a), y(b))).collect();
        let class = if series.ours { "l ours" } else { "l" };
        write!(body, "<path class=\"{class}\" stroke=\"{colour}\" d=\"M{}\"/>", path.join("L"))?;
        for &(a, b) in &series.points {
            write!(body, "<circle cx=\"{:.0}\" cy=\"{:.0}\" r=\"3\" fill=\"{colour}\"/>", x(a), y(b))?;
        }
        legend(&mut body, left + plot_width + 20.0, top + 10.0 + 22.0 * place as f64, colour, &series.name)?;
    }
    save(file, width, height, &body)
}

/// Renders bars in groups, one per name in `groups`; the points of a series are `(group, value)`. Bars longer than
/// `most` are cut and labelled with their value.
pub fn bars(file: &str, title: &str, groups: &[&str], most: f64, series: &[PlotSeries]) -> Outcome {
    let (width, left, bar, plot_width) = (760.0, 185.0, 15.0, 490.0);
    let mut body = format!("<text class=\"t\" x=\"10\" y=\"20\">{title}</text>");
    let mut at = 36.0;
    for (place, group) in groups.iter().enumerate() {
        write!(body, "<text class=\"t\" x=\"10\" y=\"{:.0}\">{group}</text>", at + 14.0)?;
        at += 22.0;
        for (series, colour) in series.iter().zip(COLOURS.iter().cycle()) {
            let Some(&(_, value)) = series.points.iter().find(|(group, _)| *group as usize == place) else { continue };
            let length = value.min(most) / most * plot_width;
            let cut = if value > most { " →" } else { "" };
            write!(
                body,
                "<text{} x=\"{}\" y=\"{:.0}\" text-anchor=\"end\">{}</text>",
                if series.ours { " class=\"o\"" } else { "" },
                left - 6.0,
                at + 12.0,
                series.name
            )?;
            write!(
                body,
                "<rect x=\"{left}\" y=\"{at:.0}\" width=\"{length:.1}\" height=\"{}\" fill=\"{colour}\"/>",
                bar - 2.0
            )?;
            write!(body, "<text x=\"{:.0}\" y=\"{:.0}\">{value:.2}{cut}</text>", left + length + 5.0, at + 12.0)?;
            at += bar + 2.0;
        }
        at += 12.0;
    }
    if most > 1.0 {
        let one = left + plot_width / most;
        write!(body, "<path class=\"g\" d=\"M{one:.0} 36V{at:.0}\"/>")?;
    }
    save(file, width, at, &body)
}

fn legend(body: &mut String, x: f64, y: f64, colour: &str, name: &str) -> Outcome {
    write!(
        body,
        "<rect x=\"{x}\" y=\"{y}\" width=\"14\" height=\"4\" fill=\"{colour}\"/><text x=\"{}\" y=\"{}\">{name}</text>",
        x + 20.0,
        y + 6.0
    )?;
    Ok(())
}

fn save(file: &str, width: f64, height: f64, body: &str) -> Outcome {
    let svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\"><style>{STYLE}</style>{body}</svg>\n"
    );
    Ok(fs::write(benches().join("plots").join(file), svg)?)
}

/// Returns the powers of ten below and above all values.
fn decades(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = values.fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)));
    let low = low.max(1e-9).log10().floor();
    (low, high.max(1e-9).log10().ceil().max(low + 1.0))
}

fn power_of_ten(power: i32) -> String {
    match power {
        0 => "1".to_owned(),
        1 => "10".to_owned(),
        2 => "100".to_owned(),
        3 => "1,000".to_owned(),
        4 => "10,000".to_owned(),
        _ => format!("10<tspan dy=\"-5\" font-size=\"9\">{power}</tspan>"),
    }
}
