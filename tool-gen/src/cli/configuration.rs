//! The configuration and the features under which packages are read.

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
    // What rustc prints and we cannot read, no source can ask for either.
    let of_target = text.lines().filter_map(|line| line.parse::<Cfg>().ok()).fold(Cfg::new(), Cfg::and);
    choice.cfgs.iter().try_fold(of_target, |cfg, said| {
        let said: Cfg = said.parse().map_err(|wrong: String| Failure::new(wrong))?;
        Ok(cfg.and(said))
    })
}

/// The features that one package is asked for. What these switch on, the scan finds out.
pub(super) fn features(package: &Package, choice: &BuildChoice) -> Vec<String> {
    let asked = asked_for(choice).filter_map(|feature| match feature.split_once('/') {
        Some((name, feature)) => (name == package.name.as_str()).then_some(feature),
        None => Some(feature),
    });
    let default = (!choice.no_default_features).then_some("default");
    let all = package.features.keys().map(String::as_str).filter(|_| choice.all_features);
    asked.chain(default).chain(all).map(str::to_owned).collect()
}

/// A feature that no package has is a mistake, as it is to Cargo.
pub(super) fn check_features(packages: &[&Package], choice: &BuildChoice) -> Result {
    for asked in asked_for(choice) {
        let (owner, feature) = asked.split_once('/').map_or((None, asked), |(owner, feature)| (Some(owner), feature));
        let is_meant = |package: &&&Package| owner.is_none_or(|owner| package.name.as_str() == owner);
        let meant: Vec<_> = packages.iter().filter(is_meant).collect();
        if meant.iter().any(|package| package.features.contains_key(feature)) {
            continue;
        }
        let Some(owner) = owner.filter(|_| meant.is_empty()) else {
            let known = meant.iter().flat_map(|package| package.features.keys()).map(String::as_str);
            let failure = Failure::new(format!("no package that is read has a feature `{asked}`"));
            return Err(suggested(failure, feature, known));
        };
        // A feature of a dependency switches nothing on here.
        let dependencies = || packages.iter().flat_map(|package| &package.dependencies);
        let is_used = dependencies().any(|used| used.name == owner || used.rename.as_deref() == Some(owner));
        if !is_used {
            let failure =
                Failure::new(format!("no package that is read is called `{owner}`, or uses one of that name"));
            return Err(suggested(failure, owner, packages.iter().map(|package| package.name.as_str())));
        }
    }
    Ok(())
}

fn suggested<'n>(failure: Failure, name: &str, known: impl IntoIterator<Item = &'n str>) -> Failure {
    match tool_model::nearest(name, known).first() {
        Some(near) => failure.help(format!("did you mean `{near}`?")),
        None => failure,
    }
}

fn asked_for(choice: &BuildChoice) -> impl Iterator<Item = &str> {
    let parts = choice.features.iter().flat_map(|list| list.split([',', ' ']));
    parts.filter(|feature| !feature.is_empty())
}
