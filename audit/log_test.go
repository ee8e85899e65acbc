package audit

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/audit/chain"
	"github.com/a2a-gateway/a2a-gateway/audit/segment"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

func TestRecords(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "made", "by", "open")
	l := opened(t, Config{Dir: dir}, newFakeDisk())
	e := exchange("r-1")
	e.Streamed, e.Events, e.FirstEvent, e.End, e.TaskState = true, 2, time.Millisecond, "final", "TASK_STATE_COMPLETED"
	e.Groups, e.ResponseDigest, e.Cause = []string{"a", "b"}, sha256.Sum256([]byte("{}")), "none\n"
	if err := errors.Join(l.Intent(e), l.Call(e), l.Event("config.reload", map[string]string{"z": "1", "a": "x\ny"}),
		l.Event("stop", nil)); err != nil {
		t.Fatal(err)
	}
	intent := `"request_id":"r-1","agent":"billing","method":"SendMessage","principal":"alice","issuer":"https://id.example",` +
		`"decision":"allow","rule":"team","task_id":"0190b2c4-6a3e-7000-8000-000000000001","client_ip":"192.0.2.7",` +
		`"request_digest":"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"`
	subject := `"start":"2026-11-21T12:00:00.000000000Z","request_id":"r-1","agent":"billing","method":"SendMessage",` +
		`"binding":"JSONRPC","version":"1.0","principal":"alice","issuer":"https://id.example","decision":"allow",` +
		`"rule":"team","task_id":"0190b2c4-6a3e-7000-8000-000000000001","request_bytes":700,"groups":["a","b"],` +
		`"client_ip":"192.0.2.7","host":"gw.example","path":"/agents/billing","user_agent":"sdk/1.0",` +
		`"request_digest":"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"`
	at := `"time":"2026-11-21T12:00:00.000000000Z"`
	want := `{"seq":1,"v":1,"gateway":"gw-1","type":"intent",` + at + `,` + intent + "}\n" +
		`{"seq":2,"v":1,"gateway":"gw-1","type":"call",` + at + `,` + subject + `,"status":200,"cause":"none\\x0a",` +
		`"task_state":"TASK_STATE_COMPLETED","response_bytes":600,"streamed":true,"events":2,"first_event_ms":1.000,` +
		`"end":"final","duration_ms":3.000,"response_digest":"sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"}` + "\n" +
		`{"seq":3,"v":1,"gateway":"gw-1","type":"event",` + at + `,"event":"config.reload","attrs":{"a":"x\\x0ay","z":"1"}}` + "\n" +
		`{"seq":4,"v":1,"gateway":"gw-1","type":"event",` + at + `,"event":"stop"}` + "\n"
	path := filepath.Join(dir, "audit-2026-11-21.jsonl")
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	plain := regexp.MustCompile(`(,"segment":\{"name":"audit-2026-11-21.jsonl"\})?,"hash":"[0-9a-f]{64}"`).ReplaceAllString(string(got), "")
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(plain, "\n")); diff != "" {
		t.Error(diff)
	}
	for p, want := range map[string]os.FileMode{path: 0o600, dir: 0o700 | os.ModeDir} {
		if info, err := os.Stat(p); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v", p, info.Mode(), err)
		}
	}
}

// TestL10_AuditInjection: no text from outside breaks a line or adds a member.
func TestL10_AuditInjection(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := opened(t, Config{Dir: dir}, nil)
	naughty := []string{"\n{\"seq\":1}", "\",\"decision\":\"allow", "\u202e\u2066", "\xff\xfe", "\x00\x1b[2J", "a\\", `\u0022`,
		strings.Repeat("x", 1<<20), strings.Repeat("\x01", 1000), "\u2028", "}", "日本"}
	for _, bad := range naughty {
		e := &telemetry.Exchange{
			Arrival:       telemetry.Arrival{RequestID: bad, Path: bad, UserAgent: bad},
			Caller:        telemetry.Caller{Groups: []string{bad, bad}, Principal: bad},
			Call:          telemetry.Call{TaskID: bad},
			Answer:        telemetry.Answer{Cause: bad},
			Authorization: telemetry.Authorization{Shadow: []string{bad}},
			Negotiation:   telemetry.Negotiation{ExtensionsRequested: make([]string, 10_000)},
		}
		for i := range e.ExtensionsRequested {
			e.ExtensionsRequested[i] = bad
		}
		if err := errors.Join(l.Intent(e), l.Call(e), l.Event("x", map[string]string{"a": bad})); err != nil {
			t.Fatal(err)
		}
	}
	records := read(t, dir, false)
	if len(records) != 3*len(naughty) {
		t.Errorf("%d records, want %d", len(records), 3*len(naughty))
	}
	content, err := os.ReadFile(filepath.Join(dir, segment.Name{Day: segment.DayOf(time.Now())}.File()))
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(content) {
		if len(line) > chain.LongestRecord {
			t.Errorf("a record has %d bytes, more than is looked at on start", len(line))
		}
	}
	if i := bytes.IndexAny(content, "\u202e\u2066\u2028\x00\x1b"); i >= 0 {
		t.Errorf("raw text at %d: %q", i, content[max(0, i-20):i+20])
	}
}

func TestManyWriters(t *testing.T) {
	t.Parallel()
	for _, durability := range []string{durabilityWrite, durabilitySync} {
		t.Run(durability, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			l := opened(t, Config{Dir: dir, Durability: durability, SegmentSize: minSegmentSize}, nil)
			const writers, each = 16, 60
			var all sync.WaitGroup
			for w := range writers {
				all.Go(func() {
					for i := range each {
						e := exchange(fmt.Sprint(w, "-", i))
						if err := errors.Join(l.Intent(e), l.Call(e)); err != nil {
							t.Error(err)
						}
					}
				})
			}
			for range 20 {
				if err := l.Reopen(); err != nil {
					t.Error(err)
				}
			}
			all.Wait()
			records := read(t, dir, false)
			got := ids(records)
			for w := range writers {
				for i := range each {
					if id := fmt.Sprint(w, "-", i); got["intent "+id] != 1 || got["call "+id] != 1 {
						t.Errorf("%s: %d intents, %d calls", id, got["intent "+id], got["call "+id])
					}
				}
			}
			if names, _ := segment.List(dir); len(names) < 10 {
				t.Errorf("%d segments for %d records", len(names), len(records))
			}
		})
	}
}

func TestSequenceContinues(t *testing.T) {
	t.Parallel()
	day := segment.Name{Day: "2026-11-21"}
	for testName, c := range map[string]struct {
		spoil func(t *testing.T, dir string)
		files []string
	}{
		"whole": {func(*testing.T, string) {}, []string{"audit-2026-11-21.jsonl"}},
		"torn":  {func(t *testing.T, dir string) { appendTo(t, day.Path(dir), `{"seq":3,"v":1,"ga`) }, []string{"audit-2026-11-21.jsonl", "audit-2026-11-21_001.jsonl"}},
		"only torn": {func(t *testing.T, dir string) {
			appendTo(t, segment.Name{Day: "2026-11-21", Number: 1}.Path(dir), `{"seq":3,"v":1,"ga`)
		}, []string{"audit-2026-11-21.jsonl", "audit-2026-11-21_001.jsonl", "audit-2026-11-21_002.jsonl"}},
		"empty": {func(t *testing.T, dir string) { appendTo(t, segment.Name{Day: "2026-11-21", Number: 1}.Path(dir), "") },
			[]string{"audit-2026-11-21.jsonl", "audit-2026-11-21_001.jsonl"}},
		"strangers": {func(t *testing.T, dir string) {
			appendTo(t, filepath.Join(dir, "audit-2026-11-21_1.jsonl"), "x")
			appendTo(t, filepath.Join(dir, "audit-2026-13-45.jsonl"), "x")
			appendTo(t, filepath.Join(dir, "notes.txt"), "x")
		}, []string{"audit-2026-11-21.jsonl"}},
	} {
		t.Run(testName, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for _, id := range []string{"one", "two"} {
				d := newFakeDisk()
				l := opened(t, Config{Dir: dir}, d)
				if err := l.Intent(exchange(id)); err != nil {
					t.Fatal(err)
				}
				if err := l.Close(); err != nil {
					t.Fatal(err)
				}
			}
			c.spoil(t, dir)
			l := opened(t, Config{Dir: dir}, newFakeDisk())
			if err := l.Intent(exchange("three")); err != nil {
				t.Fatal(err)
			}
			records := read(t, dir, false)
			if len(records) != 3 || records[2].RequestID != "three" {
				t.Errorf("records: %+v", records)
			}
			names, _ := segment.List(dir)
			var files []string
			for _, n := range names {
				files = append(files, n.File())
			}
			if diff := cmp.Diff(c.files, files); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(text)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	tel, _ := watched(t)
	busy := t.TempDir()
	opened(t, Config{Dir: busy}, nil)
	alien := t.TempDir()
	appendTo(t, filepath.Join(alien, "audit-2026-11-20.jsonl"), "no audit log\n")
	notDir := filepath.Join(t.TempDir(), "file")
	appendTo(t, notDir, "")
	for want, c := range map[string]Config{
		"telemetry.audit.dir":                        {},
		"telemetry.audit.durability":                 {Dir: t.TempDir(), Durability: "hope"},
		"telemetry.audit.onFailure":                  {Dir: t.TempDir(), OnFailure: "shrug"},
		"telemetry.audit.segmentSize":                {Dir: t.TempDir(), SegmentSize: 1},
		"another gateway writes there":               {Dir: busy},
		"audit-2026-11-20.jsonl: no complete record": {Dir: alien},
		notDir: {Dir: notDir},
	} {
		l, err := Open(c, "gw", tel)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
		if l != nil {
			t.Errorf("%s: a log beside the error", want)
		}
	}
	// A directory whose log could not be opened is free for the next try.
	if err := os.Remove(filepath.Join(alien, "audit-2026-11-20.jsonl")); err != nil {
		t.Fatal(err)
	}
	opened(t, Config{Dir: alien}, nil)
}

func TestMidnightAndClockSetBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := newFakeDisk()
	l := opened(t, Config{Dir: dir}, d)
	for i, at := range []time.Time{
		noon, noon.Add(12*time.Hour - 1), noon.Add(12 * time.Hour), noon, noon.Add(36 * time.Hour),
		noon.Add(36 * time.Hour).In(time.FixedZone("behind", -8*3600)),
	} {
		d.set(func() { d.clock = at })
		if err := l.Intent(exchange(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	read(t, dir, false)
	got := map[string]int{}
	names, _ := segment.List(dir)
	for _, n := range names {
		content, _ := os.ReadFile(n.Path(dir))
		got[n.File()] = bytes.Count(content, []byte("\n"))
	}
	want := map[string]int{"audit-2026-11-21.jsonl": 2, "audit-2026-11-22.jsonl": 2, "audit-2026-11-23.jsonl": 2}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A directory that has gone must not leave the log writing to a file without a name.
func TestReopenWithoutDirectory(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "audit")
	l := opened(t, Config{Dir: dir}, nil)
	if err := errors.Join(l.Intent(exchange("one")), os.RemoveAll(dir)); err != nil {
		t.Fatal(err)
	}
	if err := l.Reopen(); err == nil {
		t.Error("reopened a file in a directory that is not there")
	}
	if err := l.Intent(exchange("two")); err == nil {
		t.Error("a record counts that nobody will find")
	}
	if l.Err() == nil {
		t.Error("readiness is not told")
	}
}

func TestReopenAfterMove(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := opened(t, Config{Dir: dir}, newFakeDisk())
	path := filepath.Join(dir, "audit-2026-11-21.jsonl")
	if err := l.Intent(exchange("one")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path, filepath.Join(dir, "moved")); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(l.Reopen(), l.Intent(exchange("two"))); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil || !strings.HasPrefix(string(content), `{"seq":2,`) {
		t.Errorf("%.60q, %v", content, err)
	}
}

func TestClosed(t *testing.T) {
	t.Parallel()
	l := opened(t, Config{Dir: t.TempDir()}, nil)
	if err := errors.Join(l.Close(), l.Close()); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{"Intent": l.Intent(exchange("x")), "Reopen": l.Reopen()} {
		if !errors.Is(err, errClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestR11_DiskFull fills the disk under load: nobody is told that a record
// counts which is not there, and as soon as there is space records are written
// again, without a gap and without half a line.
func TestR11_DiskFull(t *testing.T) {
	t.Parallel()
	for _, durability := range []string{durabilityWrite, durabilitySync} {
		for _, space := range []int64{0, 1, 700, 5_000} {
			t.Run(fmt.Sprint(durability, space), func(t *testing.T) {
				t.Parallel()
				dir, d := t.TempDir(), newFakeDisk()
				l := opened(t, Config{Dir: dir, Durability: durability}, d)
				d.set(func() { d.space = space })
				counted := fillUp(t, l)
				if l.Err() == nil {
					t.Error("Err says nothing while the disk is full")
				}
				d.set(func() { d.space = -1 })
				if err := l.Intent(exchange("after")); err != nil {
					t.Fatalf("with space again: %v", err)
				}
				if err := l.Err(); err != nil {
					t.Errorf("Err: %v", err)
				}
				records := read(t, dir, false)
				if got := ids(records); len(records) != len(counted)+1 || got["intent after"] != 1 {
					t.Errorf("%d records, %d were acknowledged", len(records), len(counted)+1)
				} else {
					for id := range counted {
						if got["intent "+id] != 1 {
							t.Errorf("%s was acknowledged and is not there", id)
						}
					}
				}
			})
		}
	}
}

// fillUp writes from many goroutines until each has been refused, and returns
// the ids that were acknowledged.
func fillUp(t *testing.T, l *Log) map[string]bool {
	t.Helper()
	counted := map[string]bool{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for w := range 8 {
		all.Go(func() {
			for i := 0; ; i++ {
				id := fmt.Sprint(w, "-", i)
				if err := l.Intent(exchange(id)); err != nil {
					if !errors.Is(err, syscall.ENOSPC) {
						t.Error(err)
					}
					return
				}
				mu.Lock()
				counted[id] = true
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return counted
}

// TestR11_CannotCut: when half-written lines cannot be taken back, the segment
// is left as it is and the numbers go on behind the last whole line.
func TestR11_CannotCut(t *testing.T) {
	t.Parallel()
	dir, d := t.TempDir(), newFakeDisk()
	l := opened(t, Config{Dir: dir}, d)
	if err := l.Intent(exchange("one")); err != nil {
		t.Fatal(err)
	}
	d.set(func() { d.space, d.cutErr = 100, syscall.EIO })
	if err := l.Intent(exchange("two")); !errors.Is(err, syscall.EIO) {
		t.Errorf("got %v", err)
	}
	d.set(func() { d.space, d.cutErr = -1, nil })
	if err := l.Intent(exchange("too soon")); err == nil {
		t.Error("a segment was made at once")
	}
	d.set(func() { d.clock = d.clock.Add(reopenAfter) })
	if err := l.Intent(exchange("three")); err != nil {
		t.Fatal(err)
	}
	records := read(t, dir, false)
	if names, _ := segment.List(dir); len(records) != 2 || len(names) != 2 {
		t.Errorf("%d segments with %+v", len(names), records)
	}
}

// TestReopenedIsNotSynced: a file that was opened on HUP and has no record yet needs no fsync,
// and is not given up where that would fail. The one before is synced as it is closed.
func TestReopenedIsNotSynced(t *testing.T) {
	t.Parallel()
	dir, d := t.TempDir(), newFakeDisk()
	l := opened(t, Config{Dir: dir}, d)
	fsyncs := func() (all int) {
		d.set(func() {
			for _, n := range d.syncs {
				all += n
			}
		})
		return all
	}
	must(t, l.Intent(exchange("one")))
	must(t, l.Reopen())
	before := fsyncs()
	must(t, l.syncNow())
	if n := fsyncs() - before; n != 1 {
		t.Errorf("%d fsyncs after the file was opened anew", n)
	}
	must(t, errors.Join(l.Intent(exchange("two")), l.syncNow()))
	if n := fsyncs() - before; n != 2 {
		t.Errorf("%d fsyncs after one more record", n)
	}
	must(t, l.Close())
}

// TestR11_FsyncFails: an fsync that failed is never repeated on the same file,
// the callers who waited for it are told, and within two seconds there is a new
// segment.
func TestR11_FsyncFails(t *testing.T) {
	t.Parallel()
	dir, d := t.TempDir(), newFakeDisk()
	l := opened(t, Config{Dir: dir, Durability: durabilitySync}, d)
	if err := l.Intent(exchange("one")); err != nil {
		t.Fatal(err)
	}
	d.set(func() { d.syncErr = syscall.EIO })
	for range 3 {
		if err := l.Intent(exchange("two")); !errors.Is(err, syscall.EIO) {
			t.Errorf("got %v", err)
		}
	}
	d.set(func() { d.syncErr, d.clock = nil, d.clock.Add(reopenAfter) })
	if err := l.Intent(exchange("three")); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if d.afterBad {
		t.Error("a file was synced again after its fsync had failed")
	}
	if names, _ := segment.List(dir); len(names) != 2 {
		t.Errorf("%d segments", len(names))
	}
	if got := ids(read(t, dir, false)); got["intent three"] != 1 {
		t.Errorf("records: %v", got)
	}
}

// TestSyncWaits: who must know that records are on the disk is told so when they are, also
// while somebody else brings them there.
func TestSyncWaits(t *testing.T) {
	t.Parallel()
	d := newFakeDisk()
	tel, _ := watched(t)
	l, err := openOn(Config{Dir: t.TempDir()}, tel, d)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Intent(exchange("one")); err != nil {
		t.Fatal(err)
	}
	begun, goOn := make(chan struct{}), make(chan struct{})
	var over atomic.Bool
	d.set(func() {
		d.syncing = func() {
			close(begun)
			<-goOn
			over.Store(true)
		}
	})
	var both sync.WaitGroup
	both.Go(func() { _ = l.syncNow() })
	<-begun
	both.Go(func() {
		if err := l.syncNow(); err != nil || !over.Load() {
			t.Errorf("told so before they are, error %v", err)
		}
	})
	time.Sleep(10 * time.Millisecond) // for the second to come while the first is under way
	close(goOn)
	both.Wait()
	d.set(func() { d.syncing = nil })
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// TestR11_BackgroundFsyncFails is the same for durability write, where the
// records were acknowledged before: the failure is counted and logged.
func TestR11_BackgroundFsyncFails(t *testing.T) {
	t.Parallel()
	dir, d := t.TempDir(), newFakeDisk()
	tel, out := watched(t)
	l, err := openOn(Config{Dir: dir}, tel, d)
	if err != nil {
		t.Fatal(err)
	}
	d.set(func() { d.syncErr = syscall.EIO })
	if err := l.Intent(exchange("one")); err != nil {
		t.Fatal(err)
	}
	if err := l.syncNow(); !errors.Is(err, syscall.EIO) { // what the background does
		t.Fatalf("got %v", err)
	}
	d.set(func() { d.syncErr = nil })
	for err := l.Intent(exchange("two")); err != nil; err = l.Intent(exchange("two")) {
		if !errors.Is(err, syscall.EIO) {
			t.Fatal(err)
		}
		d.set(func() { d.clock = d.clock.Add(reopenAfter / 4) })
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if waited := d.now().Sub(noon); waited > 2*time.Second {
		t.Errorf("recovered after %v", waited)
	}
	if d.afterBad {
		t.Error("a file was synced again after its fsync had failed")
	}
	if names, _ := segment.List(dir); len(names) != 2 {
		t.Errorf("%d segments", len(names))
	}
	if !bytes.Contains(out.Bytes(), []byte("audit records are written again")) {
		t.Errorf("log: %s", out)
	}
}

// TestRotationFails: a day goes on in yesterday's segment rather than nowhere.
func TestRotationFails(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]func(d *fakeDisk){
		"open":      func(d *fakeDisk) { d.openErr = syscall.EMFILE },
		"directory": func(d *fakeDisk) { d.dirErr = syscall.EIO },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, d := t.TempDir(), newFakeDisk()
			l := opened(t, Config{Dir: dir}, d)
			d.set(func() { fault(d); d.clock = noon.Add(13 * time.Hour) })
			if err := l.Intent(exchange("one")); err != nil {
				t.Fatal(err)
			}
			if names, _ := segment.List(dir); len(names) != 1 {
				t.Errorf("%d segments", len(names))
			}
			d.set(func() { d.openErr, d.dirErr, d.clock = nil, nil, d.clock.Add(reopenAfter) })
			if err := l.Intent(exchange("two")); err != nil {
				t.Fatal(err)
			}
			if names, _ := segment.List(dir); len(names) != 2 || names[1].Day != "2026-11-22" {
				t.Errorf("segments: %v", names)
			}
			read(t, dir, false)
		})
	}
}

// TestR11_StalledDisk: while a write hangs, those who come are refused instead
// of queueing up behind it, and those who came in time share the next write.
func TestR11_StalledDisk(t *testing.T) {
	t.Parallel()
	dir, d := t.TempDir(), newFakeDisk()
	d.patience = stallAfter
	l := opened(t, Config{Dir: dir}, d)
	release := make(chan struct{})
	d.set(func() { d.hold = release })
	results := make(chan error)
	for i := range 5 {
		go func() { results <- l.Intent(exchange(fmt.Sprint(i))) }()
		if i == 0 {
			<-d.held
		}
	}
	for waiting := 0; waiting < 4; { // until all have queued up
		l.mu.Lock()
		waiting = len(l.pending.ends)
		l.mu.Unlock()
		runtime.Gosched()
	}
	d.set(func() { d.clock = d.clock.Add(stallAfter + 1) })
	if err := l.Intent(exchange("late")); !errors.Is(err, errStalled) {
		t.Errorf("got %v", err)
	}
	if err := l.Err(); !errors.Is(err, errStalled) {
		t.Errorf("Err: %v", err)
	}
	close(release)
	for range 5 {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	if got := read(t, dir, false); len(got) != 5 {
		t.Errorf("%d records", len(got))
	}
	if writes := 1 + len(d.held); writes != 2 {
		t.Errorf("%d writes for a lone record and four that waited", writes)
	}
}

// TestGroupCommit: callers that wait at the same time share one fsync.
func TestGroupCommit(t *testing.T) {
	t.Parallel()
	dir, d := t.TempDir(), newFakeDisk()
	l := opened(t, Config{Dir: dir, Durability: durabilitySync}, d)
	release := make(chan struct{})
	d.set(func() { d.hold = release })
	const callers = 50
	results := make(chan error)
	for i := range callers {
		go func() { results <- l.Intent(exchange(fmt.Sprint(i))) }()
		if i == 0 {
			<-d.held
		}
	}
	for waiting := 0; waiting < callers-1; {
		l.mu.Lock()
		waiting = len(l.pending.ends)
		l.mu.Unlock()
		runtime.Gosched()
	}
	close(release)
	for range callers {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if got := d.syncs["audit-2026-11-21.jsonl"]; got != 2 {
		t.Errorf("%d fsyncs for %d callers, want 2", got, callers)
	}
}

// TestBackgroundSyncs: with durability write the disk follows by itself.
func TestBackgroundSyncs(t *testing.T) {
	t.Parallel()
	dir, d := t.TempDir(), newFakeDisk()
	d.linger = time.Microsecond
	l := opened(t, Config{Dir: dir}, d)
	if err := l.Intent(exchange("one")); err != nil {
		t.Fatal(err)
	}
	for synced := 0; synced == 0; runtime.Gosched() { // the test's deadline is the limit
		d.set(func() { synced = d.syncs["audit-2026-11-21.jsonl"] })
	}
}

func TestCopier(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	c := newCopier(&out)
	c.add([]byte("one\n"))
	c.add([]byte("two\n"))
	c.close()
	if out.String() != "one\ntwo\n" {
		t.Errorf("copied %q", out.String())
	}
}
