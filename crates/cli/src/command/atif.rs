//! `evalkit atif check` (`atif.md`, `formats.md`).

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use evalkit_core::atif::check_bytes;

use super::{Context, pretty};
use crate::console::visible;
use crate::diagnostics::count;
use crate::exit::{Exit, Failure, Outcome};

/// The largest trajectory, bytes: 32 MiB.
const LARGEST: u64 = 32 << 20;

/// Exit 0 valid, 1 not, 3 when the file cannot be read.
pub(super) fn check(file: &Path, json: bool, context: &mut Context) -> Outcome {
    let name = file.display();
    let mut bytes = Vec::new();
    File::open(context.environment.folder.join(file))
        .and_then(|opened| opened.take(LARGEST + 1).read_to_end(&mut bytes))
        .map_err(|error| {
            Failure::misuse(
                format!("{name} cannot be read: {error}."),
                "Check the path.",
            )
        })?;
    if bytes.len() as u64 > LARGEST {
        return Err(Failure::misuse(
            format!("{name} is larger than 32 MiB."),
            "Trajectories are at most 32 MiB.",
        ));
    }
    let report = check_bytes(&bytes);
    if json {
        context.console.say(pretty(&report)?);
    } else {
        let console = &mut context.console;
        for (word, problems) in [("error", &report.errors), ("warning", &report.warnings)] {
            for problem in problems {
                let at = if problem.path.is_empty() {
                    String::new()
                } else {
                    format!("{}: ", visible(&problem.path))
                };
                console.say(format!("{word}: {at}{}", visible(&problem.message)));
            }
        }
        console.say(format!(
            "{}: {}, {}, {}",
            visible(&name.to_string()),
            if report.valid { "valid" } else { "not valid" },
            count(report.steps, "step"),
            count(report.tool_calls, "tool call"),
        ));
    }
    Ok(if report.valid {
        Exit::Met
    } else {
        Exit::NotMet
    })
}
