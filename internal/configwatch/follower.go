// Package configwatch follows the configuration file and the files with rules that it names,
// and has them loaded when their content changes.
package configwatch

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/a2a-gateway/a2a-gateway/internal/config"
)

// Options are what following depends on.
type Options struct {
	Hangup <-chan os.Signal   // each is a reason to load
	Asks   <-chan chan error  // of operators for a load; each hears what it came to
	Loaded *[sha256.Size]byte // the content that is in force; nil for none
	Load   func() error       // reports its error itself
	Reopen func()             // is called on a hangup before the load
	Log    *slog.Logger
}

// Follow loads when the file's content changes, or that of the files with rules that it
// names, or Hangup receives, until ctx ends. The directory is watched, not the file: editors replace files, and a
// Kubernetes ConfigMap changes by a symlink beside it. The content is also
// compared now and then, since not every file system tells of changes.
func Follow(ctx context.Context, path string, o Options) {
	sources := config.NewSources(path)
	f := follower{
		sum: sources.Sum, hup: o.Hangup, asks: o.Asks, load: o.Load,
		settle: 200 * time.Millisecond, most: 2 * time.Second, poll: 5 * time.Second,
	}
	if o.Loaded != nil {
		f.last = *o.Loaded // not what the file has now: it may have changed since it was loaded
	}
	watcher, err := fsnotify.NewWatcher()
	if err == nil {
		defer watcher.Close() // nothing is waiting to be written
		f.events, f.errs = watcher.Events, watcher.Errors
		f.looked = func() { watchOnly(watcher, sources.Dirs()) }
		err = watcher.Add(filepath.Dir(path))
	}
	if err != nil {
		o.Log.Warn("configuration file is polled, it cannot be watched", "error", err)
	}
	f.run(ctx, o.Reopen)
}

// watchOnly has a watcher watch these directories, as far as they are there, and no others.
func watchOnly(watcher *fsnotify.Watcher, dirs []string) {
	watched := watcher.WatchList()
	for _, dir := range dirs {
		if !slices.Contains(watched, dir) {
			_ = watcher.Add(dir) // what cannot be watched is looked at now and then
		}
	}
	for _, dir := range watched {
		if !slices.Contains(dirs, dir) {
			_ = watcher.Remove(dir) // it may be gone
		}
	}
}

// follower calls load when what it follows has got another content.
type follower struct {
	sum    func() ([sha256.Size]byte, bool) // of the content; false when it cannot be read
	looked func()                           // is called after sum; nil for nothing to do
	hup    <-chan os.Signal
	events <-chan fsnotify.Event // nil where the system has no watches
	errs   <-chan error
	asks   <-chan chan error // of operators; nil where there are none
	load   func() error

	settle time.Duration // how long a file must be left alone: tools write in several steps
	most   time.Duration // how long it may not be, in a directory that is never quiet
	poll   time.Duration

	last [sha256.Size]byte // of the content that was loaded, or tried
}

// run follows until ctx ends; reopen is called on a hangup before the load.
func (f *follower) run(ctx context.Context, reopen func()) {
	tick := time.NewTicker(f.poll)
	defer tick.Stop()
	quiet := time.NewTimer(f.settle) // the file may have changed before anybody watched
	defer quiet.Stop()
	var restless time.Time // since when there were events without a pause
	stir := func() {
		if restless.IsZero() {
			restless = time.Now()
		}
		if time.Since(restless) < f.most {
			quiet.Reset(f.settle)
		}
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.hup:
			reopen()
			_ = f.asked() // load reports its error itself
		case done := <-f.asks:
			done <- f.asked()
		case <-f.events:
			stir()
		case <-f.errs: // an overflow: something was missed
			stir()
		case <-tick.C:
			stir()
		case <-quiet.C:
			restless = time.Time{}
			if sum, ok := f.content(); ok && sum != f.last {
				f.last = sum
				_ = f.load()
			}
		}
	}
}

// asked loads because somebody asked, for whom a missing file is an error.
func (f *follower) asked() error {
	if sum, ok := f.content(); ok {
		f.last = sum
	}
	return f.load()
}

// content looks at what is followed.
func (f *follower) content() (sum [sha256.Size]byte, ok bool) {
	sum, ok = f.sum()
	if f.looked != nil {
		f.looked()
	}
	return sum, ok
}
