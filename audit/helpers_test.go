package audit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/audit/chain"
	"github.com/a2a-gateway/a2a-gateway/audit/segment"
	"github.com/a2a-gateway/a2a-gateway/internal/keys"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// watched is telemetry whose log can be read.
func watched(t testing.TB) (*telemetry.Telemetry, *bytes.Buffer) {
	t.Helper()
	var out bytes.Buffer
	tel, err := telemetry.Open(t.Context(), telemetry.Config{Logs: telemetry.Logs{Output: &out}}, "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tel.Close(context.Background()) })
	return tel, &out
}

// opened opens a log on d (or the real disk, when it is nil) that the test need
// not close.
func opened(t testing.TB, config Config, d *fakeDisk) *Log {
	t.Helper()
	tel, _ := watched(t)
	l, err := openOn(config, tel, d)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func openOn(config Config, tel *telemetry.Telemetry, d *fakeDisk) (*Log, error) {
	if d == nil {
		return Open(config, "gw-1", tel)
	}
	return open(config, "gw-1", tel, d.disk())
}

// What the packages below have for themselves, as it stands in the files.
const (
	hashPrefix  = `,"hash":"`
	hashSuffix  = `"}`
	hashSize    = len(hashPrefix) + 64 + len(hashSuffix)
	cipherName  = "a2a-gateway audit A256GCM"
	followEvery = 200 * time.Millisecond
)

// signedLog is opened with checkpoints.
func signedLog(t testing.TB, config Config, d *fakeDisk) (*Log, *keys.Ring) {
	t.Helper()
	ring, err := keys.Open(keys.Config{Dir: t.TempDir(), Algorithm: "EdDSA"}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(ring.Close)
	return signedBy(t, config, d, ring), ring
}

func signedBy(t testing.TB, config Config, d *fakeDisk, ring *keys.Ring) *Log {
	t.Helper()
	tel, _ := watched(t)
	on := realDisk()
	if d != nil {
		on = d.disk()
	}
	l, err := open(config, "gw-1", tel, on)
	if err != nil {
		t.Fatal(err)
	}
	l.SignWith(ring)
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// record is what the tests look at in a line.
type record struct {
	Seq       uint64 `json:"seq"`
	V         int    `json:"v"`
	Gateway   string `json:"gateway"`
	Type      string `json:"type"`
	Time      string `json:"time"`
	RequestID string `json:"request_id"`
	Event     string `json:"event"`
}

// read parses all records of a directory, oldest first. Each line must be a
// whole JSON object without a name twice, and be numbered one more than the one
// before; only the end of a segment that is not the last may be torn, and the
// last one too when torn says so.
func read(t testing.TB, dir string, torn bool) []record {
	t.Helper()
	names, err := segment.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []record
	for i, n := range names {
		content, err := os.ReadFile(n.Path(dir))
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(content) {
			if line[len(line)-1] != '\n' {
				if i == len(names)-1 && !torn {
					t.Fatalf("%s ends in %.100q", n.File(), line)
				}
				continue
			}
			var r record
			if err := json.Unmarshal(line, &r); err != nil {
				t.Fatalf("%s: %v: %.200q", n.File(), err, line)
			}
			if len(all) > 0 && r.Seq != all[len(all)-1].Seq+1 || len(all) == 0 && r.Seq != 1 {
				t.Fatalf("%s: record %d after %d", n.File(), r.Seq, len(all))
			}
			all = append(all, r)
		}
	}
	return all
}

// ids counts the records by request id and type.
func ids(records []record) map[string]int {
	count := map[string]int{}
	for _, r := range records {
		count[r.Type+" "+r.RequestID]++
	}
	return count
}

func exchange(id string) *telemetry.Exchange {
	return &telemetry.Exchange{
		Arrival: telemetry.Arrival{
			Start: noon, Duration: 3 * time.Millisecond, RequestID: id, ClientIP: "192.0.2.7", Host: "gw.example",
			Path: "/agents/billing", UserAgent: "sdk/1.0", RequestBytes: 700,
			Digest: sha256.Sum256(nil),
		},
		Call:          telemetry.Call{Agent: "billing", Method: "SendMessage", Binding: "JSONRPC", Version: "1.0", TaskID: "0190b2c4-6a3e-7000-8000-000000000001"},
		Caller:        telemetry.Caller{Principal: "alice", Issuer: "https://id.example"},
		Authorization: telemetry.Authorization{Decision: "allow", Rule: "team"},
		Answer:        telemetry.Answer{ResponseBytes: 600, Status: 200},
	}
}

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// fakeDisk is the real disk with faults put in. Its clock stands still until it
// is moved.
type fakeDisk struct {
	linger   time.Duration // an hour: the background does nothing unless the test asks for it
	probe    time.Duration // an hour too
	patience time.Duration // a century: a write under way while the clock is moved does not hang
	mu       sync.Mutex
	clock    time.Time
	space    int64 // bytes that can still be written; negative: no limit
	syncErr  error // what fsync returns
	cutErr   error
	openErr  error
	dirErr   error
	syncs    map[string]int // fsyncs per file, by path and serial number
	afterBad bool           // a file was synced again after its fsync had failed
	opened   int
	hold     chan struct{} // when set, writes wait for it to be closed
	held     chan struct{} // gets a token when a write waits
	syncing  func()        // when set, is called within each fsync
}

func newFakeDisk() *fakeDisk {
	return &fakeDisk{linger: time.Hour, probe: time.Hour, patience: 100 * 365 * 24 * time.Hour, clock: noon, space: -1, syncs: map[string]int{}, held: make(chan struct{}, 100)}
}

// set changes the disk while nobody looks.
func (d *fakeDisk) set(change func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change()
}

func (d *fakeDisk) disk() disk {
	return disk{open: d.open, remove: os.Remove, syncDir: d.syncDir, head: chain.WriteHead, now: d.now, linger: d.linger, probe: d.probe, patience: d.patience}
}

func (d *fakeDisk) now() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.clock
}

func (d *fakeDisk) syncDir(string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.dirErr
}

func (d *fakeDisk) open(path string, fresh bool) (file, int64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.openErr != nil {
		return nil, 0, d.openErr
	}
	f, size, err := openFile(path, fresh)
	if err != nil {
		return nil, 0, err
	}
	d.opened++
	return &fakeFile{file: f, disk: d, name: filepath.Base(path)}, size, nil
}

type fakeFile struct {
	file
	disk *fakeDisk
	name string
	bad  bool // its fsync has failed
}

// Write writes as much as there is space for, like a full disk.
func (f *fakeFile) Write(p []byte) (int, error) {
	d := f.disk
	d.mu.Lock()
	hold := d.hold
	d.mu.Unlock()
	if hold != nil {
		d.held <- struct{}{}
		<-hold
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.space < 0 || int64(len(p)) <= d.space {
		d.space -= min(int64(len(p)), max(d.space, 0))
		return f.file.Write(p)
	}
	n, err := f.file.Write(p[:d.space])
	d.space = 0
	return n, errors.Join(err, &os.PathError{Op: "write", Path: f.name, Err: syscall.ENOSPC})
}

func (f *fakeFile) Cut(n int64) error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if f.disk.cutErr != nil {
		return f.disk.cutErr
	}
	return f.file.Cut(n)
}

func (f *fakeFile) Sync() error {
	f.disk.mu.Lock()
	syncing := f.disk.syncing
	f.disk.mu.Unlock()
	if syncing != nil {
		syncing()
	}
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	f.disk.syncs[f.name]++
	f.disk.afterBad = f.disk.afterBad || f.bad
	if f.disk.syncErr != nil {
		f.bad = true
		return f.disk.syncErr
	}
	return f.file.Sync()
}

var _ io.Writer = (*fakeFile)(nil)
