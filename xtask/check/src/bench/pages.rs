//! The time of the server.

use std::{fs, time::Instant};

use anyhow::{Context, Result};

use super::{Figure, figure::median_and_p99};
use crate::{
    build::{self, Mode},
    repo::Repo,
    served::{Answer, Served},
};

/// Requests that are measured, after as many that are not.
const REQUESTS: usize = 200;
/// Links followed from Home to a case, the nearest to a case first: a dataset, a workspace.
const WAY: [&str; 2] = ["/d/", "/w/"];

/// Start-up of a built tree with empty data and with data that is there, and the case page.
///
/// # Errors
/// When the build fails, the server does not start, or no case page is found.
pub fn server(repo: &Repo) -> Result<Vec<Figure>> {
    build::all(repo, Mode::Release)?.print();
    let data = repo.target("bench/data");
    if data.exists() {
        fs::remove_dir_all(&data)?;
    }
    fs::create_dir_all(&data)?;
    let log = repo.target("bench/server.log");
    let first = Served::start(repo, Mode::Release, &data, &log)?;
    let mut figures = vec![Figure::new(
        "evalkit serve --demo, empty data, first answer",
        millis(first.started_in()),
        "ms",
    )];
    first.stop()?;
    let server = Served::start(repo, Mode::Release, &data, &log)?;
    figures.push(
        Figure::new(
            "evalkit serve --demo, again, first answer",
            millis(server.started_in()),
            "ms",
        )
        .at_most(1000.0),
    );

    let (path, cookie) = case_page(&server)?;
    println!("   case page: {path}");
    let mut times = Vec::with_capacity(REQUESTS);
    for round in 0..2 * REQUESTS {
        let start = Instant::now();
        let answer = server.get_as(&path, &cookie)?;
        anyhow::ensure!(answer.status == 200, "{path} answered {}", answer.status);
        if round >= REQUESTS {
            times.push(millis(start.elapsed()));
        }
    }
    let (median, p99) = median_and_p99(times);
    figures.push(Figure::new("case page, whole answer, median of 200", median, "ms").at_most(20.0));
    figures.push(Figure::new(
        "case page, whole answer, 99th percentile",
        p99,
        "ms",
    ));
    server.stop()?;
    Ok(figures)
}

fn millis(time: std::time::Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// Finds a case page as a person would: from Home, by its links, with the cookies the demo sets.
fn case_page(server: &Served) -> Result<(String, String)> {
    let mut cookie = String::new();
    let mut path = "/".to_owned();
    let mut seen = Vec::new();
    for _ in 0..8 {
        let answer = follow(server, &path, &mut cookie)?;
        if let Some(link) = answer.links().find(|link| is_case(link)) {
            return Ok((link.to_owned(), cookie));
        }
        seen.push(path.clone());
        let next = WAY
            .iter()
            .filter_map(|part| answer.links().find(|link| link.contains(part)))
            .find(|link| !seen.iter().any(|old| old == link));
        path = next
            .with_context(|| format!("no way to a case page: {path} has no link on"))?
            .to_owned();
    }
    anyhow::bail!("no case page within eight links: {}", seen.join(" "))
}

/// `/w/<workspace>/d/<dataset>/c/<case>`, and not one of its versions or a result of it.
fn is_case(address: &str) -> bool {
    let parts: Vec<&str> = address.split('/').collect();
    matches!(parts[..], ["", "w", _, "d", _, "c", _])
}

fn follow(server: &Served, path: &str, cookie: &mut String) -> Result<Answer> {
    let mut path = path.to_owned();
    for _ in 0..5 {
        let answer = server.get_as(&path, cookie)?;
        let set = answer.cookies();
        if !set.is_empty() {
            *cookie = set;
        }
        match answer.header("location") {
            Some(next) if (300..400).contains(&answer.status) => path = next.to_owned(),
            _ => return Ok(answer),
        }
    }
    anyhow::bail!("{path} leads in a circle")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_is_not_its_result() {
        assert!(is_case("/w/demo/d/world-facts/c/adult-bmi-category"));
        assert!(!is_case("/w/demo/runs/2/c/adult-bmi-category"));
        assert!(!is_case("/w/demo/d/world-facts"));
    }
}
