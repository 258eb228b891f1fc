//! The data, which are part of the program.

use std::fmt::Display;
use std::str::FromStr;

use anyhow::Context;
use flate2::read::GzDecoder;
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};

use crate::entity::{airline, flight, plane};

/// How many flights there are.
pub(crate) const FLIGHTS: u64 = 336_776;
/// How many airlines there are.
pub(crate) const AIRLINES: u64 = 16;
/// How many planes there are.
pub(crate) const PLANES: u64 = 3_322;

/// All flights. Each has the number of its line, from 1, for an `id`.
pub(crate) fn flights() -> anyhow::Result<Vec<flight::Model>> {
    let mut flights: Vec<flight::Model> =
        read(include_bytes!("../../../data/flights.csv.gz")).context("flights.csv.gz")?;
    for (flight, id) in flights.iter_mut().zip(1..) {
        flight.id = id;
    }
    Ok(flights)
}

/// All airlines.
pub(crate) fn airlines() -> anyhow::Result<Vec<airline::Model>> {
    read(include_bytes!("../../../data/airlines.csv.gz")).context("airlines.csv.gz")
}

/// All planes.
pub(crate) fn planes() -> anyhow::Result<Vec<plane::Model>> {
    read(include_bytes!("../../../data/planes.csv.gz")).context("planes.csv.gz")
}

/// A field that says `NA` where it has no value.
pub(crate) fn missing<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: Display>,
{
    match String::deserialize(deserializer)?.as_str() {
        "NA" => Ok(None),
        text => text.parse().map(Some).map_err(D::Error::custom),
    }
}

fn read<T: DeserializeOwned>(compressed: &[u8]) -> csv::Result<Vec<T>> {
    csv::Reader::from_reader(GzDecoder::new(compressed))
        .into_deserialize()
        .collect()
}
