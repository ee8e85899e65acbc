package discovery

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
	"go.yaml.in/yaml/v4"
)

// Timing of the watch.
const (
	// pollInterval is how soon a change is seen where the file system sends no events.
	pollInterval = time.Second
	// settleTime is how long a file must look the same before it is read: the first half
	// of a list is a list. One that is written on and on is read after settleLooks.
	settleTime  = 20 * time.Millisecond
	settleLooks = 10
)

// file reads a list that somebody edits.
type file struct {
	config  Config
	options Options
	poll    time.Duration
}

// Run implements Source. It watches the directory, because editors and mounted volumes
// replace the file instead of writing it.
//
// File events only make it quicker. The ticker looks at the file in any case, because network
// file systems, and some mounts of containers, send none.
func (f *file) Run(ctx context.Context, found func([]Instance)) {
	k := newKeeper(f.config, f.options, found, "file "+f.config.File)
	var events <-chan fsnotify.Event
	if w, err := fsnotify.NewWatcher(); err != nil {
		k.log.Debug("no file events; polling", "err", err)
	} else {
		defer w.Close()
		if err := w.Add(filepath.Dir(f.config.File)); err != nil {
			k.log.Debug("no file events; polling", "err", err)
		}
		events = w.Events
	}
	tick := time.NewTicker(f.poll)
	defer tick.Stop()
	seen := f.look()
	f.read(k)
	for {
		ticked := false
		select {
		case <-ctx.Done():
			return
		case <-events:
		case <-tick.C:
			ticked = true
		}
		// A list of none that is still there at the next look has been said again, and a
		// file that could not be read may be readable now without looking different.
		if now := f.look(); same(now, seen) && (!ticked || !k.doubts() && !k.failing) {
			continue
		}
		if seen = f.settled(ctx); ctx.Err() == nil {
			f.read(k)
		}
	}
}

// look is nil where there is no file.
func (f *file) look() fs.FileInfo {
	info, err := os.Stat(f.config.File)
	if err != nil {
		return nil
	}
	return info
}

// same compares inode, size and time.
//
// Two absent files are the same, and an absent one differs from any other.
func same(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == b
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// settled waits for an edit to end.
//
// It gives the file as it was at the last look, nil where it has gone meanwhile.
func (f *file) settled(ctx context.Context) fs.FileInfo {
	now := f.look()
	for range settleLooks {
		t := time.NewTimer(settleTime)
		select {
		case <-ctx.Done():
			t.Stop()
			return now
		case <-t.C:
		}
		next := f.look()
		if same(next, now) {
			break
		}
		now = next
	}
	return now
}

// read takes the file in as it is now. A file that is missing or wrong is a failure, and what it
// said before holds.
func (f *file) read(k *keeper) {
	data, err := readAtMost(f.config.File, int64(f.config.Answer))
	var list []Instance
	if err == nil {
		list, err = parseFile(data)
	}
	k.settle(list, err)
}

// readAtMost reads a file that is no longer than it may be.
func readAtMost(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path) //nolint:gosec // the operator's path
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%s is longer than answer (%d bytes)", path, limit)
	}
	return data, err
}

// parseFile reads one YAML document, of which JSON is a kind. An empty file is no list: it
// is what an editor makes of a file in the moment before it is written.
func parseFile(data []byte) ([]Instance, error) {
	l, err := yaml.NewLoader(bytes.NewReader(data), yaml.WithUniqueKeys(true))
	if err != nil {
		return nil, err
	}
	var doc yaml.Node
	if err := l.Load(&doc); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if doc.Kind != yaml.DocumentNode || doc.Content[0].Kind != yaml.SequenceNode {
		return nil, errors.New("want a list of instances; an empty one is []")
	}
	if err := l.Load(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one document")
	}
	items := doc.Content[0].Content
	list := make([]Instance, 0, len(items))
	for _, n := range items {
		i, err := entry(n)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n.Line, err)
		}
		list = append(list, i)
	}
	return written(list)
}

// entry is an instance as people write it: its address alone, or a mapping.
//
// Unknown members are refused, since a misspelt `wieght` would silently be an instance of weight
// 1.
func entry(n *yaml.Node) (Instance, error) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" {
		return Instance{Address: n.Value}, nil
	}
	if n.Kind != yaml.MappingNode {
		return Instance{}, errors.New("want host:port, or a mapping with address, weight and zone")
	}
	// A node is decoded without the loader's strictness.
	for i := 0; i+1 < len(n.Content); i += 2 {
		switch name := n.Content[i].Value; name {
		case "address", "weight", "zone":
		default:
			return Instance{}, fmt.Errorf("unknown member %.40q", name)
		}
	}
	var i Instance
	err := n.Decode(&i)
	return i, err
}
