-- The span of the call that a task was first seen in; see state.Record. Rows that were there
-- have none, and are not written for it.
ALTER TABLE records ADD COLUMN trace BLOB NOT NULL DEFAULT x'';
