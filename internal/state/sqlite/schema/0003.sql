-- Logs: of each what it has, and its entries, numbered without holes.
CREATE TABLE logs (
	id      INTEGER NOT NULL PRIMARY KEY,
	name    BLOB    NOT NULL UNIQUE,
	first   INTEGER NOT NULL, -- number of the oldest entry
	last    INTEGER NOT NULL, -- and of the newest
	bytes   INTEGER NOT NULL, -- of all entries
	expires INTEGER NOT NULL
) STRICT;

CREATE INDEX logs_by_time ON logs (expires);

-- Rows are in the order of their arrival, as those of records are, so that what many logs
-- get at one moment lies together.
CREATE TABLE log_entries (
	log    INTEGER NOT NULL,
	number INTEGER NOT NULL,
	data   BLOB    NOT NULL
) STRICT;

CREATE UNIQUE INDEX log_entries_by_number ON log_entries (log, number);
