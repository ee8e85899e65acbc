package statetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// Logs runs the suite for stores of logs. Calls of open are as those for Ledger.
func Logs(t *testing.T, open func(testing.TB) state.Logs) {
	t.Helper()
	for name, run := range map[string]func(*testing.T, state.Logs){
		"appended and read":              oneLog,
		"a log has one end":              oneEnd,
		"logs do not collide":            logsApart,
		"entries are bytes":              logBytes,
		"entries are nobody's":           logCopies,
		"so many are kept":               logEntries,
		"so much is kept":                logSizes,
		"more at once than is kept":      logOverflow,
		"forgotten when its time comes":  logExpires,
		"nothing renews":                 logRenewed,
		"dropped":                        logDropped,
		"bad input changes nothing":      badLogs,
		"one appends behind an entry":    oneAppends,
		"what is read is of one moment":  logMoments,
		"callers who leave take nothing": logAbandoned,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, open(t))
		})
	}
	t.Run("behaves like a list", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(rt *rapid.T) { logsModel(rt, open(t)) })
	})
}

// roomy keeps all that a test appends.
var roomy = state.Bound{Entries: 1000, Bytes: 1 << 30, TTL: time.Hour}

func oneLog(t *testing.T, l state.Logs) {
	tailIs(t, l, "a", 0, 9, state.Tail{})
	appendTo(t, l, "a", 0, roomy, "1", "2", "3")
	appendTo(t, l, "a", 3, roomy, "4")
	for _, tc := range []struct {
		after uint64
		limit int
		from  uint64
		want  string
	}{
		{0, 9, 1, "1 2 3 4"}, {0, 4, 1, "1 2 3 4"}, {0, 3, 1, "1 2 3"}, {1, 2, 2, "2 3"}, {3, 9, 4, "4"},
		{4, 9, 0, ""}, {5, 9, 0, ""}, {1<<64 - 1, 9, 0, ""}, {1 << 63, 9, 0, ""}, {0, 0, 0, ""}, {2, -1, 0, ""},
	} {
		tailIs(t, l, "a", tc.after, tc.limit, tailOf(1, 4, tc.from, strings.Fields(tc.want)...))
	}
}

// oneEnd: what is not behind the newest entry is not added.
func oneEnd(t *testing.T, l state.Logs) {
	moved(t, l, "a", 1)
	moved(t, l, "a", 1<<64-1)
	tailIs(t, l, "a", 0, 9, state.Tail{})
	appendTo(t, l, "a", 0, roomy, "1", "2")
	for _, after := range []uint64{0, 1, 3, 2 + 1<<32, 2 + 1<<53, 2 + 1<<63, 1<<64 - 1} {
		moved(t, l, "a", after)
	}
	tailIs(t, l, "a", 0, 9, tailOf(1, 2, 1, "1", "2"))
}

// logsApart holds names that careless spelling would make the same.
func logsApart(t *testing.T, l state.Logs) {
	names := []string{"a", "A", "a ", " a", "a\x00", "\x00a", "{a}", "a}", "{a", "a:log", "a%", "a_", "a%20", "a+", "*", "ü"}
	for i, name := range names {
		appendTo(t, l, name, 0, roomy, fmt.Sprint(i))
	}
	for i, name := range names {
		tailIs(t, l, name, 0, 9, tailOf(1, 1, 1, fmt.Sprint(i)))
	}
}

func logBytes(t *testing.T, l state.Logs) {
	long := make([]byte, 1024)
	for i := range long {
		long[i] = byte(i)
	}
	entries := []string{"", "\x00", "\xff", "12", " ", string(slices.Repeat(long, 64))}
	for _, name := range []string{string(long), "ü\x00'\"\\%_", "\xff", "\n", "{a}"} {
		appendTo(t, l, name, 0, roomy, entries...)
		tailIs(t, l, name, 0, 9, tailOf(1, 6, 1, entries...))
	}
}

// logCopies: callers may do with their bytes what they like.
func logCopies(t *testing.T, l state.Logs) {
	entries := [][]byte{[]byte("one"), []byte("two")}
	if err := l.Append(t.Context(), "a", 0, entries, roomy); err != nil {
		t.Fatal(err)
	}
	entries[0][0], entries[1] = 'X', []byte("X")
	got := readLog(t, l, "a", 0, 9)
	if len(got.Entries) == 2 {
		got.Entries[0] = append(got.Entries[0], 'X') // does not reach the next
	}
	if diff := cmp.Diff(tailOf(1, 2, 1, "oneX", "two"), got); diff != "" {
		t.Errorf("Read (-want +got):\n%s", diff)
	}
	got.Entries[0][0] = 'X'
	tailIs(t, l, "a", 0, 9, tailOf(1, 2, 1, "one", "two"))
}

func logDropped(t *testing.T, l state.Logs) {
	drop(t, l, "a") // what is not there
	appendTo(t, l, "a", 0, roomy, "1", "2")
	appendTo(t, l, "b", 0, roomy, "1")
	drop(t, l, "a")
	tailIs(t, l, "a", 0, 9, state.Tail{})
	moved(t, l, "a", 2)
	appendTo(t, l, "a", 0, roomy, "anew")
	tailIs(t, l, "a", 0, 9, tailOf(1, 1, 1, "anew"))
	tailIs(t, l, "b", 0, 9, tailOf(1, 1, 1, "1"))
}

func badLogs(t *testing.T, l state.Logs) {
	long := strings.Repeat("a", 1025)
	appendTo(t, l, "a", 0, roomy, "1")
	for i, keep := range []state.Bound{
		{},
		{Bytes: 1, TTL: 1}, {Entries: -1, Bytes: 1, TTL: 1},
		{Entries: 1, TTL: 1}, {Entries: 1, Bytes: -1, TTL: 1}, {Entries: 1, Bytes: 1 << 51, TTL: 1},
		{Entries: 1, Bytes: 1}, {Entries: 1, Bytes: 1, TTL: -1}, {Entries: 1, Bytes: 1, TTL: 1<<63 - 1},
	} {
		if err := l.Append(t.Context(), "a", 1, [][]byte{nil}, keep); err == nil || errors.Is(err, state.ErrMoved) {
			t.Errorf("Append to be kept as bound %d says: %v", i, err)
		}
	}
	for _, name := range []string{"", long} {
		if err := l.Append(t.Context(), name, 0, [][]byte{nil}, roomy); err == nil {
			t.Errorf("Append to a log whose name has %d bytes succeeds", len(name))
		}
		if got, err := l.Read(t.Context(), name, 0, 9); err == nil || got.Last != 0 {
			t.Errorf("Read of a log whose name has %d bytes: %v, %v", len(name), got, err)
		}
		if err := l.Drop(t.Context(), name); err == nil {
			t.Errorf("Drop of a log whose name has %d bytes succeeds", len(name))
		}
	}
	tailIs(t, l, "a", 0, 9, tailOf(1, 1, 1, "1"))
}

// tailOf is a Tail with entries from a number on.
func tailOf(first, last, from uint64, entries ...string) state.Tail {
	t := state.Tail{First: first, Last: last, From: from}
	for _, e := range entries {
		t.Entries = append(t.Entries, []byte(e))
	}
	return t
}

func tailIs(t reporter, l state.Logs, log string, after uint64, limit int, want state.Tail) {
	t.Helper()
	got := readLog(t, l, log, after, limit)
	if diff := cmp.Diff(want, got, cmp.Comparer(sameEntries)); diff != "" {
		t.Fatalf("Read(%.20q, %d, %d) (-want +got):\n%s", log, after, limit, diff)
	}
}

// sameEntries is for cmp, which looks at entries byte by byte: that takes long where they are long.
func sameEntries(a, b [][]byte) bool { return slices.EqualFunc(a, b, bytes.Equal) }

func readLog(t reporter, l state.Logs, log string, after uint64, limit int) state.Tail {
	t.Helper()
	got, err := l.Read(context.Background(), log, after, limit)
	if err != nil {
		t.Fatalf("Read(%.20q, %d, %d): %v", log, after, limit, err)
	}
	return got
}

func appendTo(t reporter, l state.Logs, log string, after uint64, keep state.Bound, entries ...string) {
	t.Helper()
	if err := l.Append(context.Background(), log, after, tailOf(0, 0, 0, entries...).Entries, keep); err != nil {
		t.Fatalf("Append(%.20q, %d): %v", log, after, err)
	}
}

func moved(t reporter, l state.Logs, log string, after uint64) {
	t.Helper()
	err := l.Append(context.Background(), log, after, [][]byte{[]byte("moved")}, roomy)
	if !errors.Is(err, state.ErrMoved) {
		t.Fatalf("Append(%.20q, %d): %v, want ErrMoved", log, after, err)
	}
}

func drop(t reporter, l state.Logs, log string) {
	t.Helper()
	if err := l.Drop(context.Background(), log); err != nil {
		t.Fatalf("Drop(%.20q): %v", log, err)
	}
}
