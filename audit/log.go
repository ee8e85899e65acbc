package audit

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2a-gateway/a2a-gateway/telemetry"
	"github.com/a2a-gateway/a2a-gateway/telemetry/metrics"
)

var (
	// errClosed means that the log has been closed.
	// Calls that come after Close has begun get it, for a moment at most: the server has stopped by
	// then.
	errClosed = errors.New("audit log is closed")

	// errStalled means that a write has been waiting for the disk for so long
	// that it is better to refuse the call than to queue behind it.
	// The caller cannot know whether its record will be written once the disk goes on.
	errStalled = errors.New("audit log waits for the disk")
)

const (
	// A loss of power with durability write costs at most the records of about this time.
	syncEvery = 100 * time.Millisecond // durability write: how far the disk may be behind
	// A client that waits longer has usually given up; refusing lets load balancers look elsewhere.
	stallAfter = 2 * time.Second
)

// Log is an open audit log. Its methods may be called from many goroutines; a
// caller whose record another one wrote along with its own does no system call. Its
// parts stand beside the code that goes by them, and say which lock they are under.
// One record goes through it like this: Intent or Call makes its members on a line from the pool;
// the queue puts it into a batch; the caller that has the turn hands the batch to the writer, which
// gives numbers and hashes, writes the segment and, where the configuration says so, waits for the
// disk; then all callers of the batch return. Everything else happens in goroutines of the log:
// fsync, checkpoints, old files, captured content, and what a Memory is told.
type Log struct {
	setup
	queue
	writer
	retention
	past
	upkeep

	content  atomic.Pointer[content] // nil while there are no keys
	erasures erasures
}

// setup is what a log is opened with. It does not change while the log is open.
// The parts of the log share it by a pointer.
type setup struct {
	id      string // of the gateway
	gateway []byte // the member of every record that is the id; empty without one
	config  Config
	disk    disk
	metrics *metrics.Audit
	logger  *slog.Logger
	stdout  *copier // nil without Config.Stdout
	lines   sync.Pool
	release func() error // gives the directory free
}

// Open opens the log in config.Dir and continues the records of what is there.
// gatewayID is server.id; it goes into every record. Errors name the directory
// or the file: one that cannot be made or written, one that another running
// gateway uses, or a last segment that is no audit log.
func Open(config Config, gatewayID string, t *telemetry.Telemetry) (*Log, error) {
	l, err := open(config, gatewayID, t, realDisk())
	if err != nil {
		return nil, fmt.Errorf("open audit log: %w", err)
	}
	return l, nil
}

// open is Open with a disk of the caller's. What is taken before an error is given back: the directory is
// free for the next try.
// The order matters: first the lock, since two gateways in one directory would give a number twice;
// then the end of the records; the goroutines last, so that none of them sees a log that is half
// open.
func open(config Config, gatewayID string, t *telemetry.Telemetry, d disk) (*Log, error) {
	if err := config.Check(); err != nil {
		return nil, err
	}
	if config.Dir == "" {
		return nil, errors.New("telemetry.audit.dir is empty")
	}
	if err := os.MkdirAll(config.Dir, 0o700); err != nil {
		return nil, err
	}
	release, err := lock(config.Dir)
	if err != nil {
		return nil, err
	}
	l := newLog(config, gatewayID, t, d)
	l.release = release
	gone, err := l.resume()
	if err != nil {
		l.segments.retire(true)
		return nil, errors.Join(err, l.syncNow(), release())
	}
	if config.Stdout {
		l.stdout = newCopier(os.Stdout)
	}
	go l.background()
	l.tending.Go(l.tend)
	l.tending.Go(l.watch)
	l.tending.Go(l.keepTidy)
	// The event is owed and not written at once: the disk may be full at the start, too.
	if gone != nil {
		l.missing(gone)
		l.deferred.put("audit.gone", gone)
	}
	return l, nil
}

// newLog makes a log that has opened nothing yet.
// Nothing of it touches the disk, so that tests can look at a log before it is opened.
func newLog(config Config, gatewayID string, t *telemetry.Telemetry, d disk) *Log {
	l := &Log{
		setup: setup{
			id: gatewayID, gateway: gatewayMember(gatewayID), config: config, disk: d,
			metrics: &t.Metrics.Audit, logger: t.Log,
		},
		queue: queue{clock: d, pending: new(batch)},
		writer: writer{
			dirty:    make(chan struct{}, 1),
			segments: segments{disk: d, dir: config.Dir, limit: config.segmentSize()},
		},
		upkeep: upkeep{quit: make(chan struct{}), done: make(chan struct{})},
	}
	l.hand, l.changed = l.write, l.tell
	l.writer.setup, l.note = &l.setup, l.marks.note
	l.retention = retention{setup: &l.setup, writer: &l.writer, event: l.Event, content: l.tidyContent, closing: l.quit}
	l.deferred.record = l.Event
	if l.segments.keys = config.Source().Keys; len(l.segments.keys) > 0 {
		l.segments.key = &l.segments.keys[0]
	}
	l.lines.New = func() any { return new(telemetry.Line) }
	return l
}

// resume goes on where the records end, and makes sure that there is a segment.
// gone is nil unless the head is further than the records; see resumeAt.
func (l *Log) resume() (gone map[string]string, err error) {
	end, err := l.segments.resume()
	if err != nil {
		return nil, err
	}
	if gone, err = l.resumeAt(end); err != nil {
		return nil, err
	}
	l.opened = l.chain
	return gone, l.segments.ready(l.disk.now())
}

// gatewayMember is made once: it is the same in every record.
func gatewayMember(id string) []byte {
	var l telemetry.Line
	l.Str("gateway", id)
	return l.Bytes()
}

// Intent records that a call is about to be sent to an agent. When it returns
// nil the record counts as Config.Durability says. When it returns an error the
// call must not go on unless Config.FailOpen. e must have a RequestID, which
// joins the record with that of Call.
// The line is about 700 bytes. Whether it is on the disk when this returns is Config.Durability's
// to say.
func (l *Log) Intent(e *telemetry.Exchange) error {
	now := l.disk.now()
	line := l.line()
	appendIntent(line, e, now)
	return l.add(line, now)
}

// Call records how a call ended, or that it was refused; a streamed call is
// recorded when its stream has ended.
// An error is for metrics and readiness: the call has been answered, and nothing can be refused any
// more.
func (l *Log) Call(e *telemetry.Exchange) error {
	now := l.disk.now()
	line := l.line()
	appendCall(line, e, now)
	return l.add(line, now)
}

// Event records something that happened to the gateway itself: start, stop,
// reload, a change through the admin API. kind is a constant of the caller,
// like "config.reload", and so are the names in attrs, in whose order they are
// shown. The values must not hold secrets.
func (l *Log) Event(kind string, attrs map[string]string) error {
	now := l.disk.now()
	line := l.line()
	appendEvent(line, kind, attrs, now)
	return l.add(line, now)
}

// Err returns why the last records could not be written, nil when they could:
// for the readiness report.
// It is errStalled while a write hangs, also before anybody was refused for that.
func (l *Log) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.writing && l.disk.now().Sub(l.began) > l.disk.patience {
		return errStalled
	}
	return l.failing
}

// Lag is how many records are not on the disk yet, and about how long the oldest of them
// waits: for the disk, or to be written.
// It is for a gauge, and approximate: counts are read one after the other while writes go on.
func (l *Log) Lag() (records int, oldest time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.disk.now()
	if l.writing {
		oldest = now.Sub(l.began)
	}
	if since := l.since.Load(); since != 0 {
		oldest = max(oldest, now.Sub(time.Unix(0, since)))
	}
	return len(l.pending.ends) + int(l.behind.Load()), oldest
}

// Seq is the number of the last record.
func (l *Log) Seq() uint64 { return l.last.Load() }

// Reopen closes the current segment and opens the file of its name anew, for
// tools that move files away and then send HUP. Numbering goes on.
// It is what SIGHUP does after logrotate has moved the file. An error says that there is no file to
// write to now; the log tries again with the next record.
func (l *Log) Reopen() error {
	l.file.Lock()
	defer l.file.Unlock()
	if l.closed {
		return errClosed
	}
	_ = l.seal(l.disk.now()) // the next record tells whether the disk works
	err := l.segments.reopen()
	l.wake()
	return err
}

// Close signs the records, makes everything durable and closes the log. Later records are refused
// with errClosed.
func (l *Log) Close() error {
	l.file.Lock()
	if l.closed {
		l.file.Unlock()
		return nil
	}
	// From here on nobody writes: the checkpoint above is the last record.
	l.closed = true
	err := l.seal(l.disk.now())
	l.segments.retire(false)
	l.file.Unlock()
	close(l.quit)
	if l.marks.end != nil {
		l.marks.end()
	}
	<-l.done
	l.tending.Wait()
	// The memory is told after the fsync, and the directory is free for another gateway before
	// that: a slow memory must not hold up the next start.
	err = errors.Join(err, l.syncNow(), l.closeContent(), l.release())
	l.farewell()
	if l.stdout != nil {
		l.stdout.close()
	}
	return err
}

// line is an empty line from the pool. Whoever takes one gives it back by add.
// Pooled, since a line of a kilobyte per record would be most of the garbage of a call.
func (l *Log) line() *telemetry.Line {
	line, _ := l.lines.Get().(*telemetry.Line)
	line.Reset()
	return line
}

// add commits a line, and takes it back: what is written was copied by then.
func (l *Log) add(line *telemetry.Line, now time.Time) error {
	err := l.commit(line.Bytes(), now)
	l.lines.Put(line)
	if err != nil {
		return fmt.Errorf("write audit record: %w", err)
	}
	return nil
}

// tell logs the beginning and the end of a failure, not every refused call.
func (l *Log) tell(err error) {
	if err != nil {
		l.logger.Error("audit records cannot be written", "dir", l.config.Dir, "error", err)
		return
	}
	l.logger.Info("audit records are written again", "dir", l.config.Dir)
}
