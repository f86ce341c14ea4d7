//! The services that the program offers.

use std::error::Error;

use tool_builtins::files::Files;
use tool_builtins::web::Web;
use tool_runtime::{Builder, Dispatcher, Selection, confirm};

use super::arguments::ServeArguments;

/// Builds the requested services, without the tools that could only fail.
pub fn dispatcher(arguments: &ServeArguments) -> Result<Dispatcher, Box<dyn Error>> {
    let mut tools = arguments.policy.apply(Dispatcher::builder().confirm(confirm::per_call()));
    let mut usable = Selection::new();
    if let Some(directory) = &arguments.files {
        let files = Files::new(directory)?.allow_delete(arguments.allow_delete);
        usable = usable.hide(files.unusable());
        tools = tools.service(files);
    }
    tools = with_exec(tools, arguments)?;
    if arguments.web {
        let web = Web::new().search_from_env()?;
        usable = usable.hide(web.unusable());
        tools = tools.service(web);
    }
    Ok(tools.build()?.select(usable)?)
}

#[cfg(target_os = "linux")]
fn with_exec(tools: Builder, arguments: &ServeArguments) -> Result<Builder, Box<dyn Error>> {
    let Some(directory) = &arguments.exec else { return Ok(tools) };
    let exec =
        tool_builtins::exec::Exec::new(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    Ok(tools.service(if arguments.no_network { exec.without_network() } else { exec }))
}

#[cfg(not(target_os = "linux"))]
fn with_exec(tools: Builder, arguments: &ServeArguments) -> Result<Builder, Box<dyn Error>> {
    match &arguments.exec {
        None => Ok(tools),
        Some(_) => Err("--exec is supported on Linux only, where commands can be sandboxed".into()),
    }
}
