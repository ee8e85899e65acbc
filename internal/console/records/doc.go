// Package records is the audit log in the admin API: records that are looked for, shown as they
// are made, exported, verified, and counted for the map and for the course of an agent.
//
// It owns these screens and what they ask of the log, which stands behind Records. It writes no
// record.
//
// Three ways lead to the log, by what a screen needs:
//
//	| way | used by | order and bound |
//	| --- | --- | --- |
//	| Records.Find, over an index | audit, a record, a task, map, course | newest or oldest first, a page or at most admin.map.records |
//	| Records.All, over the files | export | oldest first, all of it, one reader at a time |
//	| Records.Live, over the file's end | live | as records are written, to at most admin.live.viewers |
//
// An example: GET /api/v1/audit/records?agent=billing&decision=deny ends in search.records.
// The parameters become an index.Query (wanted), Find gives one record more than fits into
// a page, and the number (seq) of the last one shown becomes the cursor of the next page.
// Records stand in the answer as they were written, byte for byte, so that what an operator
// reads is what the chain of hashes covers.
//
// What takes too long, or is done by as many as may at once, is answered 503 with
// Retry-After (api.Busy) instead of keeping the operator waiting: the log can have many
// gigabytes, and a search without an index that is up to date has to read them.
package records
