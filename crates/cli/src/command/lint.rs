//! `evalkit lint`: every problem of case files, offline.

use std::path::Path;

use evalkit_core::name::Address;
use evalkit_lint::{LintFacts, Severity};

use super::agent::workspace_of;
use super::{Context, pretty};
use crate::args::{Format, LintArgs};
use crate::dataset::{Dataset, read_facts};
use crate::diagnostics;
use crate::exit::{Exit, Failure, Outcome};
use crate::project::Project;
use crate::server::Server;

/// Exit 0 clean, 1 errors (or warnings that are denied), 3 unusable input.
pub(super) async fn run(args: &LintArgs, context: &mut Context) -> Outcome {
    let folder = context.environment.folder.clone();
    let project = Project::find(&folder, args.paths.first().map(|path| path.as_path()))?;
    let facts = match &args.facts {
        Some(path) => read_facts(&folder, path)?,
        None => match &args.dataset {
            Some(dataset) => fetch(dataset, &project, context).await?,
            None => LintFacts::default(),
        },
    };
    let paths = args.paths.iter().map(|path| path.as_path() as &Path);
    let dataset = Dataset::read(paths, &project, facts, context)?;
    let document = dataset.report.document(dataset.files.len(), args.hints);
    match args.format {
        Format::Json => context.console.say(pretty(&document)?),
        Format::Github => {
            for line in diagnostics::github(&document).lines() {
                context.console.say(line);
            }
            context.console.note(diagnostics::summary(&document));
        }
        Format::Text => {
            let text = diagnostics::text(&document, &dataset.files, context.console.colour);
            context.console.say(text.trim_end());
        }
    }
    let denied = args.deny_warnings && dataset.report.count(Severity::Warning) > 0;
    Ok(if dataset.report.has_errors() || denied {
        Exit::NotMet
    } else {
        Exit::Met
    })
}

/// What the server knows beside the dataset. Where fixture bytes lie is for `sync` to ask.
async fn fetch(
    dataset: &str,
    project: &Project,
    context: &mut Context,
) -> Result<LintFacts, Failure> {
    let address = Address::parse(dataset).map_err(|error| {
        Failure::misuse(
            format!("`{dataset}` names no dataset."),
            format!("{error}."),
        )
    })?;
    let server = Server::of(project, context)?;
    let workspace = workspace_of(address.workspace, &server).await?;
    let facts: LintFacts = server
        .get(&["w", &workspace, "d", &address.slug, "facts"])
        .await?;
    Ok(LintFacts {
        fixture_files: None,
        ..facts
    })
}
