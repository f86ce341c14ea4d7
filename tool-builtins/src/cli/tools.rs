//! The tools that the program serves.

use std::error::Error;

use tool_runtime::confirm::Terminal;
use tool_runtime::{Dispatcher, Selection};

use super::arguments::BuiltinsArguments;

/// Builds a dispatcher with every compiled-in service, hiding the tools that cannot succeed.
pub fn dispatcher(arguments: &BuiltinsArguments) -> Result<Dispatcher, Box<dyn Error>> {
    let tools = arguments.policy.apply(Dispatcher::builder()).confirm(Terminal::default());
    let selection = Selection::new();
    #[cfg(all(feature = "exec", target_os = "linux"))]
    let tools = tools.service(exec(arguments)?);
    #[cfg(feature = "files")]
    let (selection, tools) = {
        let files = files(arguments)?;
        (selection.hide(files.unusable()), tools.service(files))
    };
    #[cfg(feature = "web")]
    let (selection, tools) = {
        let web = web(arguments)?;
        (selection.hide(web.unusable()), tools.service(web))
    };
    Ok(tools.build()?.select(selection)?)
}

#[cfg(feature = "files")]
fn files(arguments: &BuiltinsArguments) -> std::io::Result<tool_builtins::files::Files> {
    let files = tool_builtins::files::Files::new(&arguments.workspace)?;
    Ok(files.allow_delete(arguments.allow_delete).hide_dot_files(arguments.hide_dot_files))
}

#[cfg(feature = "web")]
fn web(arguments: &BuiltinsArguments) -> Result<tool_builtins::web::Web, tool_builtins::web::WebConfigError> {
    let mut web = tool_builtins::web::Web::new().search_from_env()?;
    if let Some(results) = arguments.max_results {
        web = web.max_results(results.into());
    }
    arguments.allow_host.iter().try_fold(web, |web, host| web.allow(host))
}

#[cfg(all(feature = "exec", target_os = "linux"))]
fn exec(arguments: &BuiltinsArguments) -> Result<tool_builtins::exec::Exec, String> {
    let no_workspace = |error| format!("{}: {error}", arguments.workspace.display());
    let mut exec = tool_builtins::exec::Exec::new(&arguments.workspace).map_err(no_workspace)?;
    exec = exec.allow(&arguments.allow_program).deny(&arguments.deny_program);
    exec = arguments.allow_write.iter().fold(exec, |exec, path| exec.writable(path));
    Ok(if arguments.no_network { exec.without_network() } else { exec })
}
