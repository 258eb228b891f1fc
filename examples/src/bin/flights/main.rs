//! Every flight that left New York in 2013: sharded by month, and once more in one table.
//!
//! The same questions are asked of both, and their answers are compared.
#![allow(
    clippy::print_stdout,
    reason = "the answers are what the program is run for"
)]

mod answer;
mod board;
mod connect;
mod data;
mod entity;
mod load;
mod questions;

use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;

use crate::board::Board;
use crate::load::Loaded;

/// Loads all flights that left New York in 2013, sharded by month and whole, and asks questions of
/// both.
#[derive(Debug, Parser)]
struct Args {
    /// The database: SQLite, PostgreSQL, or MySQL and MariaDB.
    #[arg(long, default_value = "sqlite://flights.db?mode=rwc")]
    database_url: String,
    /// Drop the tables and load them again.
    #[arg(long)]
    fresh: bool,
    /// Show every route in full, with its SQL.
    #[arg(long)]
    explain: bool,
}

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    let args = Args::parse();
    let db = connect::connect(&args.database_url).await?;
    let start = Instant::now();
    match load::load(&db, args.fresh).await? {
        Loaded::Before => println!("the flights are loaded already"),
        Loaded::Now => println!(
            "loaded {} flights twice in {:.1} s",
            data::FLIGHTS,
            start.elapsed().as_secs_f64()
        ),
    }
    let mut board = Board::new(&db, args.explain);
    questions::ask_all(&mut board).await?;
    let all_alike = board.finish();
    db.close().await?;
    Ok(if all_alike {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
