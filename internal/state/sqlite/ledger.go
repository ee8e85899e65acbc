package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

const (
	columns = `agent, kind, id, owner, tenant, skill, context, endpoint, version, extensions, created, used, trace`

	selectRecord = `SELECT ` + columns + ` FROM records WHERE agent = ? AND kind = ? AND id = ?`
	insertRecord = ` INTO records (` + columns + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
)

// ledger is the state.Ledger of the file: the rows of the table records, of which it
// remembers recent ones. Lists have no statements of their own here; see list.
type ledger struct {
	db     *database
	uses   *uses
	recent recent

	record                            *sql.Stmt // of readers
	current, add, replace, use, sweep *sql.Stmt // of the writer
}

// newLedger prepares the statements of the table records.
func newLedger(ctx context.Context, db *database, u *uses) (*ledger, error) {
	l := &ledger{db: db, uses: u}
	return l, db.prepare(ctx, statements{&l.record: selectRecord}, statements{
		&l.current: selectRecord,
		&l.add:     `INSERT OR IGNORE` + insertRecord,
		&l.replace: `REPLACE` + insertRecord,
		&l.use:     `UPDATE records SET used = ? WHERE agent = ? AND kind = ? AND id = ?`,
		&l.sweep:   `DELETE FROM records WHERE rowid IN (SELECT rowid FROM records WHERE used < ? LIMIT ?)`,
	})
}

// Claim implements state.Ledger. What is remembered is found without the writer.
func (l *ledger) Claim(ctx context.Context, r state.Record) (state.Record, error) {
	stand, err := l.ClaimAll(ctx, []state.Record{r})
	if err != nil {
		return state.Record{}, err
	}
	return stand[0], nil
}

// ClaimAll implements state.Ledger, for all or, with an error, perhaps for none. What is
// not remembered is most likely new, so that it is not looked for before the writer does.
func (l *ledger) ClaimAll(ctx context.Context, rs []state.Record) ([]state.Record, error) {
	now := l.db.now()
	stand := make([]state.Record, len(rs))
	var unknown []int
	// What is remembered stands, as a record never changes while it lives.
	for i, r := range rs {
		remembered, ok := l.remembered(r.Agent, r.Kind, r.ID, now)
		if stand[i] = remembered; !ok {
			unknown = append(unknown, i)
		}
	}
	if unknown == nil {
		return stand, nil
	}
	claimed := make([]known, len(unknown))
	write := l.db.write
	if len(unknown) == 1 { // it is added, or takes the place of one whose time is over, by one statement
		write = l.db.writeApart
	}
	err := write(ctx, func() error {
		for n, i := range unknown {
			var err error
			if claimed[n], err = l.claim(rs[i], now); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	// Only now, after the commit: a record that a failed transaction had is not there.
	for n, i := range unknown { // which the file has by now
		stand[i] = claimed[n].record
		l.recent.remember(claimed[n].record, claimed[n].used)
	}
	return stand, nil
}

// claim runs in the writer.
func (l *ledger) claim(r state.Record, now time.Time) (known, error) {
	// The job may run twice, once with others and once alone, so that it begins from r each time.
	mine := rowOf(r, now)
	// INSERT OR IGNORE and the look at what stands are one decision, as nobody else writes.
	result, err := l.add.Exec(mine.values()...)
	if err != nil {
		return known{}, err
	}
	if n, err := result.RowsAffected(); err != nil || n == 1 {
		stands, torn := mine.record()
		return known{stands, mine.used}, errors.Join(err, torn)
	}
	var other row
	if err := other.read(l.current.QueryRow(mine.agent, mine.kind, mine.id)); err != nil {
		return known{}, err
	}
	if l.uses.live(other.use(), other.used, now) {
		stands, torn := other.record()
		return known{stands, other.used}, torn
	}
	// The row that stands has outlived its retention: its id is free, and the new record takes its
	// place.
	if _, err := l.replace.Exec(mine.values()...); err != nil {
		return known{}, err
	}
	stands, torn := mine.record()
	return known{stands, mine.used}, torn
}

// Lookup implements state.Ledger.
func (l *ledger) Lookup(_ context.Context, agent string, k state.Kind, id string) (state.Record, bool, error) {
	return l.find(agent, k, id, l.db.now())
}

// LookupAll implements state.Ledger.
func (l *ledger) LookupAll(_ context.Context, agent string, refs []state.Ref) ([]state.Record, error) {
	now := l.db.now()
	found := make([]state.Record, len(refs))
	for i, r := range refs {
		var err error
		if found[i], _, err = l.find(agent, r.Kind, r.ID, now); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// find reads what the last transaction left. It takes no context: giving up would take
// longer than an answer from a local file does.
func (l *ledger) find(agent string, k state.Kind, id string, now time.Time) (state.Record, bool, error) {
	if r, ok := l.remembered(agent, k, id, now); ok {
		return r, true, nil
	}
	var r row
	// A row that cannot be read is an error and not absence: an id that seems free could be claimed.
	err := r.read(l.record.QueryRow([]byte(agent), int64(k), []byte(id)))
	if errors.Is(err, sql.ErrNoRows) {
		return state.Record{}, false, nil
	}
	if err != nil {
		return state.Record{}, false, err
	}
	// The sweeper may be a minute late; until it comes the row is there and counts as none.
	if !l.uses.live(r.use(), r.used, now) {
		return state.Record{}, false, nil
	}
	found, err := r.record()
	if err != nil {
		return state.Record{}, false, err
	}
	l.recent.remember(found, r.used)
	return found, true, nil
}
