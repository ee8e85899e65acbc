package records

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"

	"github.com/a2a-gateway/a2a-gateway/audit/index"
	"github.com/a2a-gateway/a2a-gateway/audit/reader"
	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
	"github.com/a2a-gateway/a2a-gateway/internal/console/viewer"
	"github.com/a2a-gateway/a2a-gateway/internal/sse"
)

// feed are those who look at records as they are made. One reader of the files reads for
// all of them, and only while there are any: whoever writes records knows nothing of it. A
// viewer passes through three states: it has joined and waits for the reader to know where
// it begins; it was told so (the event open) and gets records; it was dismissed, with the
// reason why, and gets nothing more.
//
// A new reader is started for the first viewer and ends with the last one. A reader that
// was stopped may still be in the middle of a record when the next one starts: each looks
// at its own context under mu before it gives anything to anybody.
type feed struct {
	records Records
	most    int // viewers at a time
	buffer  int // bytes that wait for each of them
	log     *slog.Logger

	mu      sync.Mutex
	viewers map[*watcher]struct{}
	stop    context.CancelFunc // of the reader
	found   bool               // the reader knows where it began
	at      uint64             // number of the last record that it has seen
	closed  bool
	reading sync.WaitGroup
}

// watcher is one of them. All of it is under feed.mu. What waits for it is bounded by bytes
// and not by records, which differ in size by a factor of a hundred.
type watcher struct {
	wants   func(*index.Head) bool
	wake    chan struct{} // holds one when there is something to take
	after   uint64        // number of the record that it begins behind, once the reader knows
	opened  bool          // it was told so
	lines   []line
	size    int // of the lines
	dropped uint64
	end     *viewer.Ended // why there is no more
}

// line is a record that waits for a viewer.
type line struct {
	seq  uint64
	text []byte // shared among viewers
	lost uint64 // it stands for so many that nobody can read any more
}

// join has somebody look from now on. wants says of each record whether the viewer is to
// have it; it is called under mu and must be quick. The error is api.Busy where there are
// as many viewers as may be.
func (a *feed) join(wants func(*index.Head) bool) (*watcher, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if n := len(a.viewers); a.closed || n >= a.most {
		return nil, api.Busy.Refuse(fmt.Sprintf("%d look at live records already (admin.live.viewers)", n))
	}
	v := &watcher{wants: wants, wake: make(chan struct{}, 1), after: a.at}
	if a.viewers == nil {
		a.viewers = map[*watcher]struct{}{}
	}
	a.viewers[v] = struct{}{}
	if len(a.viewers) == 1 {
		ctx, cancel := context.WithCancel(context.Background())
		a.stop, a.found = cancel, false
		a.reading.Go(func() { a.read(ctx) })
	}
	// The reader may be there already, so that the viewer can be told at once where it
	// begins.
	v.poke()
	return v, nil
}

// leave has them look no more. The reader is stopped with the last viewer, so that the log
// is only read while somebody looks.
func (a *feed) leave(v *watcher) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.viewers, v) // unless it was dismissed
	if len(a.viewers) == 0 {
		a.stop()
	}
}

// close sends everybody away. It waits for the reader outside of mu: the reader needs mu to
// see that it is to end.
func (a *feed) close() {
	a.mu.Lock()
	a.closed = true
	if a.stop != nil {
		a.stop()
	}
	a.dismiss(&viewer.Ended{Code: api.Busy.Name, Detail: "the gateway ends"})
	a.mu.Unlock()
	a.reading.Wait()
}

// dismiss has all viewers leave: who comes next has a new reader. Under mu.
func (a *feed) dismiss(why *viewer.Ended) {
	for v := range a.viewers {
		v.end = why
		v.poke()
	}
	clear(a.viewers)
}

// read passes records on until ctx ends. Records that retention removed before they were
// read come as an reader.LostError: they are counted as a gap, and reading goes on behind
// them. Any other error dismisses all viewers, who may come back, which starts another
// reader.
func (a *feed) read(ctx context.Context) {
	after, records, err := a.records.Live(ctx)
	if err == nil {
		a.begin(ctx, after)
		var h index.Head
		var lost *reader.LostError
		for e, failed := range records {
			if errors.As(failed, &lost) {
				a.skip(ctx, lost.To-lost.From+1)
				continue
			}
			if err = failed; err == nil {
				err = h.Read(e.Line)
			}
			if err != nil {
				break
			}
			a.show(ctx, &h, e)
		}
	}
	if ctx.Err() != nil {
		return
	}
	a.log.Error("show live audit records", "error", err)
	a.mu.Lock()
	defer a.mu.Unlock()
	if ctx.Err() == nil {
		a.dismiss(&viewer.Ended{Code: "INTERNAL", Detail: "the audit log cannot be read; the gateway's log says more"})
	}
}

// begin notes behind which record the reader begins. A reader that was stopped has nothing
// to say to those who came since: ctx ends under mu.
func (a *feed) begin(ctx context.Context, after uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if ctx.Err() != nil {
		return
	}
	a.found, a.at = true, after
	for v := range a.viewers {
		v.after = after
		v.poke()
	}
}

// show gives a record to those who want it. The line is copied once for all viewers and
// never changed, as the reader uses its buffer for the next record.
func (a *feed) show(ctx context.Context, h *index.Head, e reader.Entry) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if ctx.Err() != nil {
		return
	}
	a.at = e.Seq
	var text []byte
	for v := range a.viewers {
		if !v.wants(h) {
			continue
		}
		if text == nil {
			text = bytes.Clone(e.Line)
		}
		v.add(line{seq: e.Seq, text: text}, a.buffer)
	}
}

// skip tells everybody of records that nobody can read any more.
func (a *feed) skip(ctx context.Context, n uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if ctx.Err() != nil {
		return
	}
	for v := range a.viewers {
		v.add(line{lost: n}, a.buffer)
	}
}

// poke wakes a viewer. wake has room for one: a second poke before the viewer has looked
// says nothing new, and whoever pokes must never wait for a viewer.
func (v *watcher) poke() {
	select {
	case v.wake <- struct{}{}:
	default:
	}
}

// add has a record wait, and lets go of the oldest where there is no room. room is in
// bytes. Dropping the oldest keeps a slow viewer at the present, where a bounded queue that
// drops the newest would show it the past for ever.
func (v *watcher) add(l line, room int) {
	v.lines = append(v.lines, l)
	v.size += len(l.text)
	for v.size > room {
		v.size -= len(v.lines[0].text)
		v.dropped += max(v.lines[0].lost, 1)
		v.lines = v.lines[1:]
	}
	v.poke()
}

// take appends to dst what there is to tell a viewer, as events, and says whether that is
// all. The events are open ({"after":12}, once), gap ({"dropped":3}), record (with the
// number as its id) and end. Gaps come before the records that follow them.
func (a *feed) take(dst []byte, v *watcher) (out []byte, over bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !v.opened && a.found {
		v.opened = true
		dst = sse.Append(dst, sse.Event{Name: "open", Data: fmt.Appendf(nil, `{"after":%d}`, v.after)})
	}
	if v.dropped > 0 {
		dst = viewer.AppendGap(dst, v.dropped)
	}
	for _, l := range v.lines {
		if l.lost > 0 {
			dst = viewer.AppendGap(dst, l.lost)
			continue
		}
		dst = sse.Append(dst, sse.Event{ID: strconv.FormatUint(l.seq, 10), Name: "record", Data: l.text})
	}
	v.lines, v.size, v.dropped = nil, 0, 0
	if v.end == nil {
		return dst, false
	}
	return v.end.Append(dst), true
}
