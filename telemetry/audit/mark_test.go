package audit

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// remembered is who remembers how far a log has come.
type remembered struct {
	mu   sync.Mutex
	mark Mark
	puts int
}

func (r *remembered) put(m Mark) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mark, r.puts = m, r.puts+1
}

func (r *remembered) known() Mark {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.mark
}

// recordSome opens a log, has it remembered and writes n records.
func recordSome(t *testing.T, dir string, r *remembered, n int) (gone string) {
	t.Helper()
	tel, _ := watched(t)
	l, err := Open(Config{Dir: dir}, "gw-1", tel)
	if err != nil {
		t.Fatal(err)
	}
	l.Remember(r.known(), r.put)
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
	stuck, r := make(chan struct{}), new(remembered)
	l.Remember(Mark{}, func(m Mark) { <-stuck; r.put(m) })
	for range 100 {
		must(t, l.Call(exchange("r")))
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if records, _ := l.Lag(); records == 0 || time.Now().After(deadline) {
			break
		}
	}
	close(stuck)
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
			before, err := list(dir)
			must(t, err)
			if len(before) != 1 {
				t.Fatalf("a file that is there is given up: %v", before)
			}
			lose(t, before[0].path(dir))
			l.keepFile(l.disk.now())
			must(t, l.Call(exchange("s")))
			names, err := list(dir)
			must(t, err)
			last := names[len(names)-1]
			text, err := os.ReadFile(last.path(dir))
			must(t, err)
			for _, want := range []string{`"seq":2,`, `"event":"audit.strayed","attrs":{"segment":"` + before[0].file() + `"}`, `"seq":3,`} {
				if !strings.Contains(string(text), want) {
					t.Errorf("%s lacks %s: %s", last.file(), want, text)
				}
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
