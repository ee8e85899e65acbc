package statetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// oneAppends: of many who append behind the same entry one succeeds, and what it brought
// is there. This is what keeps two gateways from telling a stream differently.
func oneAppends(t *testing.T, l state.Logs) {
	const rounds, callers = 30, 16
	for round := range uint64(rounds) {
		var added atomic.Int64
		var winner atomic.Pointer[string]
		together(callers, func(caller int) {
			mine := fmt.Sprint(round, "-", caller)
			err := l.Append(t.Context(), "a", round, [][]byte{[]byte(mine)}, roomy)
			if err == nil {
				added.Add(1)
				winner.Store(&mine)
			} else if !errors.Is(err, state.ErrMoved) {
				t.Errorf("round %d: %v", round, err)
			}
		})
		if added.Load() != 1 {
			t.Fatalf("round %d: %d callers appended", round, added.Load())
		}
		tailIs(t, l, "a", round, 9, tailOf(1, round+1, round+1, *winner.Load()))
	}
}

// logMoments reads while another appends and old entries go: what is read has no hole.
func logMoments(t *testing.T, l state.Logs) {
	const n = 300
	keep := state.Bound{Entries: 7, Bytes: 20, TTL: time.Hour}
	var ended atomic.Bool
	together(5, func(caller int) {
		if caller == 0 {
			defer ended.Store(true)
			for i := uint64(0); i < n; i += 3 {
				var entries [][]byte
				for k := range uint64(3) {
					entries = append(entries, fmt.Append(nil, i+k+1))
				}
				if err := l.Append(t.Context(), "a", i, entries, keep); err != nil {
					t.Errorf("Append behind %d: %v", i, err)
					return
				}
			}
			return
		}
		last := uint64(0)
		for !ended.Load() {
			got, err := l.Read(t.Context(), "a", last, 1+caller)
			if err != nil {
				t.Errorf("Read: %v", err)
				return
			}
			if !whole(got, last, 1+caller) {
				t.Errorf("behind %d is %+v", last, got)
				return
			}
			last = max(last, got.Last) - min(last, uint64(caller))
		}
	})
}

// whole reports whether a Tail of entries that are their numbers can be.
func whole(got state.Tail, after uint64, limit int) bool {
	if got.Last == 0 {
		return got.First == 0 && got.From == 0 && len(got.Entries) == 0
	}
	from := max(after+1, got.First)
	want := min(limit, int(got.Last+1)-int(from))
	if got.First == 0 || got.First > got.Last || len(got.Entries) != max(want, 0) {
		return false
	}
	for i, e := range got.Entries {
		if got.From != from || string(e) != fmt.Sprint(from+uint64(i)) {
			return false
		}
	}
	return true
}

// logAbandoned: a caller whose context has ended may or may not have appended, but all
// or nothing, and changes nothing of it afterwards.
func logAbandoned(t *testing.T, l state.Logs) {
	gone, leave := context.WithCancel(t.Context())
	leave()
	entries := [][]byte{[]byte("1"), []byte("2")}
	err := l.Append(gone, "a", 0, entries, roomy)
	entries[0][0], entries[1] = 'X', nil
	again := l.Append(t.Context(), "a", 0, [][]byte{[]byte("1"), []byte("2")}, roomy)
	if err == nil && again == nil {
		t.Error("two have appended behind the same entry")
	}
	if again != nil && !errors.Is(again, state.ErrMoved) {
		t.Error(again)
	}
	appendTo(t, l, "a", 2, roomy, "3")
	tailIs(t, l, "a", 0, 9, tailOf(1, 3, 1, "1", "2", "3"))
}

// drawLog: the state of a log is all that was appended since it began.
func drawLog(random *rand.Rand, object string) action {
	keep := state.Bound{Entries: 2, Bytes: 1000, TTL: time.Hour}
	after, data := random.Uint64N(4), fmt.Sprint("data-", random.Uint64())
	a := action{object: object}
	switch random.IntN(5) {
	case 0, 1:
		a.name = fmt.Sprintf("append %s behind %d", data, after)
		a.do = func(ctx context.Context, s state.Store) (string, error) {
			err := s.Append(ctx, object, after, [][]byte{[]byte(data)}, keep)
			if errors.Is(err, state.ErrMoved) {
				return "moved", nil
			}
			return "", err
		}
		a.model = func(has string) (string, string) {
			if len(strings.Fields(has)) != int(after) {
				return has, "moved"
			}
			return has + data + " ", ""
		}
	case 2:
		a.name = "drop"
		a.do = func(ctx context.Context, s state.Store) (string, error) { return "", s.Drop(ctx, object) }
		a.model = func(string) (string, string) { return "", "" }
	default:
		a.name = fmt.Sprint("read behind ", after)
		a.do = func(ctx context.Context, s state.Store) (string, error) {
			got, err := s.Read(ctx, object, after, 9)
			return tailText(got), err
		}
		a.model = func(has string) (string, string) {
			all := strings.Fields(has)
			if len(all) == 0 {
				return has, tailText(state.Tail{})
			}
			first := max(len(all)-keep.Entries, 0)
			if from := max(first, int(after)); from < len(all) {
				return has, tailText(tailOf(uint64(first+1), uint64(len(all)), uint64(from+1), all[from:]...))
			}
			return has, tailText(tailOf(uint64(first+1), uint64(len(all)), 0))
		}
	}
	return a
}

func tailText(t state.Tail) string {
	return fmt.Sprintf("%d to %d, from %d %s", t.First, t.Last, t.From, t.Entries)
}
