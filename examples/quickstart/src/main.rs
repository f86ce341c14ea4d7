//! A small metrics service on SQLite whose methods a language model can call.
//!
//! `cargo run -p quickstart` prints the tools, then the calls of a conversation.

mod conversation;
mod database;
mod hosts;
mod metrics;
mod print;
mod report;
mod repository;
mod session;
#[cfg(test)]
mod tests;
mod tools;
mod user;

use std::error::Error;
use std::io;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    match run().await {
        // The reader has seen enough, as in `quickstart | head`.
        Err(error)
            if error.downcast_ref().is_some_and(|error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe) =>
        {
            Ok(())
        }
        done => done,
    }
}

async fn run() -> Result<(), Box<dyn Error>> {
    let pool = database::open().await?;
    let tools = tools::dispatcher(pool)?;
    tools.check().await?;

    print::catalogue(&tools.manifest())?;
    for turn in conversation::turns() {
        let result = turn.run(&tools).await;
        print::turn(&turn, &result)?;
    }
    Ok(())
}
