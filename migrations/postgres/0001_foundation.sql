-- Ids are UUIDv7 text, times are microseconds since 1970-01-01 UTC, JSON is text, yes and no are 1 and 0.
-- Text is compared by its bytes, as SQLite does. Every table that belongs to a workspace carries workspace_id, and every
-- statement on it names it.

CREATE TABLE key_check (
    key_id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    nonce BYTEA NOT NULL,
    sealed BYTEA NOT NULL,
    created_at BIGINT NOT NULL
);

-- People -------------------------------------------------------------------------------------------------------------

CREATE TABLE person (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL UNIQUE,
    display_name TEXT COLLATE "C" NOT NULL,
    password_hash TEXT COLLATE "C",
    owner BIGINT NOT NULL,
    disabled_at BIGINT,
    created_at BIGINT NOT NULL
);

CREATE TABLE setup_link (
    token_hash TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    created_at BIGINT NOT NULL
);

CREATE TABLE session (
    token_hash TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    person_id TEXT COLLATE "C" NOT NULL REFERENCES person (id),
    created_at BIGINT NOT NULL,
    last_seen_at BIGINT NOT NULL
);
CREATE INDEX session_person ON session (person_id);

CREATE TABLE token (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    person_id TEXT COLLATE "C" NOT NULL REFERENCES person (id),
    name TEXT COLLATE "C" NOT NULL,
    secret_hash TEXT COLLATE "C" NOT NULL UNIQUE,
    scopes TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    last_used_at BIGINT,
    revoked_at BIGINT
);
CREATE INDEX token_person ON token (person_id);

CREATE TABLE sign_in_failure (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    account TEXT COLLATE "C" NOT NULL,
    ip TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL
);
CREATE INDEX sign_in_failure_account ON sign_in_failure (account, ip, at);

-- Workspaces ---------------------------------------------------------------------------------------------------------

-- People and workspaces share one namespace: a personal workspace has its person's name.
CREATE TABLE workspace (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    slug TEXT COLLATE "C" NOT NULL UNIQUE,
    personal_of TEXT COLLATE "C" UNIQUE REFERENCES person (id),
    next_run BIGINT NOT NULL DEFAULT 1,
    -- Raised by every change of datasets, so that a sync notices what changed since it linted.
    revision BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL
);

CREATE TABLE member (
    workspace_id TEXT COLLATE "C" NOT NULL REFERENCES workspace (id),
    person_id TEXT COLLATE "C" NOT NULL REFERENCES person (id),
    role TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (workspace_id, person_id, role)
);
CREATE INDEX member_person ON member (person_id);

-- Datasets and cases -------------------------------------------------------------------------------------------------

CREATE TABLE dataset (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    workspace_id TEXT COLLATE "C" NOT NULL REFERENCES workspace (id),
    slug TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    synced_at BIGINT,
    synced_by TEXT COLLATE "C",
    UNIQUE (workspace_id, slug)
);

-- The newest version of each case, with what tables of cases show and search.
CREATE TABLE case_head (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    workspace_id TEXT COLLATE "C" NOT NULL REFERENCES workspace (id),
    dataset_id TEXT COLLATE "C" NOT NULL REFERENCES dataset (id),
    case_id TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    version_id TEXT COLLATE "C" NOT NULL,
    content_hash TEXT COLLATE "C" NOT NULL,
    question TEXT COLLATE "C" NOT NULL,
    search TEXT COLLATE "C" NOT NULL,
    tags TEXT COLLATE "C" NOT NULL,
    -- Names of the scores that the case can have, overlays apart.
    scores TEXT COLLATE "C" NOT NULL,
    factual BIGINT NOT NULL,
    derived BIGINT NOT NULL,
    reading BIGINT NOT NULL,
    changed_at BIGINT NOT NULL,
    archived_at BIGINT,
    UNIQUE (workspace_id, case_id)
);
CREATE INDEX case_head_changed ON case_head (dataset_id, changed_at);
CREATE INDEX case_head_id ON case_head (dataset_id, case_id);

CREATE TABLE case_tag (
    workspace_id TEXT COLLATE "C" NOT NULL,
    dataset_id TEXT COLLATE "C" NOT NULL,
    tag TEXT COLLATE "C" NOT NULL,
    head_id TEXT COLLATE "C" NOT NULL REFERENCES case_head (id),
    PRIMARY KEY (dataset_id, tag, head_id)
);
CREATE INDEX case_tag_head ON case_tag (head_id);

CREATE TABLE case_version (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    workspace_id TEXT COLLATE "C" NOT NULL REFERENCES workspace (id),
    head_id TEXT COLLATE "C" NOT NULL REFERENCES case_head (id),
    number BIGINT NOT NULL,
    canonical TEXT COLLATE "C" NOT NULL,
    content_hash TEXT COLLATE "C" NOT NULL,
    yaml TEXT COLLATE "C" NOT NULL,
    origin TEXT COLLATE "C" NOT NULL,
    author TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    UNIQUE (head_id, number)
);
CREATE FUNCTION never_changes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '%', TG_ARGV[0];
END;
$$;
CREATE TRIGGER case_version_immutable BEFORE UPDATE ON case_version
    FOR EACH ROW EXECUTE FUNCTION never_changes('a case version never changes');

CREATE TABLE overlay (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    workspace_id TEXT COLLATE "C" NOT NULL REFERENCES workspace (id),
    dataset_id TEXT COLLATE "C" NOT NULL REFERENCES dataset (id),
    extends TEXT COLLATE "C" NOT NULL,
    position BIGINT NOT NULL,
    content TEXT COLLATE "C" NOT NULL
);
CREATE INDEX overlay_target ON overlay (workspace_id, extends);
CREATE INDEX overlay_dataset ON overlay (dataset_id);

CREATE TABLE fixture (
    workspace_id TEXT COLLATE "C" NOT NULL REFERENCES workspace (id),
    dataset_id TEXT COLLATE "C" NOT NULL REFERENCES dataset (id),
    key TEXT COLLATE "C" NOT NULL,
    sha256 TEXT COLLATE "C" NOT NULL,
    context TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (dataset_id, key)
);
CREATE INDEX fixture_bytes ON fixture (workspace_id, sha256);

-- Bytes are stored once per hash; a workspace has only those that were sent to it (kind: fixture or run).
CREATE TABLE blob_ref (
    workspace_id TEXT COLLATE "C" NOT NULL REFERENCES workspace (id),
    sha256 TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    bytes BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, sha256, kind)
);

-- Agents -------------------------------------------------------------------------------------------------------------

CREATE TABLE secret (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    workspace_id TEXT COLLATE "C" NOT NULL REFERENCES workspace (id),
    origin TEXT COLLATE "C" NOT NULL,
    key_id TEXT COLLATE "C" NOT NULL,
    nonce BYTEA NOT NULL,
    sealed BYTEA NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE TABLE agent (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    workspace_id TEXT COLLATE "C" NOT NULL REFERENCES workspace (id),
    name TEXT COLLATE "C" NOT NULL,
    config TEXT COLLATE "C" NOT NULL,
    secret_id TEXT COLLATE "C" REFERENCES secret (id),
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (workspace_id, name)
);

-- The last probe of an agent as seen from a workspace.
CREATE TABLE agent_check (
    workspace_id TEXT COLLATE "C" NOT NULL REFERENCES workspace (id),
    agent TEXT COLLATE "C" NOT NULL,
    outcome TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, agent)
);

-- Experiments and their queue ----------------------------------------------------------------------------------------

CREATE TABLE experiment (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    workspace_id TEXT COLLATE "C" NOT NULL REFERENCES workspace (id),
    number BIGINT NOT NULL,
    dataset_id TEXT COLLATE "C" NOT NULL REFERENCES dataset (id),
    agent TEXT COLLATE "C" NOT NULL,
    split TEXT COLLATE "C",
    trials BIGINT NOT NULL,
    concurrency BIGINT NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    frozen TEXT COLLATE "C" NOT NULL,
    created_by TEXT COLLATE "C" NOT NULL,
    created_by_id TEXT COLLATE "C",
    created_at BIGINT NOT NULL,
    finished_at BIGINT,
    UNIQUE (workspace_id, number)
);
CREATE INDEX experiment_dataset ON experiment (dataset_id, agent, number);
CREATE INDEX experiment_open ON experiment (workspace_id, created_at) WHERE finished_at IS NULL;

-- The frozen list: which version of which case, with the overlays that applied (null: none).
CREATE TABLE experiment_case (
    experiment_id TEXT COLLATE "C" NOT NULL REFERENCES experiment (id),
    case_id TEXT COLLATE "C" NOT NULL,
    workspace_id TEXT COLLATE "C" NOT NULL REFERENCES workspace (id),
    position BIGINT NOT NULL,
    version BIGINT NOT NULL,
    version_id TEXT COLLATE "C" NOT NULL REFERENCES case_version (id),
    overlays TEXT COLLATE "C",
    PRIMARY KEY (experiment_id, case_id)
);

-- How many planned trials can have each score: the M of "over N of M".
CREATE TABLE experiment_score (
    experiment_id TEXT COLLATE "C" NOT NULL REFERENCES experiment (id),
    name TEXT COLLATE "C" NOT NULL,
    workspace_id TEXT COLLATE "C" NOT NULL REFERENCES workspace (id),
    planned BIGINT NOT NULL,
    PRIMARY KEY (experiment_id, name)
);

CREATE TABLE trial (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    workspace_id TEXT COLLATE "C" NOT NULL REFERENCES workspace (id),
    experiment_id TEXT COLLATE "C" NOT NULL REFERENCES experiment (id),
    case_id TEXT COLLATE "C" NOT NULL,
    trial BIGINT NOT NULL,
    position BIGINT NOT NULL,
    idempotency_key TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    attempts BIGINT NOT NULL DEFAULT 0,
    -- The fence: raised at every claim, named in every write of the worker that holds the trial.
    epoch BIGINT NOT NULL DEFAULT 0,
    lease_owner TEXT COLLATE "C",
    lease_until BIGINT,
    not_before BIGINT NOT NULL DEFAULT 0,
    stage TEXT COLLATE "C",
    error_class TEXT COLLATE "C",
    error_message TEXT COLLATE "C",
    colour TEXT COLLATE "C" NOT NULL DEFAULT 'open',
    satisfied BIGINT NOT NULL DEFAULT 0,
    asked BIGINT NOT NULL DEFAULT 0,
    unscored BIGINT NOT NULL DEFAULT 0,
    needs_a_look BIGINT NOT NULL DEFAULT 0,
    -- One line on what fell, made from the grades when the trial ends.
    what TEXT COLLATE "C" NOT NULL DEFAULT '',
    latency_ms BIGINT,
    cost_usd DOUBLE PRECISION,
    started_at BIGINT,
    recorded_at BIGINT,
    ended_at BIGINT,
    UNIQUE (experiment_id, case_id, trial)
);
CREATE INDEX trial_queue ON trial (experiment_id, state, position);
CREATE INDEX trial_lease ON trial (lease_until) WHERE state IN ('running', 'recorded', 'grading');
CREATE INDEX trial_case ON trial (workspace_id, case_id);

-- What the agent returned. Trajectory bytes as received: here when small, else a blob.
CREATE TABLE recorded_run (
    trial_id TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES trial (id),
    workspace_id TEXT COLLATE "C" NOT NULL REFERENCES workspace (id),
    run TEXT COLLATE "C" NOT NULL,
    answer TEXT COLLATE "C",
    -- The answer held a NUL, which was written as U+2400.
    answer_marked BIGINT NOT NULL DEFAULT 0,
    -- The answer or the agent's words hold text that addresses a grader.
    addresses_grader BIGINT NOT NULL DEFAULT 0,
    trajectory_sha256 TEXT COLLATE "C",
    trajectory_bytes BIGINT,
    trajectory BYTEA
);

CREATE TABLE grade (
    trial_id TEXT COLLATE "C" NOT NULL REFERENCES trial (id),
    evaluator TEXT COLLATE "C" NOT NULL,
    workspace_id TEXT COLLATE "C" NOT NULL REFERENCES workspace (id),
    position BIGINT NOT NULL,
    grade TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (trial_id, evaluator)
);

-- Published scores of ended trials as counts, for pooling.
CREATE TABLE trial_score (
    experiment_id TEXT COLLATE "C" NOT NULL REFERENCES experiment (id),
    name TEXT COLLATE "C" NOT NULL,
    trial_id TEXT COLLATE "C" NOT NULL REFERENCES trial (id),
    workspace_id TEXT COLLATE "C" NOT NULL REFERENCES workspace (id),
    case_id TEXT COLLATE "C" NOT NULL,
    num DOUBLE PRECISION NOT NULL,
    den DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (experiment_id, name, trial_id)
);
CREATE INDEX trial_score_trial ON trial_score (trial_id);

-- What fell in ended trials, for grouping alike failures.
CREATE TABLE trial_failure (
    experiment_id TEXT COLLATE "C" NOT NULL REFERENCES experiment (id),
    trial_id TEXT COLLATE "C" NOT NULL REFERENCES trial (id),
    position BIGINT NOT NULL,
    workspace_id TEXT COLLATE "C" NOT NULL REFERENCES workspace (id),
    case_id TEXT COLLATE "C" NOT NULL,
    trial BIGINT NOT NULL,
    failure TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (experiment_id, trial_id, position)
);

-- The newest experiment that holds a case, per agent, and how the case stands there.
CREATE TABLE latest_result (
    workspace_id TEXT COLLATE "C" NOT NULL REFERENCES workspace (id),
    case_id TEXT COLLATE "C" NOT NULL,
    agent TEXT COLLATE "C" NOT NULL,
    dataset_id TEXT COLLATE "C" NOT NULL REFERENCES dataset (id),
    experiment_id TEXT COLLATE "C" NOT NULL REFERENCES experiment (id),
    run BIGINT NOT NULL,
    colour TEXT COLLATE "C" NOT NULL,
    satisfied BIGINT NOT NULL,
    asked BIGINT NOT NULL,
    what TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, case_id, agent)
);
CREATE INDEX latest_result_dataset ON latest_result (dataset_id, agent, colour);
CREATE INDEX latest_result_red ON latest_result (workspace_id, colour, at);

-- What live streams replay.
CREATE TABLE event (
    id BIGINT NOT NULL GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    workspace_id TEXT COLLATE "C" NOT NULL REFERENCES workspace (id),
    experiment_id TEXT COLLATE "C" NOT NULL REFERENCES experiment (id),
    kind TEXT COLLATE "C" NOT NULL,
    data TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL
);
CREATE INDEX event_experiment ON event (experiment_id, id);

-- Audit --------------------------------------------------------------------------------------------------------------

CREATE TABLE audit (
    id BIGINT NOT NULL GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    workspace_id TEXT COLLATE "C" REFERENCES workspace (id),
    at BIGINT NOT NULL,
    actor_id TEXT COLLATE "C",
    actor TEXT COLLATE "C" NOT NULL,
    token_id TEXT COLLATE "C",
    request_id TEXT COLLATE "C" NOT NULL,
    ip TEXT COLLATE "C" NOT NULL,
    action TEXT COLLATE "C" NOT NULL,
    object TEXT COLLATE "C" NOT NULL,
    detail TEXT COLLATE "C" NOT NULL
);
CREATE INDEX audit_workspace ON audit (workspace_id, id);
CREATE TRIGGER audit_no_update BEFORE UPDATE ON audit
    FOR EACH ROW EXECUTE FUNCTION never_changes('the audit trail is append-only');
CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit
    FOR EACH ROW EXECUTE FUNCTION never_changes('the audit trail is append-only');
CREATE TRIGGER audit_no_truncate BEFORE TRUNCATE ON audit
    FOR EACH STATEMENT EXECUTE FUNCTION never_changes('the audit trail is append-only');
