//! Downloads published crates and prints how many of their public methods could be tools, and why the others could not:
//! `cargo run --release -p parity-tests --bin adopt`. With names of crates it prints every method that does not fit.

use std::{env, io};

use parity_tests::adopt::{AdoptCounts, CRATES, Registry, is_service};
use tool_gen::adopt::{AdoptReport, Fit};

fn main() -> io::Result<()> {
    let named: Vec<String> = env::args().skip(1).collect();
    let directory = env::temp_dir().join("adopt-downloads");
    let registry = Registry::download(&directory, &CRATES)?;
    let mut reports = Vec::new();
    for krate in &CRATES {
        reports.push((krate, registry.adopt(krate)?));
    }
    for (krate, report) in reports.iter().filter(|(krate, _)| named.iter().any(|name| name == krate.name)) {
        println!("{}", krate.name);
        print_unfit(report);
    }
    println!("Public methods of public types, without constructors and setters, which are counted apart.");
    println!("`unknown` depends on a type without sources and counts as unfit.");
    let header = "methods unchanged attributes      fit conversion unknown unfit constructors setters";
    for (title, only_services) in [("services", true), ("all types", false)] {
        let counted = |report: &AdoptReport| AdoptCounts::new(report, |class| !only_services || is_service(class));
        println!("\n{title:17} {header}");
        let mut sums = [AdoptCounts::default(), AdoptCounts::default()];
        for (krate, report) in &reports {
            let counts = counted(report);
            println!("{:17}   {counts}", krate.name);
            sums[1].add(&counts);
            if !krate.is_sdk {
                sums[0].add(&counts);
            }
        }
        println!("{:17}   {}", "without SDKs", sums[0]);
        println!("{:17}   {}", "with SDKs", sums[1]);
        for (title, sum) in [("without SDKs", &sums[0]), ("with SDKs", &sums[1])] {
            let reasons: Vec<String> =
                sum.reasons().iter().map(|(reason, count)| format!("{count} {reason:?}")).collect();
            println!("reasons {title}: {}", reasons.join(", "));
        }
    }
    Ok(())
}

fn print_unfit(report: &AdoptReport) {
    for class in report.classes.iter().filter(|class| class.is_public) {
        for method in
            class.methods.iter().filter(|method| matches!(method.fit, Fit::Conversion | Fit::Unfit | Fit::Unknown))
        {
            println!(
                "  {:?} {}::{} ({}:{})",
                class.role,
                class.name,
                method.name,
                method.place.file.display(),
                method.place.line
            );
            for finding in &method.findings {
                println!("      {:?}: {}", finding.reason, finding.message);
            }
        }
    }
}
