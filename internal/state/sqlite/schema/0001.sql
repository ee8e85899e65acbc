-- Names and ids are the bytes of callers and agents, hence blobs. Times named used are
-- Unix seconds, all others Unix nanoseconds.
CREATE TABLE records (
	agent      BLOB    NOT NULL,
	kind       INTEGER NOT NULL,
	id         BLOB    NOT NULL,
	owner      BLOB    NOT NULL,
	tenant     BLOB    NOT NULL,
	skill      BLOB    NOT NULL,
	context    BLOB    NOT NULL,
	endpoint   BLOB    NOT NULL,
	version    BLOB    NOT NULL,
	extensions BLOB    NOT NULL, -- each with its length before it
	created    INTEGER NOT NULL,
	used       INTEGER NOT NULL
) STRICT;

-- Rows are in the order of their arrival and indexes as narrow as can be, since ids are
-- random: a page that one of them lands on is written for it alone.
CREATE UNIQUE INDEX records_by_id ON records (agent, kind, id);
CREATE INDEX tasks_by_owner   ON records (agent, owner, created)  WHERE kind = 1;
CREATE INDEX tasks_by_tenant  ON records (agent, tenant, created) WHERE kind = 1;
CREATE INDEX tasks_by_context ON records (agent, context)         WHERE kind = 1;
CREATE INDEX tasks_by_time    ON records (agent, created)         WHERE kind = 1;
CREATE INDEX records_by_use   ON records (used);

CREATE TABLE steps (
	agent     BLOB    NOT NULL,
	task      BLOB    NOT NULL,
	extension BLOB    NOT NULL,
	state     BLOB    NOT NULL,
	used      INTEGER NOT NULL,
	PRIMARY KEY (agent, task, extension)
) STRICT, WITHOUT ROWID;

CREATE INDEX steps_by_use ON steps (used);

CREATE TABLE entries (
	space   BLOB    NOT NULL,
	key     BLOB    NOT NULL,
	data    BLOB    NOT NULL,
	expires INTEGER NOT NULL, -- 0 for never
	PRIMARY KEY (space, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX entries_by_time ON entries (expires) WHERE expires <> 0;
