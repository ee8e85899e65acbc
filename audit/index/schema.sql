CREATE TABLE meta (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE segments (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;

-- seq orders records, and so does each index, whose entries end in it.
CREATE TABLE records (
    seq       INTEGER PRIMARY KEY,
    time      INTEGER NOT NULL, -- microseconds since 1970
    segment   INTEGER NOT NULL,
    at        INTEGER NOT NULL, -- where the record ends
    length    INTEGER NOT NULL,
    type      INTEGER NOT NULL, -- 1 intent, 2 call, 3 event, 0 anything else
    decision  INTEGER,          -- 1 deny, 2 error; what was allowed has none
    principal INTEGER,
    agent     INTEGER,
    skill     INTEGER,
    task      INTEGER,
    context   INTEGER,
    what      INTEGER,          -- the method, or the kind of event
    reason    INTEGER,          -- why a call did not go well; of most there is none
    issuer    INTEGER,
    rule      INTEGER,          -- that decided, or the limit that refused the call
    stage     INTEGER,          -- of the request path, which refused the call; of most there is none
    approval  INTEGER,          -- that the call waited for, or went with; of most there is none
    found     INTEGER           -- 1 where a guard found something in the call
) STRICT;

-- When the records were made of so many numbers in a row.
CREATE TABLE stretches (id INTEGER PRIMARY KEY, earliest INTEGER NOT NULL, latest INTEGER NOT NULL) STRICT;

CREATE INDEX by_segment ON records (segment);
CREATE INDEX by_decision ON records (decision) WHERE decision IS NOT NULL;
CREATE INDEX by_principal ON records (principal) WHERE principal IS NOT NULL;
CREATE INDEX by_agent ON records (agent) WHERE agent IS NOT NULL;
CREATE INDEX by_skill ON records (skill) WHERE skill IS NOT NULL;
CREATE INDEX by_task ON records (task) WHERE task IS NOT NULL;
CREATE INDEX by_what ON records (what) WHERE what IS NOT NULL;
CREATE INDEX by_type ON records (type) WHERE type = 3;
CREATE INDEX by_context ON records (context) WHERE context IS NOT NULL;
CREATE INDEX by_reason ON records (reason) WHERE reason IS NOT NULL;
CREATE INDEX by_issuer ON records (issuer) WHERE issuer IS NOT NULL;
CREATE INDEX by_rule ON records (rule) WHERE rule IS NOT NULL;
CREATE INDEX by_stage ON records (stage) WHERE stage IS NOT NULL;
CREATE INDEX by_approval ON records (approval) WHERE approval IS NOT NULL;
CREATE INDEX by_found ON records (found) WHERE found IS NOT NULL;

-- What is true of many records each may be true of few together.
CREATE INDEX by_decision_principal ON records (decision, principal) WHERE decision IS NOT NULL;
CREATE INDEX by_decision_agent ON records (decision, agent) WHERE decision IS NOT NULL;
CREATE INDEX by_decision_skill ON records (decision, skill) WHERE decision IS NOT NULL;
CREATE INDEX by_decision_what ON records (decision, what) WHERE decision IS NOT NULL;
CREATE INDEX by_decision_type ON records (decision, type) WHERE decision IS NOT NULL;
CREATE INDEX by_decision_rule ON records (decision, rule) WHERE decision IS NOT NULL;
CREATE INDEX by_principal_agent ON records (principal, agent) WHERE principal IS NOT NULL;
CREATE INDEX by_principal_skill ON records (principal, skill) WHERE skill IS NOT NULL;
CREATE INDEX by_principal_what ON records (principal, what) WHERE principal IS NOT NULL;
CREATE INDEX by_agent_skill ON records (agent, skill) WHERE skill IS NOT NULL;
CREATE INDEX by_agent_what ON records (agent, what) WHERE agent IS NOT NULL;
CREATE INDEX by_reason_principal ON records (reason, principal) WHERE reason IS NOT NULL;
CREATE INDEX by_reason_agent ON records (reason, agent) WHERE reason IS NOT NULL;
