package redis

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

var small = state.Bound{Entries: 3, Bytes: 1000, TTL: time.Hour}

// Of a log the server keeps what is to be kept, for as long, and nothing after a Drop.
func TestLogsTakeNoMore(t *testing.T) {
	t.Parallel()
	s, plain, ctx := fresh(t), everybody(t).client(t), t.Context()
	_, key := s.names.log("a")
	event := []byte(strings.Repeat("x", 400))
	for i := range uint64(50) {
		if err := s.Append(ctx, "a", i, [][]byte{event}, small); err != nil {
			t.Fatal(err)
		}
	}
	if n := plain.XLen(ctx, key).Val(); n != 2 {
		t.Errorf("the stream has %d entries of 400 bytes; want the 2 of 1,000", n)
	}
	if left := plain.PTTL(ctx, key).Val(); left < 59*time.Minute || left > time.Hour {
		t.Errorf("it lives for %v, want an hour", left)
	}
	if _, err := s.Read(ctx, "a", 0, 9); err != nil {
		t.Fatal(err)
	}
	plain.PExpire(ctx, key, time.Minute)
	if err := s.Append(ctx, "a", 7, nil, small); !errors.Is(err, state.ErrMoved) {
		t.Error(err)
	}
	if left := plain.PTTL(ctx, key).Val(); left > time.Minute {
		t.Errorf("what was not appended has it live for %v", left)
	}
	if err := s.Drop(ctx, "a"); err != nil || plain.Exists(ctx, key).Val() != 0 {
		t.Errorf("after a Drop (%v) the key is there", err)
	}
}

// All logs share few tags, so that a cluster spreads them and guards stay few.
func TestLogsShareTags(t *testing.T) {
	t.Parallel()
	tags := map[string]int{}
	for i := range 10_000 {
		tag, key := names{"p"}.log(fmt.Sprint("task-", i))
		if !strings.HasPrefix(key, tag) || strings.Count(tag, "}") != 1 {
			t.Fatalf("the key %q has another tag than %q", key, tag)
		}
		tags[tag]++
	}
	if len(tags) != logTags {
		t.Errorf("10,000 logs have %d tags, want %d", len(tags), logTags)
	}
}

// What no gateway has written is an error, and stays as it is.
func TestGarbageInLogs(t *testing.T) {
	t.Parallel()
	s, plain, ctx := fresh(t), everybody(t).client(t), t.Context()
	_, key := s.names.log("a")
	for name, spoil := range map[string]func(){
		"a text":        func() { plain.Set(ctx, key, "x", 0) },
		"another field": func() { plain.XAdd(ctx, &redis.XAddArgs{Stream: key, ID: "1-0", Values: []string{"x", "y"}}) },
		"a time": func() {
			plain.XAdd(ctx, &redis.XAddArgs{Stream: key, ID: "1-1", Values: []string{"d", "x", "s", "1"}})
		},
		"two of one number": func() {
			plain.XAdd(ctx, &redis.XAddArgs{Stream: key, ID: "1-0", Values: []string{"x", "x", "s", "x"}})
			plain.XAdd(ctx, &redis.XAddArgs{Stream: key, ID: "1-1", Values: []string{"d", "x", "s", "x"}})
		},
	} {
		plain.Del(ctx, key)
		spoil()
		before := plain.Dump(ctx, key).Val()
		if err := s.Append(ctx, "a", 1, [][]byte{nil}, small); !errors.Is(err, errRecord) {
			t.Errorf("Append to %s: %v", name, err)
		}
		if got, err := s.Read(ctx, "a", 0, 9); !errors.Is(err, errRecord) {
			t.Errorf("Read of %s: %+v, %v", name, got, err)
		}
		if plain.Dump(ctx, key).Val() != before {
			t.Errorf("%s was changed", name)
		}
	}
}
