//! A configuration file and what was said in code, as one.

use sea_orm::ConnectOptions;
use sharding_core::error::Mistake;

use super::ShardingBuilder;
use super::source::{Access, limits_of};
use crate::config::{Config, SourceConfig};

/// Adds what the file says. Its rules take the place of the code's; whatever else is said in both
/// is a mistake, so that nobody has to guess which counts.
pub(super) fn merge(config: &Config, builder: &mut ShardingBuilder) {
    let mut mistakes = config.mistakes().to_vec();
    let mut conflict = |at: String| {
        let why = "is given in the code, too; remove one of them".to_owned();
        mistakes.push(Mistake::File { at, why });
    };
    let draft = &mut builder.draft;
    for source in config.sources() {
        let name = source.name.clone();
        if draft.sources.contains(&name) {
            conflict(format!("sources.{name}"));
            continue;
        }
        draft.sources.push(name.clone());
        // A source without URL is among the mistakes.
        if let Some(options) = options(source) {
            builder
                .sources
                .push((name, Access::Options(Box::new(options))));
        }
    }
    if let Some(name) = config.default_source() {
        match &draft.default_source {
            Some(own) if own != name => conflict("default_source".to_owned()),
            _ => draft.default_source = Some(name.to_owned()),
        }
    }
    for limit in builder.limits.conflicts(config.limits()) {
        conflict(format!("limits.{limit}"));
    }
    builder.limits = builder.limits.or(config.limits());
    for source in config.sources() {
        let own = limits_of(&builder.source_limits, &source.name);
        for limit in own.conflicts(source.limits) {
            conflict(format!("sources.{}.limits.{limit}", source.name));
        }
        let limits = (source.name.clone(), source.limits);
        builder.source_limits.push(limits);
    }
    if let Some(rules) = config.breaker() {
        match builder.breaker {
            Some(own) if own != rules => conflict("breaker".to_owned()),
            _ => builder.breaker = Some(rules),
        }
    }
    draft.draining.extend(config.draining().iter().cloned());
    draft.broadcast.extend(config.broadcast().iter().cloned());
    draft.single.extend(config.single().iter().cloned());
    draft.co_located.extend(config.co_located().iter().cloned());
    for table in config.tables() {
        let Some(at) = draft.tables.iter().position(|own| own.name == table.name) else {
            mistakes.push(Mistake::File {
                at: format!("tables.{}", table.name),
                why: "no entity of this table is registered".to_owned(),
            });
            continue;
        };
        if table.is_sound() {
            let entity = &builder.entities[at];
            table.apply(&mut draft.tables[at], &|column| entity.kind(column));
        } else {
            // What is wrong with it is known, and the code's rules are not what is meant.
            draft.tables.remove(at);
            builder.entities.remove(at);
        }
    }
    draft.mistakes.append(&mut mistakes);
}

fn options(source: &SourceConfig) -> Option<ConnectOptions> {
    let mut options = ConnectOptions::new(source.url.as_ref()?.expose());
    if let Some(count) = source.max_connections {
        options.max_connections(count);
    }
    if let Some(count) = source.min_connections {
        options.min_connections(count);
    }
    if let Some(timeout) = source.connect_timeout {
        options.connect_timeout(timeout);
    }
    if let Some(timeout) = source.acquire_timeout {
        options.acquire_timeout(timeout);
    }
    if let Some(timeout) = source.idle_timeout {
        options.idle_timeout(timeout);
    }
    if let Some(lifetime) = source.max_lifetime {
        options.max_lifetime(lifetime);
    }
    if let Some(lazy) = source.connect_lazy {
        options.connect_lazy(lazy);
    }
    if let Some(test) = source.test_before_acquire {
        options.test_before_acquire(test);
    }
    if let Some(idle) = source.test_if_idle_for {
        options.test_before_acquire_if_idle_for(idle);
    }
    if let Some(logging) = source.sqlx_logging {
        options.sqlx_logging(logging);
    }
    if let Some(path) = &source.schema_search_path {
        options.set_schema_search_path(path);
    }
    Some(options)
}
