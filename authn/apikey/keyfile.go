package apikey

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/a2a-gateway/a2a-gateway/authn"
)

// Timing of the key file watch.
const (
	// pollInterval is how soon a change is seen where the file system sends no
	// events (network mounts, some containers). A look costs one stat. Half of the second
	// within which a revoked key must be refused; the other half is for reading.
	pollInterval = time.Second / 2
	// settleTime is how long a file must look the same before it is read: an editor that
	// writes in place empties it first, and no keys is a legal file. One that is written
	// on and on is read after settleLooks.
	settleTime  = 20 * time.Millisecond
	settleLooks = 10
)

// keyFile keeps the keys of a file at hand and current. Chains of successive
// configurations share it.
// Calls read table alone, without a lock; everything else is the watcher's.
type keyFile struct {
	path  string
	log   *slog.Logger
	lease authn.Lease
	table atomic.Pointer[keyTable] // never nil once opened
	usage *keyUsage                // nil where it is not kept
	// The lease ends the watch when the last chain that uses the file is closed.
	kept string // where usage is to be kept, as keyOptions.Usage

	mu    sync.Mutex // serialises refresh
	seen  fileState  // of the last reading
	pause func()     // between two looks at a file that changes
	stop  chan struct{}
	done  chan struct{}
}

// fileState is what tells two versions of a file apart without reading them.
type fileState struct {
	info fs.FileInfo // nil: no such file
	err  string      // why it could not be looked at
}

// changed compares inode, size and time: a rewrite within one tick of the clock
// still has another inode or, written in place, most likely another size.
func (s fileState) changed(o fileState) bool {
	if s.info == nil || o.info == nil {
		return s.info != o.info || s.err != o.err
	}
	return !os.SameFile(s.info, o.info) || s.info.Size() != o.info.Size() ||
		!s.info.ModTime().Equal(o.info.ModTime())
}

// look is the state of a file now. A file that is missing is a state, not an error.
func look(path string) fileState {
	info, err := os.Stat(path)
	switch {
	case err == nil:
		return fileState{info: info}
	case errors.Is(err, fs.ErrNotExist):
		return fileState{}
	}
	return fileState{err: err.Error()}
}

// openKeyFile reads the keys and begins to watch. A file that is there but cannot
// be read is an error now, when somebody is looking; later it is a log line.
func openKeyFile(path string, o *Options) (*keyFile, error) {
	f := &keyFile{path: path, kept: o.Usage, log: o.Logger, stop: make(chan struct{}), done: make(chan struct{})}
	f.pause = f.rest
	// It is looked at before it is read: a change in between is seen as one by the first refresh.
	f.seen = look(path)
	table, err := f.read()
	if err != nil {
		return nil, err
	}
	f.table.Store(table)
	f.remark(len(table.keys))
	if o.Usage != "" {
		f.usage = openKeyUsage(o.Usage, f, o.Now)
	}
	go f.watch()
	f.lease.Start(func() {
		close(f.stop)
		<-f.done
		if f.usage != nil {
			f.usage.close()
		}
	})
	return f, nil
}

// serves reports whether a chain with these options can share the file.
func (f *keyFile) serves(path string, o *Options) bool { return f.path == path && f.kept == o.Usage }

// read loads the file as it is now.
func (f *keyFile) read() (*keyTable, error) {
	records, err := readKeys(f.path)
	if err != nil {
		return nil, err
	}
	return newKeyTable(records)
}

// remark warns about a state of the file that is legal and probably not meant.
func (f *keyFile) remark(n int) {
	switch s := f.seen; {
	case s.info == nil:
		f.log.Warn("API key file is missing: no API key is accepted", "file", f.path)
	case s.info.Mode().Perm()&0o022 != 0:
		f.log.Warn("API key file can be written by others: they can make keys",
			"file", f.path, "mode", s.info.Mode().Perm().String())
	default:
		f.log.Info("API keys loaded", "file", f.path, "keys", n)
	}
}

// refresh reads the file again if it has changed. A broken file keeps the keys that
// are in force, and says so once per version of the file. A file that was removed
// takes its keys with it: better a loud outage than keys nobody can revoke.
func (f *keyFile) refresh() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !look(f.path).changed(f.seen) {
		return
	}
	now := f.settled()
	// The state is noted also of a file that turns out to be broken, so that it is told of once.
	f.seen = now
	if now.err != "" {
		f.log.Error("API key file not readable; the keys of before stay in force", "file", f.path, "err", now.err)
		return
	}
	table, err := f.read()
	if err != nil {
		f.log.Error("API key file not usable; the keys of before stay in force", "file", f.path, "err", err)
		return
	}
	f.adopt(table)
	f.remark(len(table.keys))
}

// settled waits for an edit to end.
func (f *keyFile) settled() fileState {
	now := look(f.path)
	for range settleLooks {
		f.pause()
		next := look(f.path)
		if !next.changed(now) {
			break
		}
		now = next
	}
	return now
}

// rest is the usual pause.
func (f *keyFile) rest() {
	select {
	case <-f.stop:
	case <-time.After(settleTime):
	}
}

// watch looks when the directory changes, and twice a second in any case. It watches
// the directory because the file itself is replaced by every edit, and because a
// mounted Kubernetes secret changes by a link beside it.
func (f *keyFile) watch() {
	defer close(f.done)
	var events <-chan fsnotify.Event
	if w, err := fsnotify.NewWatcher(); err != nil {
		f.log.Debug("no file events; polling", "file", f.path, "err", err)
	} else {
		defer w.Close()
		if err := w.Add(filepath.Dir(f.path)); err != nil {
			f.log.Debug("no file events; polling", "file", f.path, "err", err)
		}
		events = w.Events
	}
	f.refresh() // a change since the file was opened sent no event
	// Events can be lost, and network file systems send none.
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		select {
		case <-f.stop:
			return
		case <-events:
			f.refresh()
		case <-tick.C:
			f.refresh()
		}
	}
}
