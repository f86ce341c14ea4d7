//! Command-line arguments of the policy.

use clap::Args;

use super::policy::Policy;
use crate::Builder;

/// The arguments `--policy` and `--dry-run` of a program that uses clap.
///
/// ```
/// use clap::Parser;
/// use tool_runtime::confirm::{PolicyArguments, Terminal};
/// use tool_runtime::{Dispatcher, Policy};
///
/// #[derive(Parser)]
/// struct Arguments {
///     #[command(flatten)]
///     policy: PolicyArguments,
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let arguments = Arguments::try_parse_from(["app", "--policy", "confirm-all"])?;
/// assert!(matches!(arguments.policy.policy, Policy::ConfirmAll));
/// let tools = Dispatcher::builder().confirm(Terminal::default()).allow_empty();
/// let tools = arguments.policy.apply(tools).build()?;
/// # drop(tools);
/// # Ok(())
/// # }
/// ```
#[derive(Args, Clone, Debug, Default)]
pub struct PolicyArguments {
    /// When to ask the user for approval: `yolo` (never), `confirm-sensitive` or `confirm-all`
    #[arg(long, alias = "mode", value_name = "POLICY", default_value_t)]
    pub policy: Policy,
    /// Describe what calls would do without running them
    #[arg(long)]
    pub dry_run: bool,
}

impl PolicyArguments {
    /// Sets the policy and the dry runs of a dispatcher.
    pub fn apply(&self, tools: Builder) -> Builder {
        tools.policy(self.policy.clone()).dry_run(self.dry_run)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Program {
        #[command(flatten)]
        policy: PolicyArguments,
    }

    fn parse(arguments: &[&str]) -> Result<(String, bool), String> {
        let arguments = ["app"].into_iter().chain(arguments.iter().copied());
        let program = Program::try_parse_from(arguments).map_err(|error| error.to_string())?;
        Ok((program.policy.policy.to_string(), program.policy.dry_run))
    }

    #[test]
    fn parses_the_policy_and_dry_runs() {
        assert_eq!(parse(&[]), Ok(("confirm-sensitive".to_owned(), false)));
        assert_eq!(parse(&["--policy", "yolo"]), Ok(("yolo".to_owned(), false)));
        assert_eq!(parse(&["--mode", "confirm-all", "--dry-run"]), Ok(("confirm-all".to_owned(), true)));
    }

    #[test]
    fn rejects_an_unknown_policy_with_a_suggestion() {
        let error = parse(&["--policy", "yollo"]).unwrap_err();
        assert!(error.contains("unknown policy `yollo`; did you mean `yolo`?"), "{error}");
        assert!(parse(&["--policy"]).unwrap_err().contains("a value is required"));
        assert!(parse(&["--dry-run=maybe"]).unwrap_err().contains("unexpected value"));
    }
}
