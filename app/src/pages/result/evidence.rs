//! Which passages of the answer are marked, and how.

use evalkit_core::verdict::{RubricVerdict, Verdict};

use crate::ui::{EvidenceKind, Highlight};

/// One highlight a quote, in case order, then one for each wrong source that the answer names. Those of `selected` are lit.
pub fn highlights(rubrics: &[RubricVerdict], selected: Option<&str>) -> Vec<Highlight> {
    let mut out = Vec::new();
    for (index, verdict) in rubrics.iter().enumerate() {
        let number = index + 1;
        let rubric = format!("R{number}");
        let lit = selected == Some(rubric.as_str());
        let kind = if verdict.needs_a_look {
            EvidenceKind::NeedsALook
        } else if verdict.verdict == Some(Verdict::Satisfied) {
            EvidenceKind::Satisfied
        } else {
            EvidenceKind::Incorrect
        };
        for quote in &verdict.evidence {
            out.push(Highlight {
                quote: quote.clone(),
                kind,
                rubric: rubric.clone(),
                label: number.to_string(),
                lit,
            });
        }
        if let Some(cited) = wrong_source(verdict) {
            out.push(Highlight {
                quote: cited.to_owned(),
                kind: EvidenceKind::Incorrect,
                rubric: rubric.clone(),
                label: format!("{number} source"),
                lit,
            });
        }
    }
    out
}

fn wrong_source(verdict: &RubricVerdict) -> Option<&str> {
    let source = verdict.source.as_ref()?;
    (source.verdict == Some(Verdict::Incorrect))
        .then_some(source.cited.as_deref())
        .flatten()
}

#[cfg(test)]
mod tests {
    use evalkit_core::case::RubricType;
    use evalkit_core::verdict::SourceVerdict;

    use super::*;

    #[test]
    fn a_wrong_source_is_marked_apart_from_the_fact() {
        let verdict = RubricVerdict {
            rubric: "States 468.0".to_owned(),
            kind: RubricType::FactualRetrieval,
            verdict: Some(Verdict::Satisfied),
            unscored: None,
            evidence: vec!["from £468.0m".to_owned()],
            said: None,
            reason: None,
            source: Some(SourceVerdict {
                expected: "annual report".to_owned(),
                verdict: Some(Verdict::Incorrect),
                cited: Some("Northgate Wire".to_owned()),
            }),
            second_opinion: None,
            needs_a_look: false,
            overridden: None,
            how: Default::default(),
        };
        let marks = highlights(&[verdict], Some("R2"));
        assert_eq!(marks.len(), 2);
        assert_eq!(
            (marks[0].kind, marks[0].label.as_str()),
            (EvidenceKind::Satisfied, "1")
        );
        assert_eq!(
            (
                marks[1].kind,
                marks[1].rubric.as_str(),
                marks[1].label.as_str()
            ),
            (EvidenceKind::Incorrect, "R1", "1 source")
        );
        assert!(marks.iter().all(|mark| !mark.lit));
    }
}
