//! The engine against a real store and real HTTP servers.

mod control;
mod deployment;
mod fake_agent;
mod faults;
mod first_run;
mod judge_injection;
mod judge_replies;
mod judge_runs;
mod judge_transport;
mod restart;
mod scripted_judge;
mod secrets_and_files;
mod servers;
