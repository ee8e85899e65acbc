package server

import (
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	settle     = 200 * time.Millisecond // a renewal writes several files
	settleMost = 2 * time.Second        // in a directory that is never quiet
	pollAlways = time.Minute            // not every file system tells of changes
	pollOnly   = 3 * time.Second        // where the system has no watches left
)

// watch calls changed when something happens in the directories of certificate
// files, and now and then anyway. Directories are watched, not files: editors
// and renewal tools put new files in the old ones' place, and Kubernetes swaps
// the link ..data beside the links that the configuration names.
type watch struct {
	changed func()
	events  *fsnotify.Watcher // nil where the system has none
	quit    chan struct{}
	done    chan struct{}
	once    sync.Once
}

func startWatch(changed func(), log *slog.Logger) *watch {
	w := &watch{changed: changed, quit: make(chan struct{}), done: make(chan struct{})}
	events, err := fsnotify.NewWatcher()
	if err != nil {
		log.Warn("certificate files are polled, they cannot be watched", "err", err)
	} else {
		w.events = events
	}
	go w.run()
	return w
}

// follow watches the directories of t's files, as named and as links lead.
// Watching one twice does nothing; one that cannot be watched is polled.
func (w *watch) follow(t TLS) {
	if w == nil || w.events == nil {
		return
	}
	for _, path := range t.files() {
		_ = w.events.Add(filepath.Dir(path))
		if real, err := filepath.EvalSymlinks(path); err == nil {
			_ = w.events.Add(filepath.Dir(real))
		}
	}
}

func (w *watch) run() {
	defer close(w.done)
	poll := pollOnly
	var events <-chan fsnotify.Event
	var errs <-chan error
	if w.events != nil {
		poll, events, errs = pollAlways, w.events.Events, w.events.Errors
	}
	tick := time.NewTicker(poll)
	defer tick.Stop()
	quiet := time.NewTimer(settle)
	quiet.Stop()
	var restless time.Time // since when there were events without a pause
	stir := func() {
		if restless.IsZero() {
			restless = time.Now()
		}
		if time.Since(restless) < settleMost {
			quiet.Reset(settle)
		}
	}
	for {
		select {
		case <-w.quit:
			return
		case <-events:
			stir()
		case <-errs: // an overflow: something was missed
			stir()
		case <-quiet.C:
			restless = time.Time{}
			w.changed()
		case <-tick.C:
			w.changed()
		}
	}
}

// stop ends the watch and waits for it. The caller must not hold what changed
// needs. Stopping nil or twice is fine.
func (w *watch) stop() {
	if w == nil {
		return
	}
	w.once.Do(func() {
		close(w.quit)
		<-w.done
		if w.events != nil {
			_ = w.events.Close()
		}
	})
}
