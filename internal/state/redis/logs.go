package redis

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// Append implements state.Logs. A log is a stream whose ids are the entries' numbers.
func (s *Store) Append(ctx context.Context, log string, after uint64, entries [][]byte, keep state.Bound) error {
	if err := keep.Check(log); err != nil {
		return err
	}
	args := make([]any, 0, 4+len(entries))
	args = append(args, after, milliseconds(keep.TTL), keep.Entries, keep.Bytes)
	for _, e := range entries {
		args = append(args, e)
	}
	tag, key := s.names.log(log)
	var added int64
	err := s.do(ctx, tag, "append to log", func(ctx context.Context) (err error) {
		added, err = s.scripts.append.Run(ctx, s.client, []string{key}, args...).Int64()
		return err
	})
	if err == nil && added != 1 {
		return state.ErrMoved
	}
	return err
}

// Read implements state.Logs.
func (s *Store) Read(ctx context.Context, log string, after uint64, limit int) (state.Tail, error) {
	if err := state.CheckLog(log); err != nil {
		return state.Tail{}, err
	}
	tag, key := s.names.log(log)
	var reply []any
	err := s.do(ctx, tag, "read log", func(ctx context.Context) (err error) {
		reply, err = s.scripts.read.Run(ctx, s.client, []string{key}, after, max(limit, 0)).Slice()
		return err
	})
	if err != nil || len(reply) == 0 {
		return state.Tail{}, err
	}
	return readTail(reply)
}

// Drop implements state.Logs.
func (s *Store) Drop(ctx context.Context, log string) error {
	if err := state.CheckLog(log); err != nil {
		return err
	}
	tag, key := s.names.log(log)
	return s.do(ctx, tag, "drop log", func(ctx context.Context) error {
		return s.client.Del(ctx, key).Err()
	})
}

// readTail reads what the script says of a log that is there.
func readTail(reply []any) (state.Tail, error) {
	if len(reply) < 3 {
		return state.Tail{}, errReply
	}
	last, err := entryNumber(text(reply[0]))
	if err != nil {
		return state.Tail{}, err
	}
	size, _ := reply[1].(int64)
	if size < 1 || uint64(size) > last {
		return state.Tail{}, fmt.Errorf("%w: a log of %d entries ends with number %d", errRecord, size, last)
	}
	t := state.Tail{First: last + 1 - uint64(size), Last: last}
	if from := text(reply[2]); from != "" {
		if t.From, err = entryNumber(from); err != nil {
			return state.Tail{}, err
		}
	}
	for _, e := range reply[3:] {
		t.Entries = append(t.Entries, []byte(text(e)))
	}
	return t, nil
}

func entryNumber(id string) (uint64, error) {
	digits, ok := strings.CutSuffix(id, "-0")
	n, err := strconv.ParseUint(digits, 10, 64)
	if !ok || err != nil {
		return 0, fmt.Errorf("%w: an entry of a log has the id %q", errRecord, id)
	}
	return n, nil
}
