//! Random statements over random worlds, compared with one unsharded table.

use std::io::{Write, stdout};
use std::process::ExitCode;

use tests::fidelity::args::{Args, Bless};
use tests::fidelity::replay::Replay;
use tests::fidelity::{ratchet, run};

#[tokio::main]
async fn main() -> ExitCode {
    match work().await {
        Ok((good, text)) => {
            let written = writeln!(stdout(), "{text}");
            if good && written.is_ok() {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            }
        }
        Err(text) => {
            let _ = writeln!(std::io::stderr(), "{text}");
            ExitCode::FAILURE
        }
    }
}

async fn work() -> Result<(bool, String), String> {
    let args = Args::parse(std::env::args().skip(1))?;
    if let Some(path) = &args.replay {
        let replay = Replay::read(path).map_err(|error| error.to_string())?;
        return replay.run().await;
    }
    let report = run::run(&args).await;
    if args.bless != Bless::No {
        ratchet::bless(args.backend, args.bless, &report.refused)
            .map_err(|error| error.to_string())?;
    }
    Ok((report.is_good(), report.to_string()))
}
