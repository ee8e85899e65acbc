-- Tables of the audit records. Each step is run once, in a transaction.

-- step
CREATE TABLE $table (
  gateway     text             NOT NULL,
  seq         bigint           NOT NULL,
  day         date             NOT NULL,
  digest      bytea            NOT NULL,
  time        timestamptz      NOT NULL,
  type        text             NOT NULL,
  event       text,
  request_id  text,
  trace_id    text,
  principal   text,
  issuer      text,
  client      text,
  tenant      text,
  agent       text,
  skill       text,
  method      text,
  decision    text,
  rule        text,
  reason      text,
  status      integer,
  task_id     text,
  context_id  text,
  client_ip   text,
  duration_ms double precision,
  record      json             NOT NULL,
  PRIMARY KEY (gateway, seq, day, digest)
) PARTITION BY RANGE (day);
CREATE INDEX ON $table (time);
CREATE INDEX ON $table (principal, time) WHERE principal IS NOT NULL;
CREATE INDEX ON $table (agent, time) WHERE agent IS NOT NULL;
CREATE INDEX ON $table (task_id) WHERE task_id IS NOT NULL;
CREATE INDEX ON $table (request_id) WHERE request_id IS NOT NULL;
CREATE TABLE $places (
  gateway text        NOT NULL,
  log     text        NOT NULL,
  place   json        NOT NULL,
  updated timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (gateway, log)
);
