//! A judge model's endpoint over plain TCP that says what a script tells it, in the form of whichever provider is asked,
//! with a ledger of every request.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use evalkit_core::case::{Input, RubricType};
use evalkit_core::judge::{JudgeTask, Judged, TaskEntry};
use evalkit_core::score::Bars;
use evalkit_engine::egress::{Egress, EgressSettings};
use evalkit_engine::judge::{Endpoints, Judge, JudgeConfig, JudgePace, JudgeProvider, Ledger};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};

use crate::fake_agent::{request, say};

/// The key that every judge of these tests sends.
pub const KEY: &str = "judge-key-that-nobody-sees";

/// One request as the judge saw it.
#[derive(Debug, Clone)]
pub struct Asked {
    pub at: Instant,
    pub head: String,
    pub body: Value,
    /// What the model reads, the system's part apart.
    pub user: String,
    /// The ids that are asked for.
    pub ids: Vec<String>,
}

impl Asked {
    fn of(head: String, body: &str) -> Self {
        let body: Value = serde_json::from_str(body).unwrap_or_default();
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let user = text(&body["messages"][1]["content"])
            .or_else(|| text(&body["messages"][0]["content"]))
            .or_else(|| text(&body["contents"][0]["parts"][0]["text"]))
            .unwrap_or_default();
        let list = user
            .rsplit("Give a verdict on each of: ")
            .next()
            .unwrap_or_default();
        let ids = list
            .trim_end_matches('.')
            .split(", ")
            .map(str::to_owned)
            .collect();
        Self {
            at: Instant::now(),
            head,
            user,
            ids,
            body,
        }
    }

    /// The inside of a block of data.
    pub fn block(&self, name: &str) -> Option<&str> {
        let key = self
            .user
            .split("The key of this request is ")
            .nth(1)?
            .get(..32)?;
        let opening = format!("<evalkit-data key=\"{key}\" name=\"{name}\">\n");
        let closing = format!("\n</evalkit-data key=\"{key}\">");
        let inside = self.user.split_once(&opening)?.1;
        Some(inside.split_once(&closing)?.0)
    }

    /// Something that may be quoted from the answer.
    pub fn quote(&self) -> String {
        let line = self
            .block("answer")
            .and_then(|answer| answer.lines().find(|l| !l.trim().is_empty()));
        line.unwrap_or_default().trim().chars().take(30).collect()
    }

    /// An entry of a reply with everything in place.
    pub fn entry(&self, id: &str, verdict: &str) -> Value {
        let evidence = if verdict == "absent" {
            json!([])
        } else {
            json!([self.quote()])
        };
        json!({"id": id, "evidence": evidence, "reasoning": "It says so.", "verdict": verdict, "said": null, "source": null})
    }

    /// A whole reply with one verdict on everything asked.
    pub fn reply(&self, verdict: &str) -> String {
        let entries: Vec<Value> = self.ids.iter().map(|id| self.entry(id, verdict)).collect();
        json!({"verdicts": entries}).to_string()
    }
}

/// What the script says.
#[derive(Debug, Clone)]
pub enum Says {
    /// One verdict on everything asked.
    Verdict(&'static str),
    /// These words.
    Text(String),
    /// These words, cut at the limit of tokens.
    Cut(String),
    /// The provider's own sign of a refusal.
    Refusal(&'static str),
    /// A status with header lines and a body.
    Status(u16, String, String),
    /// This body with status 200.
    Body(String),
    /// Nothing, for as long as the client waits.
    Hangs,
    /// The connection ends.
    Closes,
    /// What comes after a pause.
    Slowly(Duration, Box<Says>),
}

type Script = dyn Fn(&Asked, usize) -> Says + Send + Sync;

/// A running judge. It ends with the test's runtime.
#[derive(Clone)]
pub struct ScriptedJudge {
    pub address: SocketAddr,
    ledger: Arc<Mutex<Vec<Asked>>>,
    /// Requests in hand at once, and the most there were.
    busy: Arc<(AtomicUsize, AtomicUsize)>,
}

impl ScriptedJudge {
    /// Starts a judge; the script gets each request and its number from 0.
    pub async fn start(script: impl Fn(&Asked, usize) -> Says + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let judge = Self {
            address: listener.local_addr().unwrap(),
            ledger: Arc::default(),
            busy: Arc::default(),
        };
        let script: Arc<Script> = Arc::new(script);
        let serving = judge.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serving.clone().connection(stream, Arc::clone(&script)));
            }
        });
        judge
    }

    /// A judge that is satisfied with everything.
    pub async fn satisfied() -> Self {
        Self::start(|_, _| Says::Verdict("satisfied")).await
    }

    pub fn ledger(&self) -> Vec<Asked> {
        self.ledger.lock().unwrap().clone()
    }

    pub fn calls(&self) -> usize {
        self.ledger.lock().unwrap().len()
    }

    pub fn most_at_once(&self) -> usize {
        self.busy.1.load(Ordering::SeqCst)
    }

    /// A configuration that asks this judge.
    pub fn config(&self, provider: JudgeProvider) -> JudgeConfig {
        JudgeConfig {
            provider,
            base_url: Some(format!("http://{}/v1", self.address)),
            model: Some("scripted-1".to_owned()),
            api_key_env: Some("KEY".to_owned()),
            ..JudgeConfig::default()
        }
    }

    async fn connection(self, mut stream: TcpStream, script: Arc<Script>) {
        while let Some((head, body)) = request(&mut stream).await {
            let asked = Asked::of(head, &body);
            let number = {
                let mut ledger = self.ledger.lock().unwrap();
                ledger.push(asked.clone());
                ledger.len() - 1
            };
            let now = self.busy.0.fetch_add(1, Ordering::SeqCst) + 1;
            self.busy.1.fetch_max(now, Ordering::SeqCst);
            let says = script(&asked, number);
            let goes_on = utter(&mut stream, &asked, says).await;
            self.busy.0.fetch_sub(1, Ordering::SeqCst);
            if !goes_on {
                return;
            }
        }
    }
}

async fn utter(stream: &mut TcpStream, asked: &Asked, says: Says) -> bool {
    const JSON: &str = "content-type: application/json\r\n";
    let (status, headers, body) = match says {
        Says::Verdict(verdict) => (
            200,
            JSON.to_owned(),
            spoken(asked, &asked.reply(verdict), End::Whole),
        ),
        Says::Text(text) => (200, JSON.to_owned(), spoken(asked, &text, End::Whole)),
        Says::Cut(text) => (200, JSON.to_owned(), spoken(asked, &text, End::Cut)),
        Says::Refusal(words) => (200, JSON.to_owned(), spoken(asked, words, End::Refused)),
        Says::Status(status, headers, body) => (status, headers, body),
        Says::Body(body) => (200, JSON.to_owned(), body),
        Says::Hangs => {
            tokio::time::sleep(Duration::from_secs(120)).await;
            return false;
        }
        Says::Closes => {
            let _ = stream.shutdown().await;
            return false;
        }
        Says::Slowly(pause, says) => {
            tokio::time::sleep(pause).await;
            return Box::pin(utter(stream, asked, *says)).await;
        }
    };
    say(stream, &format!("{status} X"), &headers, body.as_bytes()).await
}

#[derive(PartialEq)]
enum End {
    Whole,
    Cut,
    Refused,
}

/// A reply in the form of the provider that was asked.
fn spoken(asked: &Asked, text: &str, end: End) -> String {
    if asked.head.contains("/messages ") {
        let reason = match end {
            End::Whole => "end_turn",
            End::Cut => "max_tokens",
            End::Refused => "refusal",
        };
        return json!({"content": [{"type": "text", "text": text}], "stop_reason": reason,
            "usage": {"input_tokens": 1000, "output_tokens": 100}})
        .to_string();
    }
    if asked.head.contains(":generatecontent ") {
        let reason = match end {
            End::Whole => "STOP",
            End::Cut => "MAX_TOKENS",
            End::Refused => "SAFETY",
        };
        return json!({"candidates": [{"content": {"parts": [{"text": text}]}, "finishReason": reason}],
            "usageMetadata": {"promptTokenCount": 1000, "candidatesTokenCount": 100}})
        .to_string();
    }
    let (content, refusal) = match end {
        End::Refused => (Value::Null, json!(text)),
        _ => (json!(text), Value::Null),
    };
    let reason = if end == End::Cut { "length" } else { "stop" };
    json!({"choices": [{"message": {"role": "assistant", "content": content, "refusal": refusal}, "finish_reason": reason}],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 100}})
    .to_string()
}

/// Judges that wait a hundredth as long as in production.
pub fn quick() -> JudgePace {
    JudgePace {
        allowed: Duration::from_millis(1_500),
        first_pause: Duration::from_millis(5),
        longest_pause: Duration::from_millis(40),
        longest_asked: Duration::from_secs(5),
        rest: Duration::from_millis(400),
    }
}

/// Endpoints that may call loopback, with the key in place.
pub fn endpoints(pace: JudgePace) -> Endpoints {
    let egress = Egress::new(EgressSettings::default());
    Endpoints::new(egress, [("KEY".to_owned(), KEY.to_owned())].into(), pace)
}

/// A judge of that configuration, with a set of endpoints of its own.
pub fn open(config: &JudgeConfig, second: Option<&JudgeConfig>) -> Judge {
    Judge::open(
        config,
        second,
        std::path::Path::new(""),
        &endpoints(quick()),
    )
    .unwrap()
}

/// A task about `n` rubrics without sources.
pub fn task(n: usize, answer: &str) -> Arc<JudgeTask> {
    Arc::new(JudgeTask {
        case_id: "everest".to_owned(),
        trial: 1,
        evaluator: Judged::AnswerRubrics,
        input: Input {
            question: Some("How high is Mount Everest?".to_owned()),
            ..Input::default()
        },
        entries: (1..=n)
            .map(|i| TaskEntry {
                text: format!("States fact number {i}."),
                kind: Some(RubricType::FactualRetrieval),
                source: None,
                rule: None,
            })
            .collect(),
        texts: vec![answer.to_owned()],
        trajectory: None,
        bars: Bars::new(),
    })
}

/// What became of each entry: a verdict's word, or why there is none.
pub async fn outcome(judge: &Judge, task: &Arc<JudgeTask>, ledger: &Ledger) -> Vec<String> {
    let judgement = judge.judge(task, ledger).await;
    assert_eq!(judgement.entries.len(), task.entries.len());
    judgement
        .entries
        .iter()
        .map(|entry| match &entry.verdict {
            Ok(verdict) => serde_json::to_value(verdict)
                .unwrap()
                .as_str()
                .unwrap()
                .to_owned(),
            Err(why) => why.as_str().to_owned(),
        })
        .collect()
}
