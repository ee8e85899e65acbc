package statetest

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

func logEntries(t *testing.T, l state.Logs) {
	keep := state.Bound{Entries: 3, Bytes: 1000, TTL: time.Hour}
	for i := range 10 {
		appendTo(t, l, "a", uint64(i), keep, fmt.Sprint(i+1))
	}
	tailIs(t, l, "a", 0, 9, tailOf(8, 10, 8, "8", "9", "10"))
	tailIs(t, l, "a", 4, 1, tailOf(8, 10, 8, "8"))
	tailIs(t, l, "a", 8, 9, tailOf(8, 10, 9, "9", "10"))
	keep.Entries = 1 // the latest Append says how many
	appendTo(t, l, "a", 10, keep, "11")
	tailIs(t, l, "a", 0, 9, tailOf(11, 11, 11, "11"))
	keep.Entries = 3
	appendTo(t, l, "a", 11, keep, "12", "13")
	tailIs(t, l, "a", 0, 9, tailOf(11, 13, 11, "11", "12", "13"))
	moved(t, l, "a", 2)
}

func logSizes(t *testing.T, l state.Logs) {
	keep := state.Bound{Entries: 100, Bytes: 10, TTL: time.Hour}
	appendTo(t, l, "a", 0, keep, "1111", "222", "333")
	tailIs(t, l, "a", 0, 9, tailOf(1, 3, 1, "1111", "222", "333"))
	appendTo(t, l, "a", 3, keep, "")
	tailIs(t, l, "a", 0, 9, tailOf(1, 4, 1, "1111", "222", "333", ""))
	appendTo(t, l, "a", 4, keep, "5")
	tailIs(t, l, "a", 0, 9, tailOf(2, 5, 2, "222", "333", "", "5"))
	appendTo(t, l, "a", 5, keep, "66666")
	tailIs(t, l, "a", 0, 9, tailOf(3, 6, 3, "333", "", "5", "66666"))
	appendTo(t, l, "a", 6, keep, "more than there is room for")
	tailIs(t, l, "a", 0, 9, tailOf(7, 7, 7, "more than there is room for"))
	appendTo(t, l, "a", 7, keep, "8")
	tailIs(t, l, "a", 0, 9, tailOf(8, 8, 8, "8"))
}

// logOverflow: what is appended together goes like the rest, and its numbers with it.
func logOverflow(t *testing.T, l state.Logs) {
	keep := state.Bound{Entries: 100, Bytes: 4, TTL: time.Hour}
	appendTo(t, l, "a", 0, keep, "11", "22", "33", "44", "too much", "6", "7")
	tailIs(t, l, "a", 0, 9, tailOf(6, 7, 6, "6", "7"))
	keep.Entries, keep.Bytes = 2, 100
	var many []string
	for i := range 500 {
		many = append(many, fmt.Sprint(i+8))
	}
	appendTo(t, l, "a", 7, keep, many...)
	tailIs(t, l, "a", 0, 9, tailOf(506, 507, 506, "506", "507"))
	keep.Entries, keep.Bytes = 500, 1000
	many = slices.Repeat([]string{"123456789"}, 500)
	appendTo(t, l, "a", 507, keep, many...)
	tailIs(t, l, "a", 0, 200, tailOf(1007-110, 1007, 1007-110, many[:111]...))
}

// logExpires waits for a short time to live; drivers may keep it to the millisecond.
func logExpires(t *testing.T, l state.Logs) {
	short := roomy
	short.TTL = 20 * time.Millisecond
	appendTo(t, l, "read", 0, short, "1", "2")
	appendTo(t, l, "written", 0, short, "1", "2")
	appendTo(t, l, "shorter", 0, roomy, "1")
	appendTo(t, l, "shorter", 1, short, "2") // the latest says for how long
	awaitEnd(t, l, "shorter")
	moved(t, l, "written", 2)
	for _, log := range []string{"read", "written", "shorter"} {
		tailIs(t, l, log, 0, 9, state.Tail{})
		appendTo(t, l, log, 0, roomy, "anew")
		tailIs(t, l, log, 0, 9, tailOf(1, 1, 1, "anew"))
	}
}

// logRenewed: each Append begins the TTL anew. With no entries it does only that, and
// holds the log to a bound; nothing begins.
func logRenewed(t *testing.T, l state.Logs) {
	appendTo(t, l, "b", 0, roomy)
	tailIs(t, l, "b", 0, 9, state.Tail{})
	keep, short := roomy, roomy
	keep.Entries = 2
	// On a machine that is slow enough the second Append comes too late.
	for short.TTL = 20 * time.Millisecond; ; short.TTL *= 2 {
		drop(t, l, "a")
		appendTo(t, l, "a", 0, short, "1", "2", "3")
		err := l.Append(t.Context(), "a", 3, nil, keep)
		if err == nil {
			break
		}
		if !errors.Is(err, state.ErrMoved) {
			t.Fatal(err)
		}
	}
	if err := l.Append(t.Context(), "a", 0, nil, roomy); !errors.Is(err, state.ErrMoved) {
		t.Errorf("nothing was appended before the end: %v", err)
	}
	appendTo(t, l, "clock", 0, short, "1")
	awaitEnd(t, l, "clock")
	tailIs(t, l, "a", 0, 9, tailOf(2, 3, 2, "2", "3"))
}

// awaitEnd waits until a log is forgotten.
func awaitEnd(t *testing.T, l state.Logs, log string) {
	t.Helper()
	for readLog(t, l, log, 0, 0).Last > 0 {
		runtime.Gosched()
	}
}
