//! The tools that the program offers: one line for each service.

use std::error::Error;

use tool_builtins::exec::Exec;
use tool_builtins::files::Files;
use tool_builtins::web::Web;
use tool_runtime::Dispatcher;

use super::arguments::Arguments;

/// What the command line asks for.
pub fn offered(arguments: &Arguments) -> Result<Dispatcher, Box<dyn Error>> {
    let mut tools = Dispatcher::builder().policy(arguments.policy.clone()).dry_run(arguments.dry_run);
    if let Some(folder) = &arguments.files {
        tools = tools.service(Files::new(folder)?.allow_delete(arguments.allow_delete));
    }
    if let Some(folder) = &arguments.exec {
        let exec = Exec::new(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        tools = tools.service(if arguments.no_network { exec.without_network() } else { exec });
    }
    if arguments.web {
        tools = tools.service(Web::new().search_from_env()?);
    }
    let tools = tools.build()?;
    if !arguments.allow_delete {
        // It would only say that it may not.
        tools.registry().remove("delete_file");
    }
    Ok(tools)
}
