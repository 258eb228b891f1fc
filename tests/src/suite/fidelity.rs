use sea_orm::DbBackend;

use crate::fidelity::args::Args;
use crate::fidelity::run::run;

/// Random statements over random worlds; see `crate::fidelity`. `SHARDING_TEST_SEED` chooses other
/// ones than the usual.
pub async fn few_thousand(backend: DbBackend) {
    let directory = tempfile::TempDir::new().unwrap();
    let seed = std::env::var("SHARDING_TEST_SEED").ok();
    let args = Args {
        queries: if backend == DbBackend::Sqlite {
            4_000
        } else {
            2_000
        },
        seed: seed.and_then(|seed| seed.parse().ok()).unwrap_or(1),
        most_differences: 3,
        patience: 8,
        out: directory.path().to_owned(),
        ..Args::new(backend)
    };
    let report = run(&args).await;
    if !report.is_good() {
        // What differs stays to be looked at.
        let kept = directory.keep();
        panic!("{report}\nin {}", kept.display());
    }
}
