//! The tools that the program offers: one line for each service.

use std::error::Error;

use tool_runtime::{Dispatcher, Terminal};

use super::arguments::Arguments;

/// Everything that was compiled in, over the workspace.
pub fn offered(arguments: &Arguments) -> Result<Dispatcher, Box<dyn Error>> {
    let tools =
        Dispatcher::builder().policy(arguments.policy.into()).dry_run(arguments.dry_run).confirm(Terminal::default());
    #[cfg(all(feature = "exec", target_os = "linux"))]
    let tools = tools.service(exec(arguments)?);
    Ok(tools.build()?)
}

#[cfg(all(feature = "exec", target_os = "linux"))]
fn exec(arguments: &Arguments) -> Result<tool_builtins::exec::Exec, String> {
    let no_workspace = |error| format!("{}: {error}", arguments.workspace.display());
    let mut exec = tool_builtins::exec::Exec::new(&arguments.workspace).map_err(no_workspace)?;
    exec = exec.allow(&arguments.allow_program).deny(&arguments.deny_program);
    exec = arguments.allow_write.iter().fold(exec, |exec, path| exec.writable(path));
    Ok(if arguments.no_network { exec.without_network() } else { exec })
}
