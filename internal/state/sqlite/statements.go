package sqlite

import (
	"context"
	"database/sql"
	"strconv"
)

const (
	columns = `agent, kind, id, owner, tenant, skill, context, endpoint, version, extensions, created, used, trace`

	selectRecord = `SELECT ` + columns + ` FROM records WHERE agent = ? AND kind = ? AND id = ?`
	insertRecord = ` INTO records (` + columns + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	selectStep   = `SELECT state, used FROM steps WHERE agent = ? AND task = ? AND extension = ?`
	selectEntry  = `SELECT data, expires FROM entries WHERE space = ? AND key = ? AND (expires = 0 OR expires > ?)`
	selectPage   = `SELECT key, data, expires FROM entries
		WHERE space = ? AND key > ? AND (expires = 0 OR expires > ?) ORDER BY key LIMIT ?`
	selectTail = `SELECT l.first, l.last, e.number, e.data
		FROM logs l LEFT JOIN log_entries e ON e.log = l.id AND e.number > ?
		WHERE l.name = ? AND l.expires > ? ORDER BY e.number LIMIT ?`
)

// reads are the statements of those who only read. Lists have statements of their own;
// see tasks.go.
type reads struct {
	record, step, entry, page, tail *sql.Stmt
	queue                           queueReads
}

func newReads(ctx context.Context, db *sql.DB) (reads, error) {
	var r reads
	_, err := prepare(ctx, db, map[**sql.Stmt]string{
		&r.record: selectRecord, &r.step: selectStep, &r.entry: selectEntry, &r.page: selectPage, &r.tail: selectTail,
	})
	if err == nil {
		r.queue, err = newQueueReads(ctx, db)
	}
	return r, err
}

// puts are the statements of the writer.
type puts struct {
	all []*sql.Stmt // to be closed: those of one connection are not closed with it

	begin, commit, rollback, touch        *sql.Stmt
	record, addRecord, newRecord          *sql.Stmt
	step, putStep, deleteStep             *sql.Stmt
	entry, putEntry, deleteEntry          *sql.Stmt
	putCount, deleteCount                 *sql.Stmt
	log, newLog, putLog, deleteLog        *sql.Stmt
	addLogEntry, logSizes, cutLog         *sql.Stmt
	useRecord, useStep                    *sql.Stmt
	sweepRecords, sweepSteps, sweepValues *sql.Stmt
	sweepLogEntries, sweepLogs            *sql.Stmt
}

func newPuts(ctx context.Context, conn *sql.Conn, version int) (puts, error) {
	var p puts
	var err error
	p.all, err = prepare(ctx, conn, map[**sql.Stmt]string{
		&p.begin: `BEGIN IMMEDIATE`, &p.commit: `COMMIT`, &p.rollback: `ROLLBACK`,
		&p.touch: `PRAGMA user_version = ` + strconv.Itoa(version), // what it is

		&p.record:    selectRecord,
		&p.addRecord: `INSERT OR IGNORE` + insertRecord,
		&p.newRecord: `REPLACE` + insertRecord,

		&p.step:       selectStep,
		&p.putStep:    `REPLACE INTO steps (agent, task, extension, state, used) VALUES (?, ?, ?, ?, ?)`,
		&p.deleteStep: `DELETE FROM steps WHERE agent = ? AND task = ? AND extension = ?`,

		&p.entry:       selectEntry,
		&p.putEntry:    `REPLACE INTO entries (space, key, data, expires) VALUES (?, ?, ?, ?)`,
		&p.deleteEntry: `DELETE FROM entries WHERE space = ? AND key = ?`,

		&p.putCount:    `REPLACE INTO counts (key, kind, until, units, parts) VALUES (?, ?, ?, ?, ?)`,
		&p.deleteCount: `DELETE FROM counts WHERE key = ?`,

		&p.log:         `SELECT id, first, last, bytes, expires FROM logs WHERE name = ?`,
		&p.newLog:      `INSERT INTO logs (name, first, last, bytes, expires) VALUES (?, ?, ?, ?, ?) RETURNING id`,
		&p.putLog:      `UPDATE logs SET first = ?, last = ?, bytes = ?, expires = ? WHERE id = ?`,
		&p.deleteLog:   `DELETE FROM logs WHERE id = ?`,
		&p.addLogEntry: `INSERT INTO log_entries (log, number, data) VALUES (?, ?, ?)`,
		&p.logSizes:    `SELECT length(data) FROM log_entries WHERE log = ? ORDER BY number`,
		&p.cutLog:      `DELETE FROM log_entries WHERE log = ? AND number < ?`,

		&p.useRecord: `UPDATE records SET used = ? WHERE agent = ? AND kind = ? AND id = ?`,
		&p.useStep:   `UPDATE steps SET used = ? WHERE agent = ? AND task = ? AND extension = ?`,

		&p.sweepRecords: `DELETE FROM records WHERE rowid IN (SELECT rowid FROM records WHERE used < ? LIMIT ?)`,
		&p.sweepSteps: `DELETE FROM steps WHERE (agent, task, extension) IN
			(SELECT agent, task, extension FROM steps WHERE used < ? LIMIT ?)`,
		&p.sweepValues: `DELETE FROM entries WHERE (space, key) IN
			(SELECT space, key FROM entries WHERE expires <> 0 AND expires <= ? LIMIT ?)`,
		// A log goes after the last of its entries.
		&p.sweepLogEntries: `DELETE FROM log_entries WHERE rowid IN
			(SELECT e.rowid FROM logs l JOIN log_entries e ON e.log = l.id WHERE l.expires <= ? LIMIT ?)`,
		&p.sweepLogs: `DELETE FROM logs WHERE id IN
			(SELECT id FROM logs l WHERE expires <= ?
				AND NOT EXISTS (SELECT 1 FROM log_entries WHERE log = l.id) LIMIT ?)`,
	})
	return p, err
}

func prepare(ctx context.Context, on interface {
	PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
}, statements map[**sql.Stmt]string) ([]*sql.Stmt, error) {
	var all []*sql.Stmt
	for at, text := range statements {
		s, err := on.PrepareContext(ctx, text) //nolint:sqlclosecheck // the caller does
		if err != nil {
			return all, err
		}
		*at = s
		all = append(all, s)
	}
	return all, nil
}
