package redis

import (
	"context"
	_ "embed" // the scripts
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

//go:embed lua/append.lua
var appendScript string

//go:embed lua/read.lua
var readScript string

// logs are the state.Logs of the servers: a log is a stream whose ids are the entries' numbers.
type logs struct {
	servers *servers
	scripts struct{ append, read *redis.Script }
}

// newLogs reads the scripts.
func newLogs(on *servers) *logs {
	l := &logs{servers: on}
	l.scripts.append = redis.NewScript(appendScript)
	l.scripts.read = redis.NewScript(readScript)
	return l
}

// Append implements state.Logs. A log is a stream whose ids are the entries' numbers.
func (l *logs) Append(ctx context.Context, log string, after uint64, entries [][]byte, keep state.Bound) error {
	if err := keep.Check(log); err != nil {
		return err
	}
	// ARGV: the number that the log has to end with, the bounds, then the entries.
	args := make([]any, 0, 4+len(entries))
	args = append(args, after, milliseconds(keep.TTL), keep.Entries, keep.Bytes)
	for _, e := range entries {
		args = append(args, e)
	}
	tag, key := l.servers.names.log(log)
	var added int64
	err := l.servers.do(ctx, tag, "append to log", func(ctx context.Context) (err error) {
		added, err = l.scripts.append.Run(ctx, l.servers.client, []string{key}, args...).Int64()
		return err
	})
	// 0: the log ends elsewhere. The script has then added nothing.
	if err == nil && added != 1 {
		return state.ErrMoved
	}
	return err
}

// Read implements state.Logs.
func (l *logs) Read(ctx context.Context, log string, after uint64, limit int) (state.Tail, error) {
	if err := state.CheckLog(log); err != nil {
		return state.Tail{}, err
	}
	tag, key := l.servers.names.log(log)
	var reply []any
	err := l.servers.do(ctx, tag, "read log", func(ctx context.Context) (err error) {
		reply, err = l.scripts.read.Run(ctx, l.servers.client, []string{key}, after, max(limit, 0)).Slice()
		return err
	})
	// An empty reply is no log.
	if err != nil || len(reply) == 0 {
		return state.Tail{}, err
	}
	return readTail(reply)
}

// Drop implements state.Logs.
func (l *logs) Drop(ctx context.Context, log string) error {
	if err := state.CheckLog(log); err != nil {
		return err
	}
	tag, key := l.servers.names.log(log)
	return l.servers.do(ctx, tag, "drop log", func(ctx context.Context) error {
		return l.servers.client.Del(ctx, key).Err()
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
	// A stream knows its last id also when it was trimmed, and how long it is; ids have no holes, so that
	// the first number follows. What does not fit together was not written by a gateway.
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

// entryNumber reads the id of an entry of a stream, "17-0" for the entry 17: Redis' ids have a time and
// a sequence number, of which the former is the number here and the latter always 0.
func entryNumber(id string) (uint64, error) {
	digits, ok := strings.CutSuffix(id, "-0")
	n, err := strconv.ParseUint(digits, 10, 64)
	if !ok || err != nil {
		return 0, fmt.Errorf("%w: an entry of a log has the id %q", errRecord, id)
	}
	return n, nil
}
