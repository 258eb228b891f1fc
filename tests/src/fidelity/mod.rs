//! The fidelity machine: random statements over random worlds, of which one unsharded table is the
//! oracle.

pub mod answer;
pub mod args;
pub mod compare;
pub mod data;
pub mod databases;
pub mod entity;
pub mod execute;
pub mod execute_write;
pub mod faults;
pub mod generate;
pub mod judge;
pub mod random;
pub mod ratchet;
pub mod replay;
pub mod run;
pub mod schema;
pub mod sharding;
pub mod shrink;
pub mod state;
pub mod statement;
pub mod text;
pub mod world;
