package gateway

import (
	"bytes"
	"context"
	"crypto/sha256"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/a2a-gateway/a2a-gateway/internal/config"
)

// settle is how long a file must stay as it is before it is read: editors and
// deployment tools write in several steps.
const settle = 200 * time.Millisecond

// Follow reloads when the file's content changes or hup receives, until ctx
// ends. The directory is watched, not the file: editors replace files, and a
// Kubernetes ConfigMap changes by a symlink beside it. Where watching is not
// possible, the content is compared every few seconds.
func (g *Gateway) Follow(ctx context.Context, path string, hup <-chan os.Signal) {
	watcher, err := fsnotify.NewWatcher()
	if err == nil {
		defer watcher.Close() //nolint:errcheck // ends with the process
		err = watcher.Add(filepath.Dir(path))
	}
	if err != nil {
		g.telemetry.Log.Warn("watch configuration: polling instead", "error", err)
		watcher = &fsnotify.Watcher{} // nil channels: never ready
	}
	poll := time.NewTicker(5 * time.Second)
	defer poll.Stop()
	quiet := time.NewTimer(settle)
	defer quiet.Stop()
	last := content(path)
	for {
		select {
		case <-ctx.Done():
			return
		case <-hup:
			_ = g.audit.Reopen() // its error shows in the next record
			last = content(path)
			g.load(ctx, path)
		case <-watcher.Events:
			quiet.Reset(settle)
		case <-poll.C:
			quiet.Reset(settle)
		case <-quiet.C:
			if now := content(path); now != nil && !bytes.Equal(now, last) {
				last = now
				g.load(ctx, path)
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

// content is a digest of the file, or nil when it cannot be read: in the moment
// of its replacement, a file may be missing.
func content(path string) []byte {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	sum := sha256.Sum256(data)
	return sum[:]
}
