package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// Advance implements state.Steps. What changes nothing needs no writer.
func (s *Store) Advance(ctx context.Context, st state.Step, from, to string) (string, error) {
	now := s.now()
	current, err := s.stands(s.read.step, st, now)
	if err != nil || current != from || from == to {
		return current, err
	}
	err = s.write(ctx, func(w *writer) (err error) {
		current, err = s.advance(w, st, [2]string{from, to}, now)
		return err
	})
	if err != nil {
		return "", err
	}
	return current, nil
}

// advance runs in a transaction.
func (s *Store) advance(w *writer, st state.Step, way [2]string, now time.Time) (string, error) {
	current, err := s.stands(w.put.step, st, now)
	if err != nil || current != way[0] {
		return current, err
	}
	agent, task, extension := []byte(st.Agent), []byte(st.Task), []byte(st.Extension)
	if way[1] == "" {
		_, err = w.put.deleteStep.Exec(agent, task, extension)
	} else {
		_, err = w.put.putStep.Exec(agent, task, extension, []byte(way[1]), now.Unix())
	}
	return way[1], err
}

// stands reads where a task stands, and counts as a use of that.
func (s *Store) stands(read *sql.Stmt, st state.Step, now time.Time) (string, error) {
	var (
		stands []byte
		used   int64
	)
	err := read.QueryRow([]byte(st.Agent), []byte(st.Task), []byte(st.Extension)).Scan(&stands, &used)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	if err != nil || !s.live(use{agent: st.Agent, id: st.Task, extension: st.Extension}, used, now) {
		return "", err
	}
	return string(stands), nil
}
