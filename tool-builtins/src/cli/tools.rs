//! The tools that the program offers: one line for each service.

use std::error::Error;

use tool_runtime::{Dispatcher, Selection, Terminal};

use super::arguments::Arguments;

/// Everything that was compiled in, over the workspace, but for what could only fail.
pub fn offered(arguments: &Arguments) -> Result<Dispatcher, Box<dyn Error>> {
    let tools =
        Dispatcher::builder().policy(arguments.policy.clone()).dry_run(arguments.dry_run).confirm(Terminal::default());
    let of_use = Selection::new();
    #[cfg(all(feature = "exec", target_os = "linux"))]
    let tools = tools.service(exec(arguments)?);
    #[cfg(feature = "files")]
    let (of_use, tools) = {
        let files = files(arguments)?;
        (of_use.hide(files.unusable()), tools.service(files))
    };
    #[cfg(feature = "web")]
    let (of_use, tools) = {
        let web = web(arguments)?;
        (of_use.hide(web.unusable()), tools.service(web))
    };
    Ok(tools.build()?.select(of_use)?)
}

#[cfg(feature = "files")]
fn files(arguments: &Arguments) -> std::io::Result<tool_builtins::files::Files> {
    Ok(tool_builtins::files::Files::new(&arguments.workspace)?.allow_delete(arguments.allow_delete))
}

#[cfg(feature = "web")]
fn web(arguments: &Arguments) -> Result<tool_builtins::web::Web, tool_builtins::web::ConfigError> {
    let web = tool_builtins::web::Web::new().search_from_env()?;
    arguments.allow_host.iter().try_fold(web, |web, host| web.allow(host))
}

#[cfg(all(feature = "exec", target_os = "linux"))]
fn exec(arguments: &Arguments) -> Result<tool_builtins::exec::Exec, String> {
    let no_workspace = |error| format!("{}: {error}", arguments.workspace.display());
    let mut exec = tool_builtins::exec::Exec::new(&arguments.workspace).map_err(no_workspace)?;
    exec = exec.allow(&arguments.allow_program).deny(&arguments.deny_program);
    exec = arguments.allow_write.iter().fold(exec, |exec, path| exec.writable(path));
    Ok(if arguments.no_network { exec.without_network() } else { exec })
}
