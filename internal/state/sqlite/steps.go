package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

const selectStep = `SELECT state, used FROM steps WHERE agent = ? AND task = ? AND extension = ?`

// steps are the state.Steps of the file: the rows of the table of that name.
type steps struct {
	db   *database
	uses *uses

	step                             *sql.Stmt // of readers
	current, put, remove, use, sweep *sql.Stmt // of the writer
}

// newSteps prepares the statements of the table steps.
func newSteps(ctx context.Context, db *database, u *uses) (*steps, error) {
	s := &steps{db: db, uses: u}
	return s, db.prepare(ctx, statements{&s.step: selectStep}, statements{
		&s.current: selectStep,
		&s.put:     `REPLACE INTO steps (agent, task, extension, state, used) VALUES (?, ?, ?, ?, ?)`,
		&s.remove:  `DELETE FROM steps WHERE agent = ? AND task = ? AND extension = ?`,
		&s.use:     `UPDATE steps SET used = ? WHERE agent = ? AND task = ? AND extension = ?`,
		&s.sweep: `DELETE FROM steps WHERE (agent, task, extension) IN
			(SELECT agent, task, extension FROM steps WHERE used < ? LIMIT ?)`,
	})
}

// Advance implements state.Steps. What changes nothing needs no writer.
func (s *steps) Advance(ctx context.Context, st state.Step, from, to string) (string, error) {
	now := s.db.now()
	// Readers see the last commit. Where that says that the step does not fit, or that nothing
	// changes, its answer is as good as one of the writer's at that moment.
	current, err := s.stands(s.step, st, now)
	if err != nil || current != from || from == to {
		return current, err
	}
	err = s.db.write(ctx, func() (err error) {
		current, err = s.advance(st, [2]string{from, to}, now)
		return err
	})
	if err != nil {
		return "", err
	}
	return current, nil
}

// advance runs in a transaction.
func (s *steps) advance(st state.Step, way [2]string, now time.Time) (string, error) {
	current, err := s.stands(s.current, st, now)
	if err != nil || current != way[0] {
		return current, err
	}
	agent, task, extension := []byte(st.Agent), []byte(st.Task), []byte(st.Extension)
	// No state is no row: a task that an extension has let go takes no room.
	if way[1] == "" {
		_, err = s.remove.Exec(agent, task, extension)
	} else {
		_, err = s.put.Exec(agent, task, extension, []byte(way[1]), now.Unix())
	}
	return way[1], err
}

// stands reads where a task stands, and counts as a use of that.
func (s *steps) stands(read *sql.Stmt, st state.Step, now time.Time) (string, error) {
	var (
		stands []byte
		used   int64
	)
	err := read.QueryRow([]byte(st.Agent), []byte(st.Task), []byte(st.Extension)).Scan(&stands, &used)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	// Reading where a task stands keeps its state alive, as a lookup does a record.
	if err != nil || !s.uses.live(use{agent: st.Agent, id: st.Task, extension: st.Extension}, used, now) {
		return "", err
	}
	return string(stands), nil
}
