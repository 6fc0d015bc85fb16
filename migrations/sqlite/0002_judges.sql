-- Judges that call a model: every call, what was settled, why something stayed unscored, and endpoints that fail.

-- One row a request on the wire, whatever came of it.
CREATE TABLE judge_call (
    id TEXT NOT NULL PRIMARY KEY,
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    experiment_id TEXT NOT NULL REFERENCES experiment (id),
    trial_id TEXT NOT NULL REFERENCES trial (id),
    -- The call as JSON, its reply apart.
    detail TEXT NOT NULL,
    outcome TEXT NOT NULL,
    input_tokens INTEGER,
    output_tokens INTEGER,
    cost_usd REAL,
    -- The reply as received, a long one cut; absent when none came.
    reply TEXT,
    at INTEGER NOT NULL
) STRICT;
CREATE INDEX judge_call_trial ON judge_call (trial_id, id);
CREATE INDEX judge_call_experiment ON judge_call (experiment_id, outcome);

-- Verdicts by a hash of everything the judge saw: never bought twice.
CREATE TABLE judged (
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    key TEXT NOT NULL,
    -- The trial they were bought for.
    trial_id TEXT NOT NULL,
    entries TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, key)
) STRICT;

-- Why entries of ended trials have no verdict, counted.
CREATE TABLE trial_unscored (
    experiment_id TEXT NOT NULL REFERENCES experiment (id),
    trial_id TEXT NOT NULL REFERENCES trial (id),
    evaluator TEXT NOT NULL,
    reason TEXT NOT NULL,
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    entries INTEGER NOT NULL,
    PRIMARY KEY (experiment_id, trial_id, evaluator, reason)
) STRICT, WITHOUT ROWID;

-- Judge endpoints that fail at the moment, as the servers see them. No workspace owns one.
CREATE TABLE judge_pause (
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    why TEXT NOT NULL,
    opened_at INTEGER NOT NULL,
    until INTEGER NOT NULL,
    PRIMARY KEY (provider, model)
) STRICT;
