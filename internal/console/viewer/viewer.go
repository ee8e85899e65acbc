// Package viewer writes server-sent events of the admin API to somebody who looks at what happens as
// it happens: audit records, the events of a stream, the answer to a call that is tried.
//
// It owns the pace, the signs of life and the end. It does not own what there is to tell, nor the
// bounds of what waits for a viewer. It may import internal/sse and internal/console/api.
package viewer

import (
	"fmt"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
	"github.com/a2a-gateway/a2a-gateway/internal/sse"
)

const (
	// pace is how long a viewer has nothing after it had something: no eye needs more,
	// and it bounds what a busy gateway sends to a viewer by what waits for one.
	pace = 200 * time.Millisecond
	// beat is how often a viewer gets a sign of life, and is asked for its credential anew.
	beat = 15 * time.Second
	// writeTimeout is for each part of what is written. The server's own deadline is for an answer
	// as a whole.
	writeTimeout = 30 * time.Second
)

// Ended says why a viewer gets no more.
type Ended struct {
	Code   string `json:"code"`
	Detail string `json:"detail"`
}

// Append appends the event that says so. It is "event: end" with
// {"code":"BUSY","detail":"…"} as its data.
func (e Ended) Append(dst []byte) []byte {
	text, _ := json.Marshal(e) // it has nothing that cannot be written
	return sse.Append(dst, sse.Event{Name: "end", Data: text})
}

// AppendGap appends the event that says that so many were left out.
func AppendGap(dst []byte, n uint64) []byte {
	return sse.Append(dst, sse.Event{Name: "gap", Data: fmt.Appendf(nil, `{"dropped":%d}`, n)})
}

// Feed is what one viewer is told.
type Feed struct {
	First []byte          // what it is told at once; may be empty
	Wake  <-chan struct{} // has one when there is something to take
	// Take is what there is, as events, and whether that is all.
	Take func() (text []byte, over bool)
	// Closing is closed when the gateway ends, of which the viewer is told; nil where Take tells of it. A request
	// that is open for hours would hold up that end.
	Closing <-chan struct{}
	// Admitted is asked at each sign of life whether whoever asked may still look.
	Admitted func(*http.Request) bool
}

// ServeHTTP writes what there is, until somebody has enough. It ends when the browser goes, when
// that is all, or when what was shown as a credential is no longer good.
func (f *Feed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	control := http.NewResponseController(w)
	// A stream outlives the deadline for reading a request, which would otherwise end the
	// connection in the middle.
	_ = control.SetReadDeadline(time.Time{}) // nothing more is to be read
	w.Header().Set("Content-Type", "text/event-stream")
	out := NewWriter(w)
	if control.Flush() != nil { // the viewer is to know that it may look, also where there is nothing yet
		return
	}
	ticks := time.NewTicker(beat)
	defer ticks.Stop()
	text, over := f.First, false
	for {
		// What was pending was taken with the poke before.
		if len(text) > 0 {
			if _, err := out.Write(text); err != nil || control.Flush() != nil {
				return
			}
		}
		if over {
			return
		}
		if len(text) > 0 {
			select {
			case <-r.Context().Done():
			case <-time.After(pace):
			}
		}
		select {
		case <-r.Context().Done():
			return
		case <-ticks.C:
			text, over = f.still(r)
		case <-f.Closing:
			text, over = Ended{api.Busy.Name, "the gateway ends"}.Append(nil), true
		case <-f.Wake:
			text, over = f.Take()
		}
	}
}

// still is a sign of life, or the end for whoever may look no more: a session was left, a
// token has expired. The sign of life is a comment of server-sent events (a line that
// begins with a colon), which browsers ignore and proxies count as traffic.
func (f *Feed) still(r *http.Request) (text []byte, over bool) {
	if f.Admitted(r) {
		return sse.AppendComment(nil, ""), false
	}
	return Ended{"UNAUTHENTICATED", "your session is over, or your token"}.Append(nil), true
}

// Writer is a response that has the time of an answer for each part of it.
type Writer struct {
	to      http.ResponseWriter
	control *http.ResponseController
}

// NewWriter writes to w.
func NewWriter(w http.ResponseWriter) *Writer { return &Writer{w, http.NewResponseController(w)} }

// Write implements io.Writer. It fails once the reader has taken nothing for half a minute.
func (p *Writer) Write(data []byte) (int, error) {
	if err := p.control.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return 0, err
	}
	return p.to.Write(data)
}
