-- How limits stand; see state.Count.
CREATE TABLE counts (
	key   BLOB    NOT NULL PRIMARY KEY,
	kind  INTEGER NOT NULL,
	until INTEGER NOT NULL,
	units INTEGER NOT NULL,
	parts INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
