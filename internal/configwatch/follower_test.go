package configwatch

import (
	"context"
	"crypto/sha256"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/a2a-gateway/a2a-gateway/internal/config"
)

// following is a follower at work on a file in a directory of its own.
type following struct {
	testing.TB
	dir, path string
	loads     chan string // the file's content at each load
	reopened  chan struct{}
	hup       chan os.Signal
	stop      func()
}

// follow starts one on a file with content "one"; change may alter it first.
func follow(t *testing.T, change func(*follower)) *following {
	t.Helper()
	dir := t.TempDir()
	f := &following{
		TB: t, dir: dir, path: filepath.Join(dir, "config.yaml"),
		loads: make(chan string, 100), reopened: make(chan struct{}, 100), hup: make(chan os.Signal, 1),
	}
	f.write(f.path, "one")
	return f.start(change)
}

func (f *following) start(change func(*follower)) *following {
	f.Helper()
	w := follower{
		sum: config.NewSources(f.path).Sum, hup: f.hup, settle: 20 * time.Millisecond, most: time.Second, poll: time.Hour,
		last: sha256.Sum256([]byte("one")),
		load: func() error {
			data, err := os.ReadFile(f.path)
			if err != nil {
				data = []byte("missing")
			}
			f.loads <- string(data)
			return nil
		},
	}
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		f.Fatal(err)
	}
	if err := watcher.Add(filepath.Dir(f.path)); err != nil {
		f.Fatal(err)
	}
	w.events, w.errs = watcher.Events, watcher.Errors
	if change != nil {
		change(&w)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.run(ctx, func() { f.reopened <- struct{}{} })
	}()
	f.stop = func() {
		cancel()
		<-done
	}
	f.Cleanup(func() {
		f.stop()
		_ = watcher.Close()
	})
	return f
}

func (f *following) write(path, content string) {
	f.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		f.Fatal(err)
	}
}

func (f *following) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// loaded waits for a load and compares what was in the file.
func (f *following) loaded(want string) {
	f.Helper()
	select {
	case got := <-f.loads:
		if got != want {
			f.Errorf("loaded %q, want %q", got, want)
		}
	case <-time.After(time.Minute):
		f.Fatalf("%q was not loaded", want)
	}
}

// over stops the follower and makes sure that nothing else was loaded.
func (f *following) over() {
	f.Helper()
	f.stop()
	select {
	case got := <-f.loads:
		f.Errorf("loaded once more: %q", got)
	default:
	}
}

func TestFollowWrite(t *testing.T) {
	t.Parallel()
	f := follow(t, nil)
	f.write(f.path, "two")
	f.loaded("two")
	f.write(f.path, "three")
	f.loaded("three")
	f.over()
}

func TestFollowRename(t *testing.T) {
	t.Parallel()
	f := follow(t, nil)
	f.write(f.path+".next", "two")
	f.must(os.Rename(f.path+".next", f.path))
	f.loaded("two")
	f.over()
}

// A ConfigMap volume has the file as a link through ..data, a link to a directory
// that is swapped by rename; nothing happens to the file's own name.
func TestFollowConfigMap(t *testing.T) {
	t.Parallel()
	f := &following{TB: t, dir: t.TempDir(), loads: make(chan string, 100), hup: make(chan os.Signal, 1)}
	f.path = filepath.Join(f.dir, "config.yaml")
	version := func(name, content string) {
		f.must(os.Mkdir(filepath.Join(f.dir, name), 0o700))
		f.write(filepath.Join(f.dir, name, "config.yaml"), content)
		f.must(os.Symlink(name, filepath.Join(f.dir, "..data_tmp")))
		f.must(os.Rename(filepath.Join(f.dir, "..data_tmp"), filepath.Join(f.dir, "..data")))
	}
	version("..1", "one")
	f.must(os.Symlink(filepath.Join("..data", "config.yaml"), f.path))
	f.start(nil)
	version("..2", "two")
	f.must(os.RemoveAll(filepath.Join(f.dir, "..1")))
	f.loaded("two")
	f.over()
}

// What changed between the load and the watch is not missed.
func TestFollowChangeBeforeWatch(t *testing.T) {
	t.Parallel()
	f := follow(t, func(w *follower) { w.last = sha256.Sum256([]byte("zero")) })
	f.loaded("one")
	f.over()
}

// Many writes are one change; a file that comes back as it was is none, and one
// that is missing or empty for a moment is waited for.
func TestFollowSettles(t *testing.T) {
	t.Parallel()
	f := follow(t, func(w *follower) { w.settle, w.most = time.Second, time.Minute })
	for range 20 {
		f.write(f.path, "draft")
	}
	f.write(f.path, "one")
	f.must(os.Remove(f.path))
	f.write(f.path, "")
	f.write(f.path, "two")
	f.loaded("two")
	f.over()
}

func TestFollowMissingFile(t *testing.T) {
	t.Parallel()
	f := follow(t, nil)
	f.must(os.Remove(f.path))
	// Its own signal shows when the follower has looked at the missing file: the
	// poll below cannot be told from events.
	f.hup <- syscall.SIGHUP
	f.loaded("missing")
	f.write(f.path, "two")
	f.loaded("two")
	f.over()
}

// Files with rules are followed too, also those that come, go, or are in directories that
// were not there.
func TestFollowRuleFiles(t *testing.T) {
	t.Parallel()
	const named = "policy: {files: ['rules.d/*.yaml']}"
	f := &following{TB: t, dir: t.TempDir(), loads: make(chan string, 100), hup: make(chan os.Signal, 1)}
	f.path = filepath.Join(f.dir, "config.yaml")
	f.write(f.path, "one")
	f.start(func(w *follower) {
		sources := config.NewSources(f.path)
		watcher, err := fsnotify.NewWatcher()
		f.must(err)
		t.Cleanup(func() { _ = watcher.Close() })
		f.must(watcher.Add(f.dir))
		w.sum, w.looked = sources.Sum, func() { watchOnly(watcher, sources.Dirs()) }
		w.events, w.errs = watcher.Events, watcher.Errors
		// What comes between the look and the watch is found by looking again.
		w.poll = 100 * time.Millisecond
	})
	f.write(f.path, named)
	f.loaded(named)
	rules := filepath.Join(f.dir, "rules.d")
	f.must(os.Mkdir(rules, 0o700))
	f.write(filepath.Join(rules, "a.yaml"), "1")
	f.loaded(named)
	f.write(filepath.Join(rules, "a.yaml"), "2")
	f.loaded(named)
	f.write(filepath.Join(rules, "b.yaml.draft"), "3") // named by nobody
	f.must(os.Rename(filepath.Join(rules, "a.yaml"), filepath.Join(rules, "b.yaml")))
	f.loaded(named)
	f.must(os.Remove(filepath.Join(rules, "b.yaml")))
	f.loaded(named)
	f.over()
}

// A directory in which something else never rests does not put a change off for
// ever.
func TestFollowRestless(t *testing.T) {
	t.Parallel()
	events := make(chan fsnotify.Event)
	f := follow(t, func(w *follower) {
		w.events, w.settle, w.most = events, 100*time.Millisecond, 300*time.Millisecond
	})
	f.write(f.path, "two")
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	giveUp := time.After(time.Minute)
	for {
		select {
		case <-tick.C:
			events <- fsnotify.Event{Name: filepath.Join(f.dir, "other.log"), Op: fsnotify.Write}
		case got := <-f.loads:
			if got != "two" {
				t.Errorf("loaded %q", got)
			}
			return
		case <-giveUp:
			t.Fatal("never loaded")
		}
	}
}

// Without watches the content is compared, and errors of the watch do not stop it.
func TestFollowPolls(t *testing.T) {
	t.Parallel()
	errs := make(chan error)
	f := follow(t, func(w *follower) { w.events, w.errs, w.poll = nil, errs, 10*time.Millisecond })
	f.write(f.path, "two")
	f.loaded("two")
	errs <- fsnotify.ErrEventOverflow
	f.write(f.path, "three")
	f.loaded("three")
	f.over()
}

// A signal loads whatever is there, changed or not, and reopens the audit log
// before: log rotation tells by the same signal.
func TestFollowSignal(t *testing.T) {
	t.Parallel()
	f := follow(t, nil)
	f.hup <- syscall.SIGHUP
	f.loaded("one")
	<-f.reopened
	f.over()
}
