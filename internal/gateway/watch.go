package gateway

import (
	"context"
	"crypto/sha256"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/a2a-gateway/a2a-gateway/internal/config"
)

// maxConfig is more than config.Load reads. What is longer is told apart by its
// beginning, which is enough to have it loaded and refused.
const maxConfig = 16<<20 + 1

// Follow reloads when the file's content changes or hup receives, until ctx
// ends. The directory is watched, not the file: editors replace files, and a
// Kubernetes ConfigMap changes by a symlink beside it. The content is also
// compared now and then, since not every file system tells of changes.
func (g *Gateway) Follow(ctx context.Context, path string, hup <-chan os.Signal) {
	f := follower{
		path: path, hup: hup, load: func() { g.load(ctx, path) },
		settle: 200 * time.Millisecond, most: 2 * time.Second, poll: 5 * time.Second,
	}
	if s := g.current.Load(); s != nil {
		f.last = s.config.Sum // not what the file has now: it may have changed since it was loaded
	}
	watcher, err := fsnotify.NewWatcher()
	if err == nil {
		defer watcher.Close() // nothing is waiting to be written
		f.events, f.errs = watcher.Events, watcher.Errors
		err = watcher.Add(filepath.Dir(path))
	}
	if err != nil {
		g.telemetry.Log.Warn("configuration file is polled, it cannot be watched", "error", err)
	}
	f.run(ctx, func() {
		// Its failure shows in the records that cannot be written, and in /readyz.
		if err := g.audit.Reopen(); err != nil {
			g.telemetry.Log.Error("reopen audit log", "error", err)
		}
	})
}

// follower calls load when a file has got another content.
type follower struct {
	path   string
	hup    <-chan os.Signal
	events <-chan fsnotify.Event // nil where the system has no watches
	errs   <-chan error
	load   func()

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
			if sum, ok := content(f.path); ok {
				f.last = sum
			}
			f.load() // a missing file is an error now: somebody asked
		case <-f.events:
			stir()
		case <-f.errs: // an overflow: something was missed
			stir()
		case <-tick.C:
			stir()
		case <-quiet.C:
			restless = time.Time{}
			if sum, ok := content(f.path); ok && sum != f.last {
				f.last = sum
				f.load()
			}
		}
	}
}

func (g *Gateway) load(ctx context.Context, path string) {
	cfg, err := config.Load(path)
	if err != nil {
		g.ReportReload([32]byte{}, err)
		return
	}
	_ = g.Reload(ctx, cfg) // Reload reports its error itself
}

// content is a digest of the file, or false when it cannot be read: in the
// moment of its replacement, a file may be missing.
func content(path string) ([sha256.Size]byte, bool) {
	file, err := os.Open(path)
	if err != nil {
		return [sha256.Size]byte{}, false
	}
	defer file.Close() // only read from
	data, err := io.ReadAll(io.LimitReader(file, maxConfig))
	if err != nil || len(data) == 0 {
		return [sha256.Size]byte{}, false // truncated, about to be written
	}
	return sha256.Sum256(data), true
}
