//! The configuration and the features under which packages are read.

use std::collections::BTreeSet;
use std::process::Command;

use cargo_metadata::Package;
use tool_gen::Cfg;

use super::arguments::BuildChoice;
use super::exit::{Doing, Failure, Result};

/// What rustc says of the target, and what the user adds. `debug_assertions` is set there, `test` is not.
pub(super) fn cfg(choice: &BuildChoice) -> Result<Cfg> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut command = Command::new(&rustc);
    command.args(["--print", "cfg"]).args(choice.target.iter().flat_map(|target| ["--target", target]));
    let output = command.output().doing(|| format!("run {}", rustc.to_string_lossy()))?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(Failure::new(message.trim().trim_start_matches("error: ")));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let lines = text.lines().chain(choice.cfgs.iter().map(String::as_str));
    Ok(lines.fold(Cfg::new(), |cfg, line| match line.split_once('=') {
        Some((name, value)) => cfg.value(name.trim(), value.trim().trim_matches('"')),
        None => cfg.name(line.trim()),
    }))
}

/// The features of one package, with all that they switch on in it.
pub(super) fn features(package: &Package, choice: &BuildChoice) -> Vec<String> {
    let asked = asked_for(choice).filter_map(|feature| match feature.split_once('/') {
        Some((name, feature)) => (name == package.name.as_str()).then_some(feature),
        None => Some(feature),
    });
    let default = (!choice.no_default_features).then_some("default");
    let all = package.features.keys().map(String::as_str).filter(|_| choice.all_features);
    let mut waiting: Vec<&str> = asked.chain(default).chain(all).collect();
    let mut on = BTreeSet::new();
    while let Some(feature) = waiting.pop() {
        // What stands for a dependency, or belongs to one, is no feature of this package.
        if let Some(others) = package.features.get(feature)
            && on.insert(feature)
        {
            waiting.extend(others.iter().map(String::as_str));
        }
    }
    on.into_iter().map(str::to_owned).collect()
}

/// A feature that no package has is a mistake, as it is to Cargo.
pub(super) fn check_features(packages: &[&Package], choice: &BuildChoice) -> Result {
    for asked in asked_for(choice) {
        let feature = asked.split_once('/').map_or(asked, |(_, feature)| feature);
        if packages.iter().any(|package| package.features.contains_key(feature)) {
            continue;
        }
        let known = packages.iter().flat_map(|package| package.features.keys()).map(String::as_str);
        let failure = Failure::new(format!("no package that is read has a feature `{asked}`"));
        return Err(match tool_model::nearest(feature, known).first() {
            Some(near) => failure.help(format!("did you mean `{near}`?")),
            None => failure,
        });
    }
    Ok(())
}

fn asked_for(choice: &BuildChoice) -> impl Iterator<Item = &str> {
    let parts = choice.features.iter().flat_map(|list| list.split([',', ' ']));
    parts.filter(|feature| !feature.is_empty())
}
