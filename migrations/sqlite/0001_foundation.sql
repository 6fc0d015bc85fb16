-- Ids are UUIDv7 text, times are microseconds since 1970-01-01 UTC, JSON is text, yes and no are 1 and 0.
-- Every table that belongs to a workspace carries workspace_id, and every statement on it names it.

CREATE TABLE key_check (
    key_id TEXT NOT NULL PRIMARY KEY,
    nonce BLOB NOT NULL,
    sealed BLOB NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

-- People -------------------------------------------------------------------------------------------------------------

CREATE TABLE person (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    display_name TEXT NOT NULL,
    password_hash TEXT,
    owner INTEGER NOT NULL,
    disabled_at INTEGER,
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE setup_link (
    token_hash TEXT NOT NULL PRIMARY KEY,
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE session (
    token_hash TEXT NOT NULL PRIMARY KEY,
    person_id TEXT NOT NULL REFERENCES person (id),
    created_at INTEGER NOT NULL,
    last_seen_at INTEGER NOT NULL
) STRICT;
CREATE INDEX session_person ON session (person_id);

CREATE TABLE token (
    id TEXT NOT NULL PRIMARY KEY,
    person_id TEXT NOT NULL REFERENCES person (id),
    name TEXT NOT NULL,
    secret_hash TEXT NOT NULL UNIQUE,
    scopes TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    last_used_at INTEGER,
    revoked_at INTEGER
) STRICT;
CREATE INDEX token_person ON token (person_id);

CREATE TABLE sign_in_failure (
    id TEXT NOT NULL PRIMARY KEY,
    account TEXT NOT NULL,
    ip TEXT NOT NULL,
    at INTEGER NOT NULL
) STRICT;
CREATE INDEX sign_in_failure_account ON sign_in_failure (account, ip, at);

-- Workspaces ---------------------------------------------------------------------------------------------------------

-- People and workspaces share one namespace: a personal workspace has its person's name.
CREATE TABLE workspace (
    id TEXT NOT NULL PRIMARY KEY,
    slug TEXT NOT NULL UNIQUE,
    personal_of TEXT UNIQUE REFERENCES person (id),
    next_run INTEGER NOT NULL DEFAULT 1,
    -- Raised by every change of datasets, so that a sync notices what changed since it linted.
    revision INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE member (
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    person_id TEXT NOT NULL REFERENCES person (id),
    role TEXT NOT NULL,
    PRIMARY KEY (workspace_id, person_id, role)
) STRICT;
CREATE INDEX member_person ON member (person_id);

-- Datasets and cases -------------------------------------------------------------------------------------------------

CREATE TABLE dataset (
    id TEXT NOT NULL PRIMARY KEY,
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    slug TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    synced_at INTEGER,
    synced_by TEXT,
    UNIQUE (workspace_id, slug)
) STRICT;

-- The newest version of each case, with what tables of cases show and search.
CREATE TABLE case_head (
    id TEXT NOT NULL PRIMARY KEY,
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    dataset_id TEXT NOT NULL REFERENCES dataset (id),
    case_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    version_id TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    question TEXT NOT NULL,
    search TEXT NOT NULL,
    tags TEXT NOT NULL,
    -- Names of the scores that the case can have, overlays apart.
    scores TEXT NOT NULL,
    factual INTEGER NOT NULL,
    derived INTEGER NOT NULL,
    reading INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    archived_at INTEGER,
    UNIQUE (workspace_id, case_id)
) STRICT;
CREATE INDEX case_head_changed ON case_head (dataset_id, changed_at);
CREATE INDEX case_head_id ON case_head (dataset_id, case_id);

CREATE TABLE case_tag (
    workspace_id TEXT NOT NULL,
    dataset_id TEXT NOT NULL,
    tag TEXT NOT NULL,
    head_id TEXT NOT NULL REFERENCES case_head (id),
    PRIMARY KEY (dataset_id, tag, head_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX case_tag_head ON case_tag (head_id);

CREATE TABLE case_version (
    id TEXT NOT NULL PRIMARY KEY,
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    head_id TEXT NOT NULL REFERENCES case_head (id),
    number INTEGER NOT NULL,
    canonical TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    yaml TEXT NOT NULL,
    origin TEXT NOT NULL,
    author TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    UNIQUE (head_id, number)
) STRICT;
CREATE TRIGGER case_version_immutable BEFORE UPDATE ON case_version
BEGIN
    SELECT RAISE(ABORT, 'a case version never changes');
END;

CREATE TABLE overlay (
    id TEXT NOT NULL PRIMARY KEY,
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    dataset_id TEXT NOT NULL REFERENCES dataset (id),
    extends TEXT NOT NULL,
    position INTEGER NOT NULL,
    content TEXT NOT NULL
) STRICT;
CREATE INDEX overlay_target ON overlay (workspace_id, extends);
CREATE INDEX overlay_dataset ON overlay (dataset_id);

CREATE TABLE fixture (
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    dataset_id TEXT NOT NULL REFERENCES dataset (id),
    key TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    context TEXT NOT NULL,
    PRIMARY KEY (dataset_id, key)
) STRICT;
CREATE INDEX fixture_bytes ON fixture (workspace_id, sha256);

-- Bytes are stored once per hash; a workspace has only those that were sent to it (kind: fixture or run).
CREATE TABLE blob_ref (
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    sha256 TEXT NOT NULL,
    kind TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, sha256, kind)
) STRICT;

-- Agents -------------------------------------------------------------------------------------------------------------

CREATE TABLE secret (
    id TEXT NOT NULL PRIMARY KEY,
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    origin TEXT NOT NULL,
    key_id TEXT NOT NULL,
    nonce BLOB NOT NULL,
    sealed BLOB NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE agent (
    id TEXT NOT NULL PRIMARY KEY,
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    name TEXT NOT NULL,
    config TEXT NOT NULL,
    secret_id TEXT REFERENCES secret (id),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (workspace_id, name)
) STRICT;

-- The last probe of an agent as seen from a workspace.
CREATE TABLE agent_check (
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    agent TEXT NOT NULL,
    outcome TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, agent)
) STRICT;

-- Experiments and their queue ----------------------------------------------------------------------------------------

CREATE TABLE experiment (
    id TEXT NOT NULL PRIMARY KEY,
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    number INTEGER NOT NULL,
    dataset_id TEXT NOT NULL REFERENCES dataset (id),
    agent TEXT NOT NULL,
    split TEXT,
    trials INTEGER NOT NULL,
    concurrency INTEGER NOT NULL,
    state TEXT NOT NULL,
    frozen TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_by_id TEXT,
    created_at INTEGER NOT NULL,
    finished_at INTEGER,
    UNIQUE (workspace_id, number)
) STRICT;
CREATE INDEX experiment_dataset ON experiment (dataset_id, agent, number);
CREATE INDEX experiment_open ON experiment (workspace_id, created_at) WHERE finished_at IS NULL;

-- The frozen list: which version of which case, with the overlays that applied (null: none).
CREATE TABLE experiment_case (
    experiment_id TEXT NOT NULL REFERENCES experiment (id),
    case_id TEXT NOT NULL,
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    position INTEGER NOT NULL,
    version INTEGER NOT NULL,
    version_id TEXT NOT NULL REFERENCES case_version (id),
    overlays TEXT,
    PRIMARY KEY (experiment_id, case_id)
) STRICT;

-- How many planned trials can have each score: the M of "over N of M".
CREATE TABLE experiment_score (
    experiment_id TEXT NOT NULL REFERENCES experiment (id),
    name TEXT NOT NULL,
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    planned INTEGER NOT NULL,
    PRIMARY KEY (experiment_id, name)
) STRICT;

CREATE TABLE trial (
    id TEXT NOT NULL PRIMARY KEY,
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    experiment_id TEXT NOT NULL REFERENCES experiment (id),
    case_id TEXT NOT NULL,
    trial INTEGER NOT NULL,
    position INTEGER NOT NULL,
    idempotency_key TEXT NOT NULL,
    state TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    -- The fence: raised at every claim, named in every write of the worker that holds the trial.
    epoch INTEGER NOT NULL DEFAULT 0,
    lease_owner TEXT,
    lease_until INTEGER,
    not_before INTEGER NOT NULL DEFAULT 0,
    stage TEXT,
    error_class TEXT,
    error_message TEXT,
    colour TEXT NOT NULL DEFAULT 'open',
    satisfied INTEGER NOT NULL DEFAULT 0,
    asked INTEGER NOT NULL DEFAULT 0,
    unscored INTEGER NOT NULL DEFAULT 0,
    needs_a_look INTEGER NOT NULL DEFAULT 0,
    -- One line on what fell, made from the grades when the trial ends.
    what TEXT NOT NULL DEFAULT '',
    latency_ms INTEGER,
    cost_usd REAL,
    started_at INTEGER,
    recorded_at INTEGER,
    ended_at INTEGER,
    UNIQUE (experiment_id, case_id, trial)
) STRICT;
CREATE INDEX trial_queue ON trial (experiment_id, state, position);
CREATE INDEX trial_lease ON trial (lease_until) WHERE state IN ('running', 'recorded', 'grading');
CREATE INDEX trial_case ON trial (workspace_id, case_id);

-- What the agent returned. Trajectory bytes as received: here when small, else a blob.
CREATE TABLE recorded_run (
    trial_id TEXT NOT NULL PRIMARY KEY REFERENCES trial (id),
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    run TEXT NOT NULL,
    answer TEXT,
    -- The answer held a NUL, which was written as U+2400.
    answer_marked INTEGER NOT NULL DEFAULT 0,
    -- The answer or the agent's words hold text that addresses a grader.
    addresses_grader INTEGER NOT NULL DEFAULT 0,
    trajectory_sha256 TEXT,
    trajectory_bytes INTEGER,
    trajectory BLOB
) STRICT;

CREATE TABLE grade (
    trial_id TEXT NOT NULL REFERENCES trial (id),
    evaluator TEXT NOT NULL,
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    position INTEGER NOT NULL,
    grade TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (trial_id, evaluator)
) STRICT;

-- Published scores of ended trials as counts, for pooling.
CREATE TABLE trial_score (
    experiment_id TEXT NOT NULL REFERENCES experiment (id),
    name TEXT NOT NULL,
    trial_id TEXT NOT NULL REFERENCES trial (id),
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    case_id TEXT NOT NULL,
    num REAL NOT NULL,
    den REAL NOT NULL,
    PRIMARY KEY (experiment_id, name, trial_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX trial_score_trial ON trial_score (trial_id);

-- What fell in ended trials, for grouping alike failures.
CREATE TABLE trial_failure (
    experiment_id TEXT NOT NULL REFERENCES experiment (id),
    trial_id TEXT NOT NULL REFERENCES trial (id),
    position INTEGER NOT NULL,
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    case_id TEXT NOT NULL,
    trial INTEGER NOT NULL,
    failure TEXT NOT NULL,
    PRIMARY KEY (experiment_id, trial_id, position)
) STRICT, WITHOUT ROWID;

-- The newest experiment that holds a case, per agent, and how the case stands there.
CREATE TABLE latest_result (
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    case_id TEXT NOT NULL,
    agent TEXT NOT NULL,
    dataset_id TEXT NOT NULL REFERENCES dataset (id),
    experiment_id TEXT NOT NULL REFERENCES experiment (id),
    run INTEGER NOT NULL,
    colour TEXT NOT NULL,
    satisfied INTEGER NOT NULL,
    asked INTEGER NOT NULL,
    what TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, case_id, agent)
) STRICT;
CREATE INDEX latest_result_dataset ON latest_result (dataset_id, agent, colour);
CREATE INDEX latest_result_red ON latest_result (workspace_id, colour, at);

-- What live streams replay.
CREATE TABLE event (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    experiment_id TEXT NOT NULL REFERENCES experiment (id),
    kind TEXT NOT NULL,
    data TEXT NOT NULL,
    at INTEGER NOT NULL
) STRICT;
CREATE INDEX event_experiment ON event (experiment_id, id);

-- Audit --------------------------------------------------------------------------------------------------------------

CREATE TABLE audit (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    workspace_id TEXT REFERENCES workspace (id),
    at INTEGER NOT NULL,
    actor_id TEXT,
    actor TEXT NOT NULL,
    token_id TEXT,
    request_id TEXT NOT NULL,
    ip TEXT NOT NULL,
    action TEXT NOT NULL,
    object TEXT NOT NULL,
    detail TEXT NOT NULL
) STRICT;
CREATE INDEX audit_workspace ON audit (workspace_id, id);
CREATE TRIGGER audit_no_update BEFORE UPDATE ON audit
BEGIN
    SELECT RAISE(ABORT, 'the audit trail is append-only');
END;
CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit
BEGIN
    SELECT RAISE(ABORT, 'the audit trail is append-only');
END;
