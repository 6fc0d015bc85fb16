-- Judges that call a model: every call, what was settled, why something stayed unscored, and endpoints that fail.

-- One row a request on the wire, whatever came of it.
CREATE TABLE judge_call (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    workspace_id TEXT COLLATE "C" NOT NULL REFERENCES workspace (id),
    experiment_id TEXT COLLATE "C" NOT NULL REFERENCES experiment (id),
    trial_id TEXT COLLATE "C" NOT NULL REFERENCES trial (id),
    -- The call as JSON, its reply apart.
    detail TEXT COLLATE "C" NOT NULL,
    outcome TEXT COLLATE "C" NOT NULL,
    input_tokens BIGINT,
    output_tokens BIGINT,
    cost_usd DOUBLE PRECISION,
    -- The reply as received, a long one cut; absent when none came.
    reply TEXT COLLATE "C",
    at BIGINT NOT NULL
);
CREATE INDEX judge_call_trial ON judge_call (trial_id, id);
CREATE INDEX judge_call_experiment ON judge_call (experiment_id, outcome);

-- Verdicts by a hash of everything the judge saw: never bought twice.
CREATE TABLE judged (
    workspace_id TEXT COLLATE "C" NOT NULL REFERENCES workspace (id),
    key TEXT COLLATE "C" NOT NULL,
    -- The trial they were bought for.
    trial_id TEXT COLLATE "C" NOT NULL,
    entries TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, key)
);

-- Why entries of ended trials have no verdict, counted.
CREATE TABLE trial_unscored (
    experiment_id TEXT COLLATE "C" NOT NULL REFERENCES experiment (id),
    trial_id TEXT COLLATE "C" NOT NULL REFERENCES trial (id),
    evaluator TEXT COLLATE "C" NOT NULL,
    reason TEXT COLLATE "C" NOT NULL,
    workspace_id TEXT COLLATE "C" NOT NULL REFERENCES workspace (id),
    entries BIGINT NOT NULL,
    PRIMARY KEY (experiment_id, trial_id, evaluator, reason)
);

-- Judge endpoints that fail at the moment, as the servers see them. No workspace owns one.
CREATE TABLE judge_pause (
    provider TEXT COLLATE "C" NOT NULL,
    model TEXT COLLATE "C" NOT NULL,
    why TEXT COLLATE "C" NOT NULL,
    opened_at BIGINT NOT NULL,
    until BIGINT NOT NULL,
    PRIMARY KEY (provider, model)
);
