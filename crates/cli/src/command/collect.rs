//! `evalkit collect`: an experiment's results as files or on standard output (`runs.md`, Results).

mod bundle;
mod junit;
mod markdown;

use std::io::Write as _;
use std::path::Path;

use evalkit_core::name::is_slug;
use evalkit_core::results::Results;
use futures::StreamExt as _;
use url::Url;

use super::agent::workspace_of;
use super::{Context, pretty};
use crate::args::{CollectArgs, CollectFormat};
use crate::exit::{Exit, Failure, Outcome};
use crate::project::Project;
use crate::scores;
use crate::server::Server;

/// Exit 2 when anything is not done or unscored, else 1 below the threshold, else 0.
pub(super) async fn run(args: &CollectArgs, context: &mut Context) -> Outcome {
    scores::check_threshold(args.threshold)?;
    let project = Project::find(&context.environment.folder, None)?;
    let server = Server::of(&project, context)?;
    let (number, workspace) =
        reference(&args.experiment, args.workspace.clone(), &server.origin())?;
    let workspace = workspace_of(workspace, &server).await?;
    let number = number.to_string();
    let path = ["w", workspace.as_str(), "runs", number.as_str()];
    let results: Results = server
        .get(&[path[0], path[1], path[2], path[3], "results"])
        .await?;
    let recorded = [path[0], path[1], path[2], path[3], "recorded"];
    match &args.out {
        Some(folder) => {
            let folder = context.environment.folder.join(folder);
            let runs = folder.join("runs.jsonl");
            bundle::begin(&folder)?;
            download(&server, &recorded, &runs).await?;
            bundle::write(&folder, &results, &runs)?;
            match args.format {
                CollectFormat::Json => {
                    std::fs::remove_file(&runs).map_err(|e| bundle::failed(&runs, &e))?
                }
                CollectFormat::Runs => {}
                CollectFormat::Junit => {
                    bundle::put(&folder.join("junit.xml"), &junit::report(&results))?;
                    std::fs::remove_file(&runs).map_err(|e| bundle::failed(&runs, &e))?;
                }
                CollectFormat::Markdown => {
                    bundle::put(&folder.join("results.md"), &markdown::report(&results))?;
                    std::fs::remove_file(&runs).map_err(|e| bundle::failed(&runs, &e))?;
                }
            }
            context.console.note(format!("wrote {}", folder.display()));
        }
        None => match args.format {
            CollectFormat::Json => context.console.say(pretty(&results)?),
            CollectFormat::Junit => context.console.say(junit::report(&results).trim_end()),
            CollectFormat::Markdown => context.console.say(markdown::report(&results).trim_end()),
            CollectFormat::Runs => {
                let mut lines = server.open(&recorded, None).await?.bytes_stream();
                while let Some(chunk) = lines.next().await {
                    let chunk = chunk.map_err(|error| cut(&error))?;
                    context.console.pass(&chunk);
                }
            }
        },
    }
    Ok(scores::verdict(
        &results,
        args.threshold,
        &mut context.console,
    ))
}

async fn download(server: &Server, path: &[&str], to: &Path) -> Result<(), Failure> {
    let mut chunks = server.open(path, None).await?.bytes_stream();
    let failed = |error: std::io::Error| bundle::failed(to, &error);
    let mut file = std::fs::File::create(to).map_err(failed)?;
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|error| cut(&error))?;
        file.write_all(&chunk).map_err(failed)?;
    }
    Ok(())
}

fn cut(error: &reqwest::Error) -> Failure {
    Failure::new(
        Exit::Incomplete,
        format!("The connection broke in the middle of the recorded runs: {error}."),
        "Try again.",
    )
}

/// An experiment as people name it: `7`, `#7`, `7@dev`, or the address of its page on the server that is asked.
fn reference(
    written: &str,
    workspace: Option<String>,
    origin: &str,
) -> Result<(u64, Option<String>), Failure> {
    let refuse = || {
        Failure::misuse(
            format!("`{written}` names no experiment."),
            "Give the number in its link: `evalkit collect 7`, or `7@workspace`, or the link itself.",
        )
    };
    if let Some((site, page)) = written.split_once("/w/") {
        // A number means another experiment on another server.
        let elsewhere = !site.is_empty()
            && Url::parse(site).map_or(true, |url| url.origin().ascii_serialization() != origin);
        if elsewhere {
            return Err(Failure::misuse(
                format!("`{written}` is a page of another server than {origin}, which is asked."),
                "Name that server in EVALKIT_SERVER, with a token for it, or give the number of an experiment here.",
            ));
        }
        let mut parts = page.split(['/', '?', '#']);
        let (own, runs, number) = (parts.next(), parts.next(), parts.next());
        let own = own.filter(|own| is_slug(own) && runs == Some("runs"));
        let number = number.and_then(|number| number.parse().ok());
        return Ok((
            number.ok_or_else(refuse)?,
            Some(own.ok_or_else(refuse)?.to_owned()),
        ));
    }
    let (number, own) = match written.split_once('@') {
        Some((number, own)) if is_slug(own) => (number, Some(own.to_owned())),
        Some(_) => return Err(refuse()),
        None => (written, workspace),
    };
    let number = number.strip_prefix('#').unwrap_or(number);
    Ok((number.parse().map_err(|_| refuse())?, own))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn experiments_are_named_by_number_or_link() {
        let here = "http://127.0.0.1:3000";
        let read = |text: &str| reference(text, Some("mara".to_owned()), here).ok();
        assert_eq!(read("7"), Some((7, Some("mara".to_owned()))));
        assert_eq!(read("#7"), Some((7, Some("mara".to_owned()))));
        assert_eq!(read("7@dev"), Some((7, Some("dev".to_owned()))));
        assert_eq!(
            read("http://127.0.0.1:3000/w/dev/runs/12?trial=2"),
            Some((12, Some("dev".to_owned())))
        );
        assert_eq!(
            read("/w/dev/runs/12"),
            Some((12, Some("dev".to_owned()))),
            "without the server"
        );
        for bad in [
            "",
            "x",
            "-1",
            "7@",
            "7@A",
            "http://a/w/dev/d/x",
            "/w/../runs/1",
            "http://127.0.0.1:3001/w/dev/runs/12",
            "https://127.0.0.1:3000/w/dev/runs/12",
            "http://evil.example/w/dev/runs/12",
            "x/w/dev/runs/12",
        ] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
