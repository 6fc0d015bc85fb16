//! The engine against a real store and real HTTP servers.

mod control;
mod deployment;
mod fake_agent;
mod faults;
mod first_run;
mod restart;
mod secrets_and_files;
