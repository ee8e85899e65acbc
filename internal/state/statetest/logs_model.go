package statetest

import (
	"context"
	"errors"
	"time"

	"pgregory.net/rapid"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// logsModel compares a store with lists under random operations.
func logsModel(rt *rapid.T, l state.Logs) {
	type list struct {
		last    uint64
		entries []string
	}
	want := map[string]list{}
	names := rapid.SampledFrom([]string{"a", "{a}", "a\x00"})
	data := rapid.SliceOfN(rapid.StringOfN(rapid.RuneFrom([]rune("ü1\x00")), 0, 9, -1), 0, 40)
	numbers := rapid.Uint64Range(0, 60)
	rt.Repeat(map[string]func(*rapid.T){
		"append": func(rt *rapid.T) {
			name, entries := names.Draw(rt, "name"), data.Draw(rt, "entries")
			keep := state.Bound{
				Entries: rapid.IntRange(1, 30).Draw(rt, "kept"), Bytes: rapid.Int64Range(1, 150).Draw(rt, "bytes"), TTL: time.Hour,
			}
			w := want[name]
			after := w.last
			if rapid.IntRange(0, 4).Draw(rt, "astray") == 0 {
				after = numbers.Draw(rt, "after")
			}
			err := l.Append(context.Background(), name, after, tailOf(0, 0, 0, entries...).Entries, keep)
			if after != w.last {
				if !errors.Is(err, state.ErrMoved) {
					rt.Fatalf("Append behind %d of %d: %v", after, w.last, err)
				}
				return
			}
			if err != nil {
				rt.Fatalf("Append: %v", err)
			}
			w.last += uint64(len(entries))
			w.entries = within(append(w.entries, entries...), keep)
			want[name] = w
		},
		"drop": func(rt *rapid.T) {
			name := names.Draw(rt, "name")
			drop(rt, l, name)
			delete(want, name)
		},
		"read": func(rt *rapid.T) {
			name, after, limit := names.Draw(rt, "name"), numbers.Draw(rt, "after"), rapid.IntRange(-1, 30).Draw(rt, "limit")
			w := want[name]
			if w.last == 0 {
				tailIs(rt, l, name, after, limit, state.Tail{})
				return
			}
			first := w.last + 1 - uint64(len(w.entries))
			from := max(first, after+1)
			if limit <= 0 || from > w.last {
				tailIs(rt, l, name, after, limit, tailOf(first, w.last, 0))
				return
			}
			rest := w.entries[from-first:]
			tailIs(rt, l, name, after, limit, tailOf(first, w.last, from, rest[:min(limit, len(rest))]...))
		},
	})
}

// within is the newest of entries that a bound keeps.
func within(entries []string, keep state.Bound) []string {
	size, n := int64(0), 0
	for n < len(entries) && n < keep.Entries {
		size += int64(len(entries[len(entries)-1-n]))
		if n > 0 && size > keep.Bytes {
			break
		}
		n++
	}
	return entries[len(entries)-n:]
}
