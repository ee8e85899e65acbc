package apikey

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/durable"
)

// usageInterval is how often the usage file is replaced while keys are in use.
const usageInterval = 10 * time.Second

// usageKept is how long the last use of a key that is gone from the key file stays
// known: the file may be back soon, and an id may be asked about after its key was
// revoked.
const usageKept = 365 * 24 * time.Hour

// Usage is when API keys were last used, as one gateway has seen it and keeps it in
// the file of [Options].Usage.
type Usage struct {
	// Since is when the gateway began to look. A key may have been used before.
	Since time.Time `json:"since"`
	// Last is the latest use of each key that was used, by its id, in whole seconds.
	Last map[string]time.Time `json:"keys"`
}

// ReadUsage reads what a gateway has written about its API keys. The error wraps
// fs.ErrNotExist when there is no such file.
func ReadUsage(path string) (*Usage, error) {
	doc, err := os.ReadFile(path) //nolint:gosec // the operator's path
	if err != nil {
		return nil, fmt.Errorf("read key usage: %w", err)
	}
	u, err := parseKeyUsage(doc)
	if err != nil {
		return nil, fmt.Errorf("read key usage %s: %w", path, err)
	}
	return u, nil
}

// parseKeyUsage reads the file strictly: one that is somebody else's is not to be written over.
func parseKeyUsage(doc []byte) (*Usage, error) {
	var u Usage
	d := json.NewDecoder(bytes.NewReader(doc))
	d.DisallowUnknownFields()
	if err := d.Decode(&u); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one value")
	}
	if u.Since.IsZero() {
		return nil, errors.New("since is missing")
	}
	return &u, nil
}

// keyUsage keeps the uses of a key file's keys on disk. Each key's is noted in the
// table, by the call that used it; here they are collected, by one goroutine of their
// own, so that a disk that hangs holds up neither calls nor revocations.
type keyUsage struct {
	path  string
	log   *slog.Logger
	now   func() time.Time
	table func() *keyTable
	since time.Time
	dirty atomic.Bool // something was used since the file was written
	mute  bool        // it was said that the file cannot be written

	mu   sync.Mutex
	gone map[string]uint32 // last use of ids that are not in the table

	stop chan struct{}
	done chan struct{}
}

// openKeyUsage continues the file at path, if there is one. A file that is there and
// is none of this kind is left alone, and nothing is kept: nil.
func openKeyUsage(path string, f *keyFile, now func() time.Time) *keyUsage {
	u := &keyUsage{path: path, log: f.log, now: now, table: f.table.Load, gone: map[string]uint32{},
		stop: make(chan struct{}), done: make(chan struct{})}
	was, err := ReadUsage(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		u.since = now().UTC().Truncate(time.Second)
		u.dirty.Store(true)
		u.log.Info("API key usage is watched from now on", "file", path)
	case err != nil:
		u.log.Warn("API key usage is not kept: its file is not usable", "file", path, "err", err)
		return nil
	default:
		u.since = was.Since
		for id, at := range was.Last {
			u.gone[id] = unixSeconds(at)
		}
	}
	u.settle(u.table())
	go u.keep()
	return u
}

// unixSeconds are seconds since 1970, until 2106.
func unixSeconds(t time.Time) uint32 {
	return uint32(min(max(t.Unix(), 0), math.MaxUint32)) //nolint:gosec // bounded
}

// used notes that the key at index of a table was used. Where another table has taken
// its place meanwhile, whose making may have looked at this one before, the key is
// looked up there.
func (f *keyFile) used(t *keyTable, index uint32, now time.Time) {
	at := unixSeconds(now)
	if !t.keys[index].touch(at) {
		return
	}
	if next := f.table.Load(); next != t {
		if i, ok := next.index[beginning(&t.keys[index].hash)]; ok {
			next.keys[i].touch(at)
		}
	}
	f.usage.dirty.Store(true)
}

// adopt puts a table in place of the one before, and takes the uses over.
// The lock is held over the swap, so that no use is collected from neither table.
func (f *keyFile) adopt(next *keyTable) {
	u := f.usage
	if u == nil {
		f.table.Store(next)
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	old := f.table.Swap(next)
	for i := range old.keys {
		if at := old.keys[i].used.Load(); at != 0 {
			u.gone[strings.Clone(old.keys[i].id())] = at
		}
	}
	u.settle(next)
}

// settle gives a table what is remembered of its keys; the rest stays remembered.
func (u *keyUsage) settle(t *keyTable) {
	for i := range t.keys {
		id := t.keys[i].id()
		if at, ok := u.gone[id]; ok {
			t.keys[i].touch(at)
			delete(u.gone, id)
		}
	}
}

// keep writes the file now and then until stopped, and once more then.
func (u *keyUsage) keep() {
	defer close(u.done)
	tick := time.NewTicker(usageInterval)
	defer tick.Stop()
	for {
		u.write()
		select {
		case <-tick.C:
		case <-u.stop:
			u.write()
			return
		}
	}
}

// close writes what is not written yet.
func (u *keyUsage) close() {
	close(u.stop)
	<-u.done
}

// write replaces the file if there is anything new. Where it cannot be written, that
// is said once, and tried again.
func (u *keyUsage) write() {
	if !u.dirty.Swap(false) {
		return
	}
	err := durable.Replace(u.path, u.document())
	if err == nil {
		u.mute = false
		return
	}
	u.dirty.Store(true)
	if !u.mute {
		u.log.Warn("API key usage not written", "file", u.path, "err", err)
	}
	u.mute = true
}

// document is the file as of now, one key a line, in the order of their ids.
func (u *keyUsage) document() []byte {
	last := u.last()
	b := u.since.AppendFormat([]byte("{\n  \"since\": \""), time.RFC3339)
	b = append(b, "\",\n  \"keys\": {"...)
	separator := "\n    \""
	for _, id := range slices.Sorted(maps.Keys(last)) {
		b = append(append(append(b, separator...), id...), `": "`...) // ids need no escapes
		b = time.Unix(int64(last[id]), 0).UTC().AppendFormat(b, time.RFC3339)
		separator = "\",\n    \""
	}
	if len(last) > 0 {
		b = append(b, "\"\n  "...)
	}
	return append(b, "}\n}\n"...)
}

// last collects the uses of all keys, and forgets old ones of keys that are gone.
// Ids that are no ids come from a file that was edited by hand, and could not be written without
// escapes.
func (u *keyUsage) last() map[string]uint32 {
	u.mu.Lock()
	defer u.mu.Unlock()
	oldest := unixSeconds(u.now().Add(-usageKept))
	maps.DeleteFunc(u.gone, func(id string, at uint32) bool { return at < oldest || !validID(id) })
	last := maps.Clone(u.gone)
	t := u.table()
	for i := range t.keys {
		if at := t.keys[i].used.Load(); at != 0 {
			last[t.keys[i].id()] = at
		}
	}
	return last
}
