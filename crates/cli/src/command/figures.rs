//! `evalkit figures`: how a number will match (`grading.md`, Numbers), for authors who wonder.

use std::io::{BufRead, BufReader};
use std::path::Path;

use evalkit_core::figures::{self, Opinion};
use serde::Deserialize;

use super::{Context, line};
use crate::args::FiguresArgs;
use crate::console::visible;
use crate::exit::{Exit, Failure, Outcome};

/// One line of a batch.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Pair {
    rubric: String,
    answer: String,
}

/// Prints the opinion on one pair, or on each of a batch, in order.
pub(super) fn run(args: &FiguresArgs, context: &mut Context) -> Outcome {
    if let (Some(rubric), Some(answer)) = (&args.rubric, &args.answer) {
        print(&figures::judge(rubric, answer), args.json, context)?;
    } else if let Some(path) = &args.batch {
        batch(path, args.json, context)?;
    }
    Ok(Exit::Met)
}

fn batch(path: &Path, json: bool, context: &mut Context) -> Result<(), Failure> {
    let name = path.display().to_string();
    let unreadable = |error: std::io::Error| {
        Failure::misuse(
            format!("{name} cannot be read: {error}."),
            "Check the path.",
        )
    };
    let reader: Box<dyn BufRead> = if path == Path::new("-") {
        Box::new(BufReader::new(std::io::stdin()))
    } else {
        let file = std::fs::File::open(context.environment.folder.join(path));
        Box::new(BufReader::new(file.map_err(unreadable)?))
    };
    for (i, text) in reader.lines().enumerate() {
        let text = text.map_err(unreadable)?;
        if text.trim().is_empty() {
            continue;
        }
        let pair: Pair = serde_json::from_str(&text).map_err(|error| {
            Failure::misuse(
                format!("{name}, line {}: {error}.", i + 1),
                "Each line is an object with `rubric` and `answer`.",
            )
        })?;
        print(&figures::judge(&pair.rubric, &pair.answer), json, context)?;
    }
    Ok(())
}

fn print(opinion: &Opinion, json: bool, context: &mut Context) -> Result<(), Failure> {
    let console = &mut context.console;
    if json {
        console.say(line(opinion)?);
        return Ok(());
    }
    let list = |figures: &[figures::SeenFigure]| {
        let texts: Vec<&str> = figures.iter().map(|figure| figure.text.as_str()).collect();
        if texts.is_empty() {
            "none".to_owned()
        } else {
            visible(&texts.join(", ")).into_owned()
        }
    };
    console.say(opinion.result.as_str());
    console.say(format!("  why            {}", visible(&opinion.why)));
    if !opinion.criteria.is_empty() {
        let criteria = opinion.criteria.join("; ");
        console.say(format!("  criterion      {}", visible(&criteria)));
    }
    console.say(format!(
        "  in the rubric  {}",
        list(&opinion.rubric_figures)
    ));
    console.say(format!(
        "  in the answer  {}",
        list(&opinion.answer_figures)
    ));
    Ok(())
}
