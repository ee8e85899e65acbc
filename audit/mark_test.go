package audit

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit/chain"
	"github.com/a2a-gateway/a2a-gateway/audit/segment"
)

// remembered is who remembers how far a log has come.
type remembered struct {
	mu     sync.Mutex
	mark   Mark
	puts   int
	asked  int
	away   error         // what every question is answered with
	hanger chan struct{} // when set, Put waits for it, or for its context
}

func (r *remembered) Put(ctx context.Context, m Mark) error {
	if r.hanger != nil {
		select {
		case <-r.hanger:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked++
	if r.away == nil {
		r.mark, r.puts = m, r.puts+1
	}
	return r.away
}

func (r *remembered) Known(context.Context) (Mark, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked++
	return r.mark, r.away
}

func (r *remembered) known() Mark {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.mark
}

func (r *remembered) set(away error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.away = away
}

// eventually waits until something is so.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !so(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: waited a minute", what)
		}
	}
}

// questions waits until the memory has been asked n times more.
func (r *remembered) questions(t *testing.T, n int) {
	t.Helper()
	count := func() int { r.mu.Lock(); defer r.mu.Unlock(); return r.asked }
	from := count()
	eventually(t, "questions", func() bool { return count() >= from+n })
}

// recordSome opens a log, has it remembered and writes n records.
func recordSome(t *testing.T, dir string, r *remembered, n int) (gone string) {
	t.Helper()
	tel, _ := watched(t)
	l, err := Open(Config{Dir: dir}, "gw-1", tel)
	if err != nil {
		t.Fatal(err)
	}
	l.Remember(t.Context(), r)
	gone = l.Gone()
	for range n {
		if err := l.Call(exchange("r")); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return gone
}

// TestOlderCopy: a log that ends before what is remembered of it, or has another record there, is
// told from the one that was written, and goes on behind it.
func TestOlderCopy(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(t *testing.T, dir, older string)
		want   string
		next   uint64 // number of the next record
	}{
		"as it was": {func(*testing.T, string, string) {}, "", 6},
		"an older copy": {func(t *testing.T, dir, older string) {
			t.Helper()
			must(t, os.RemoveAll(dir))
			must(t, os.CopyFS(dir, os.DirFS(older)))
		}, "records 4 to 5 were not there any more at the start", 7},
		"nothing": {func(t *testing.T, dir, _ string) {
			t.Helper()
			must(t, os.RemoveAll(dir))
		}, "records 1 to 5 were not there any more at the start", 7},
		"another log of as many records": {func(t *testing.T, dir, _ string) {
			t.Helper()
			must(t, os.RemoveAll(dir))
			recordSome(t, dir, new(remembered), 5)
		}, "records 5 to 5 were not there any more at the start", 7},
		"a longer one": {func(t *testing.T, dir, _ string) {
			t.Helper()
			recordSome(t, dir, new(remembered), 2)
		}, "", 8},
		"another log of more records": {func(t *testing.T, dir, _ string) {
			t.Helper()
			must(t, os.RemoveAll(dir))
			recordSome(t, dir, new(remembered), 8)
		}, "records 5 to 5 were not there any more at the start", 10},
		"a longer one without the file of the mark": {func(t *testing.T, dir, _ string) {
			t.Helper()
			before, err := segment.List(dir)
			must(t, err)
			tel, _ := watched(t)
			l, err := Open(Config{Dir: dir}, "gw-1", tel)
			must(t, err)
			must(t, os.Rename(before[0].Path(dir), before[0].Path(dir)+".old"))
			must(t, errors.Join(l.Reopen(), l.Call(exchange("r")), l.Close()))
		}, "", 7},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, older := filepath.Join(t.TempDir(), "audit"), t.TempDir()
			r := new(remembered)
			recordSome(t, dir, r, 3)
			must(t, os.CopyFS(older, os.DirFS(dir)))
			if got := recordSome(t, dir, r, 2); got != "" || r.known().Seq != 5 || r.known().Hash == "" {
				t.Fatalf("%s; remembered %+v", got, r.known())
			}
			test.change(t, dir, older)
			if got := recordSome(t, dir, r, 1); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if got := r.known().Seq; got != test.next {
				t.Errorf("the last record is %d, want %d", got, test.next)
			}
			content, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
			must(t, err)
			all := ""
			for _, path := range content {
				text, err := os.ReadFile(path)
				must(t, err)
				all += string(text)
			}
			if strings.Contains(all, `"event":"audit.gone"`) != (test.want != "") {
				t.Errorf("on record: %s", all)
			}
		})
	}
}

// TestMarks: what is not on the disk is not remembered, and no record waits for whoever remembers.
func TestMarks(t *testing.T) {
	t.Parallel()
	tel, _ := watched(t)
	l, err := Open(Config{Dir: t.TempDir()}, "gw-1", tel)
	must(t, err)
	r := &remembered{hanger: make(chan struct{})}
	l.Remember(t.Context(), r)
	for range 100 {
		must(t, l.Call(exchange("r")))
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if records, _ := l.Lag(); records == 0 || time.Now().After(deadline) {
			break
		}
	}
	close(r.hanger)
	must(t, l.Close())
	if got := r.known(); got.Seq != 100 || r.puts > 3 {
		t.Errorf("remembered %+v in %d times", got, r.puts)
	}
}

// TestStrayFile: records go on in another file when theirs is deleted, moved or replaced.
func TestStrayFile(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(t *testing.T, path string){
		"deleted": func(t *testing.T, path string) { t.Helper(); must(t, os.Remove(path)) },
		"moved":   func(t *testing.T, path string) { t.Helper(); must(t, os.Rename(path, path+".old")) },
		"replaced": func(t *testing.T, path string) {
			t.Helper()
			must(t, os.Remove(path))
			must(t, os.WriteFile(path, nil, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			tel, _ := watched(t)
			l, err := Open(Config{Dir: dir}, "gw-1", tel)
			must(t, err)
			t.Cleanup(func() { _ = l.Close() })
			must(t, l.Call(exchange("r")))
			l.keepFile(l.disk.now())
			before, err := segment.List(dir)
			must(t, err)
			if len(before) != 1 {
				t.Fatalf("a file that is there is given up: %v", before)
			}
			lose(t, before[0].Path(dir))
			l.keepFile(l.disk.now())
			must(t, l.Call(exchange("s")))
			names, err := segment.List(dir)
			must(t, err)
			last := names[len(names)-1]
			text, err := os.ReadFile(last.Path(dir))
			must(t, err)
			for _, want := range []string{`"seq":2,`, `"event":"audit.strayed","attrs":{"segment":"` + before[0].File() + `"}`, `"seq":3,`} {
				if !strings.Contains(string(text), want) {
					t.Errorf("%s lacks %s: %s", last.File(), want, text)
				}
			}
		})
	}
}

// TestStrayDirectory: while the directory is away records cannot be written, and the log says so;
// once it is back, an event names the file that was lost, once.
func TestStrayDirectory(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "audit")
	tel, out := watched(t)
	d := newFakeDisk()
	l, err := open(Config{Dir: dir}, "gw-1", tel, osFiles(d.disk()))
	must(t, err)
	t.Cleanup(func() { _ = l.Close() })
	must(t, l.Call(exchange("r")))
	before, err := segment.List(dir)
	must(t, err)
	must(t, os.RemoveAll(dir))
	for range 3 { // probes
		l.keepFile(l.disk.now())
		l.retry()
		d.set(func() { d.clock = d.clock.Add(reopenAfter) })
	}
	if l.Call(exchange("s")) == nil || l.Err() == nil {
		t.Error("a record counts that nobody will find")
	}
	must(t, os.Mkdir(dir, 0o700))
	d.set(func() { d.clock = d.clock.Add(reopenAfter) })
	l.keepFile(l.disk.now())
	l.retry()
	l.retry() // once is enough
	must(t, l.Call(exchange("t")))
	must(t, l.Close())
	text, err := os.ReadFile(before[0].Path(dir)[:len(before[0].Path(dir))-len(".jsonl")] + "_001.jsonl")
	must(t, err)
	if got := strings.Count(string(text), `"event":"audit.strayed","attrs":{"segment":"`+before[0].File()+`"}`); got != 1 {
		t.Errorf("on record %d times: %s", got, text)
	}
	if log := out.String(); !strings.Contains(log, "there cannot be another one yet") || strings.Contains(log, "records go on in another one") ||
		strings.Count(log, "was deleted, moved or replaced") != 1 {
		t.Errorf("log: %s", log)
	}
}

// osFiles is a disk whose files are those of the system.
func osFiles(d disk) disk {
	d.open = openFile
	return d
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// idle opens a log that is remembered and that nobody writes.
func idle(t *testing.T, dir string, r *remembered) *Log {
	t.Helper()
	d := newFakeDisk()
	d.probe, d.linger = time.Millisecond, time.Millisecond
	l := opened(t, Config{Dir: dir}, d)
	l.Remember(t.Context(), r)
	return l
}

// TestMarkOfIdle: a log that nobody writes keeps its mark, and one that has more than is
// remembered, as after a crash, is remembered whole.
func TestMarkOfIdle(t *testing.T) {
	t.Parallel()
	dir, r := t.TempDir(), new(remembered)
	recordSome(t, dir, r, 3)
	was := r.known()
	r.puts = 0
	l := idle(t, dir, r)
	time.Sleep(50 * time.Millisecond) // many probes
	must(t, l.Close())
	if got := r.known(); got != was || r.puts != 0 {
		t.Errorf("%+v became %+v in %d times", was, got, r.puts)
	}
	recordSome(t, dir, new(remembered), 2) // as if nobody had been told of these
	l = idle(t, dir, r)
	eventually(t, "the mark", func() bool { return r.known().Seq == 5 })
	must(t, l.Close())
	if recordSome(t, dir, r, 0) != "" {
		t.Error("the mark does not fit")
	}
}

// TestMarkLater: a memory that does not answer at the start keeps its mark until it has been
// compared, and that finds what was gone when the log was opened, whatever was written since.
func TestMarkLater(t *testing.T) {
	t.Parallel()
	for name, since := range map[string]int{"few since": 1, "more since": 6} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, r := filepath.Join(t.TempDir(), "audit"), new(remembered)
			recordSome(t, dir, r, 5)
			was := r.known()
			must(t, os.RemoveAll(dir))
			recordSome(t, dir, new(remembered), 2)
			r.set(errors.New("away"))
			l := idle(t, dir, r)
			for range since {
				must(t, l.Call(exchange("s")))
			}
			r.questions(t, 3)
			if got := r.known(); got != was || l.Gone() != "" {
				t.Fatalf("%+v became %+v before it was compared: %s", was, got, l.Gone())
			}
			r.set(nil)
			want := max(5, 2+uint64(since)) + 1 //nolint:gosec // small
			eventually(t, "the mark behind the event", func() bool { return r.known().Seq == want })
			if got := l.Gone(); got != "records 3 to 5 were not there any more at the start" {
				t.Errorf("gone: %q", got)
			}
		})
	}
}

// TestMarkBehindHead: what Open itself records does not hide that the log ended before the mark.
func TestMarkBehindHead(t *testing.T) {
	t.Parallel()
	dir, r := t.TempDir(), new(remembered)
	recordSome(t, dir, r, 5)
	names, err := segment.List(dir)
	must(t, err)
	must(t, os.Remove(names[0].Path(dir)))
	must(t, chain.WriteHead(dir, &chain.Head{Segment: names[0].File(), Seq: 4, Hash: strings.Repeat("0", 64)}))
	tel, out := watched(t)
	l, err := Open(Config{Dir: dir}, "gw-1", tel)
	must(t, err)
	if l.Seq() != 5 { // the number of the event is that of the mark
		t.Fatalf("the last record is %d", l.Seq())
	}
	l.Remember(t.Context(), r)
	must(t, l.Close())
	if !strings.Contains(out.String(), `"from":5,"to":5`) {
		t.Errorf("log: %s", out)
	}
}

// TestMarkNotTaken: what could not be remembered is tried again, and the end of the log waits for
// a memory that hangs no longer than it has to.
func TestMarkNotTaken(t *testing.T) {
	t.Parallel()
	r := new(remembered)
	l := idle(t, t.TempDir(), r)
	r.set(errors.New("away"))
	must(t, l.Call(exchange("r")))
	r.questions(t, 3)
	r.set(nil)
	eventually(t, "the mark", func() bool { return r.known().Seq == 1 })
	must(t, l.Close())

	r = &remembered{hanger: make(chan struct{})}
	l = idle(t, t.TempDir(), r)
	must(t, l.Call(exchange("r")))
	began := time.Now()
	must(t, l.Close())
	if took := time.Since(began); took > rememberTime {
		t.Errorf("Close took %v", took)
	}
}
