//! The tools that the program offers: one line for each service.

use std::error::Error;

use tool_builtins::files::Files;
use tool_builtins::web::Web;
use tool_runtime::{Builder, Dispatcher, Selection};

use super::arguments::Arguments;

/// What the command line asks for, but for what could only fail.
pub fn offered(arguments: &Arguments) -> Result<Dispatcher, Box<dyn Error>> {
    let mut tools = Dispatcher::builder().policy(arguments.policy.clone()).dry_run(arguments.dry_run);
    let mut of_use = Selection::new();
    if let Some(folder) = &arguments.files {
        let files = Files::new(folder)?.allow_delete(arguments.allow_delete);
        of_use = of_use.hide(files.unusable());
        tools = tools.service(files);
    }
    tools = with_exec(tools, arguments)?;
    if arguments.web {
        let web = Web::new().search_from_env()?;
        of_use = of_use.hide(web.unusable());
        tools = tools.service(web);
    }
    Ok(tools.build()?.select(of_use)?)
}

#[cfg(target_os = "linux")]
fn with_exec(tools: Builder, arguments: &Arguments) -> Result<Builder, Box<dyn Error>> {
    let Some(folder) = &arguments.exec else { return Ok(tools) };
    let exec = tool_builtins::exec::Exec::new(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(tools.service(if arguments.no_network { exec.without_network() } else { exec }))
}

#[cfg(not(target_os = "linux"))]
fn with_exec(tools: Builder, arguments: &Arguments) -> Result<Builder, Box<dyn Error>> {
    match &arguments.exec {
        None => Ok(tools),
        Some(_) => Err("--exec: commands can be confined on Linux only, and are not run elsewhere".into()),
    }
}
