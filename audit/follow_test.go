package audit

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit/chain"
	"github.com/a2a-gateway/a2a-gateway/audit/reader"
	"github.com/a2a-gateway/a2a-gateway/audit/segment"
)

// followed reads entries until it has as many as are wanted, and fails the test when
// they are not numbered from the cursor on.
func followed(t *testing.T, s reader.Source, from reader.Cursor, want int) (last reader.Cursor, lost []error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	last = from
	if want == 0 {
		return last, nil
	}
	for e, err := range s.Follow(ctx, from) {
		if err != nil {
			lost = append(lost, err)
			continue
		}
		if lost == nil && from.Seq > 0 && e.Seq != last.Seq+1 {
			t.Fatalf("record %d after %d", e.Seq, last.Seq)
		}
		if !strings.HasPrefix(string(e.Line), fmt.Sprintf(`{"seq":%d,`, e.Seq)) || !strings.HasSuffix(string(e.Line), "}") {
			t.Fatalf("record %d is %s", e.Seq, e.Line)
		}
		last = e.Cursor
		if want--; want == 0 {
			return last, lost
		}
	}
	t.Fatalf("%d records are missing after %+v, errors %v", want, last, lost)
	return last, lost
}

// TestFollow: whoever keeps the cursor sees each record, in order, wherever it stops, and
// over what becomes of the files meanwhile.
func TestFollow(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	config := Config{Dir: dir, SegmentSize: minSegmentSize}
	l := opened(t, config, nil)
	const total = 1500
	go func() {
		for i := range total {
			if err := l.Intent(exchange(fmt.Sprint(i))); err != nil {
				t.Error(err)
			}
		}
	}()
	var at reader.Cursor
	for seen := 0; seen < total; {
		n := min(1+rand.IntN(300), total-seen)
		at, _ = followed(t, reader.Source{Path: dir}, at, n)
		seen += n
	}
	if at.Seq != total {
		t.Errorf("at record %d of %d", at.Seq, total)
	}
	if names, _ := segment.List(dir); len(names) < 5 {
		t.Errorf("only %d segments", len(names))
	}
}

// TestFollowWaits: a record is seen that is written after all others were read, also
// behind a torn line and in a new segment.
func TestFollowWaits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for round, spoil := range []func(path string){
		func(string) {},
		func(path string) { appendTo(t, path, `{"seq":3,"v":1,"type"`) },
		func(string) {},
	} {
		l := opened(t, Config{Dir: dir}, newFakeDisk())
		var at reader.Cursor
		if round > 0 {
			at, _ = followed(t, reader.Source{Path: dir}, at, 2*round)
		}
		go func() {
			<-time.After(10 * time.Millisecond)
			if err := errors.Join(l.Intent(exchange("a")), l.Intent(exchange("b"))); err != nil {
				t.Error(err)
			}
		}()
		if at, _ = followed(t, reader.Source{Path: dir}, at, 2); at.Seq != uint64(2*round+2) {
			t.Errorf("at %+v", at)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		spoil(segment.Name{Day: "2026-11-21"}.Path(dir))
	}
}

// TestFollowMovedFiles: files that are moved away are read to their ends while they are
// open, and what was moved before it was read is said to be lost.
func TestFollowMovedFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := segment.Name{Day: "2026-11-21"}.Path(dir)
	l := opened(t, Config{Dir: dir}, newFakeDisk())
	intents := func(n int) {
		for range n {
			if err := l.Intent(exchange("x")); err != nil {
				t.Fatal(err)
			}
		}
	}
	move := func() {
		if err := errors.Join(os.Rename(path, filepath.Join(dir, "moved")), l.Reopen()); err != nil {
			t.Fatal(err)
		}
	}
	intents(2)
	n := uint64(0)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for e, err := range (reader.Source{Path: dir}).Follow(ctx, reader.Cursor{}) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; e.Seq != n {
			t.Fatalf("record %d, want %d", e.Seq, n)
		}
		if n == 2 {
			intents(1)
			move()
			intents(2)
		}
		if n == 5 {
			break
		}
	}
	at, lost := followed(t, reader.Source{Path: dir}, reader.Cursor{Segment: "audit-2026-11-21.jsonl", Offset: 700, Seq: 1}, 2)
	if at.Seq != 5 || len(lost) != 1 || lost[0].Error() != "audit records 2 to 3 are not there any more" {
		t.Errorf("at %+v, lost %v", at, lost)
	}
}

// TestFollowTakenBack: lines that a failed write left for a moment do not keep those
// from being seen that take their numbers, whoever has read them.
func TestFollowTakenBack(t *testing.T) {
	t.Parallel()
	c := chain.Chain{}
	line := func(text string) string {
		return string(c.Assemble(nil, nil, fmt.Appendf(nil, `,"x":%q`, text), nil))
	}
	kept := line("a")
	before := c
	gone := line("read, and taken back")
	c = before
	instead := line("b") + line("c") + line("a third one, so that the file is longer than it was")
	for what, between := range map[string]time.Duration{"before it is looked at": 0, "while it is": 3 * followEvery / 2} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			path := segment.Name{Day: "2026-11-21"}.Path(t.TempDir())
			appendTo(t, path, kept+gone)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			seen := map[uint64]string{}
			for e, err := range (reader.Source{Path: filepath.Dir(path)}).Follow(ctx, reader.Cursor{}) {
				if err != nil {
					t.Fatal(err)
				}
				seen[e.Seq] = string(e.Line) + "\n"
				if seen[e.Seq] == gone {
					if err := os.WriteFile(path, []byte(kept), 0o600); err != nil {
						t.Fatal(err)
					}
					time.AfterFunc(between, func() { appendTo(t, path, instead) })
				}
				if e.Seq == 4 {
					break
				}
			}
			if got := seen[1] + seen[2] + seen[3] + seen[4]; got != kept+instead {
				t.Errorf("seen %s", got)
			}
		})
	}
}

func TestFollowNothing(t *testing.T) {
	t.Parallel()
	for _, err := range (reader.Source{Path: filepath.Join(t.TempDir(), "none")}).Follow(t.Context(), reader.Cursor{}) {
		if err == nil {
			t.Error("an entry of nothing")
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	for e, err := range (reader.Source{Path: t.TempDir()}).Follow(ctx, reader.Cursor{}) {
		t.Errorf("%+v, %v", e, err)
	}
	dir := t.TempDir()
	appendTo(t, segment.Name{Day: "2026-11-21"}.Path(dir), "hello\n")
	for _, err := range (reader.Source{Path: dir}).Follow(t.Context(), reader.Cursor{}) {
		if err == nil || !strings.Contains(err.Error(), "audit-2026-11-21.jsonl: before byte 6: it is no record") {
			t.Errorf("got %v", err)
		}
	}
}

// TestLast: the last records are found over the bounds of files.
func TestLast(t *testing.T) {
	t.Parallel()
	dir, _ := specimen(t)
	total := len(lines(t, dir))
	for n, want := range map[int]int{0: 0, 1: 1, 20: 20, total - 1: total - 1, total: total, total + 5: total} {
		before, end, err := (reader.Source{Path: dir}).Last(n)
		if err != nil || int(end.Seq) != total || total-int(before.Seq) != want { // small
			t.Errorf("the last %d: %+v to %+v, %v", n, before, end, err)
		}
		if at, _ := followed(t, reader.Source{Path: dir}, before, want); at != end {
			t.Errorf("the last %d end at %+v", n, at)
		}
	}
	if before, end, err := (reader.Source{Path: t.TempDir()}).Last(3); err != nil || before != end {
		t.Errorf("of nothing: %+v, %+v, %v", before, end, err)
	}
}

// TestEnd: the end is found as Last finds it, of a file that is longer than what is read of
// it, and before what is torn.
func TestEnd(t *testing.T) {
	t.Parallel()
	dir, _ := specimen(t)
	check := func(what string) {
		t.Helper()
		_, want, err := (reader.Source{Path: dir}).Last(0)
		if got, failed := (reader.Source{Path: dir}).End(); err != nil || failed != nil || got != want {
			t.Errorf("%s: %+v, %v, want %+v, %v", what, got, failed, want, err)
		}
	}
	check("a log")
	names, err := segment.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(names[len(names)-1].Path(dir), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	last := lines(t, dir)
	line := last[len(last)-1]
	for n := 0; n < 2*chain.LongestRecord; n += len(line) + 1 {
		_, err = f.WriteString(line + "\n")
	}
	_, torn := f.WriteString(`{"seq":9`)
	if err := errors.Join(err, torn, f.Close()); err != nil {
		t.Fatal(err)
	}
	check("a long file with a torn end")
	if end, err := (reader.Source{Path: t.TempDir()}).End(); err != nil || end != (reader.Cursor{}) {
		t.Errorf("of nothing: %+v, %v", end, err)
	}
}
