package console

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/audit/index"
	"github.com/a2a-gateway/a2a-gateway/audit/reader"
	"github.com/a2a-gateway/a2a-gateway/internal/console/records"
)

// ledger are Records: four calls, of numbers 1 to 4.
type ledger struct {
	world *world
	asked index.Query
	from  time.Time
	calls []reader.Entry // where there are others than the four
	feed  chan found     // of records that are made; nil for a log that cannot be read
	reads sync.WaitGroup // of the feed
	held  chan struct{}  // what reads all of the log waits for; nil for nothing
}

// found is what reading the log brings.
type found struct {
	entry reader.Entry
	err   error
}

func (l *ledger) Live(ctx context.Context) (uint64, iter.Seq2[reader.Entry, error], error) {
	if l.feed == nil {
		return 0, nil, errors.New("disk")
	}
	l.reads.Add(1)
	return 40, func(yield func(reader.Entry, error) bool) {
		defer l.reads.Done()
		for {
			select {
			case <-ctx.Done():
				return
			case f := <-l.feed:
				if !yield(f.entry, f.err) {
					return
				}
			}
		}
	}, nil
}

func (l *ledger) Find(_ context.Context, q index.Query) ([]reader.Entry, error) {
	l.asked = q
	var list []reader.Entry
	switch {
	case l.world.away != nil:
	case l.calls != nil && q.Reason != "":
		for _, e := range l.calls {
			if strings.Contains(string(e.Line), `"reason":"`+q.Reason+`"`) && len(list) < q.Limit {
				list = append(list, e)
			}
		}
		return list, nil
	case l.calls != nil && q.Event != "":
		for _, e := range l.calls {
			if strings.Contains(string(e.Line), `"event":"`+q.Event+`"`) && len(list) < q.Limit {
				list = append(list, e)
			}
		}
		return list, nil
	case l.calls != nil:
		return l.calls[:min(len(l.calls), q.Limit)], nil
	case q.Behind == 3 && q.Limit == 1: // one record, and the other one of its call
		return []reader.Entry{{Seq: 2, Line: []byte(pairedCall)}}, nil
	case q.Type == "intent" && q.Oldest:
		return []reader.Entry{{Seq: 1, Line: []byte(pairedIntent)}}, nil
	}
	for k := range 4 {
		seq := uint64(4 - k) //nolint:gosec // small
		if q.Oldest {
			seq = uint64(k + 1) //nolint:gosec // small
		}
		if q.Behind != 0 && (q.Oldest && seq <= q.Behind || !q.Oldest && seq >= q.Behind) || q.Limit > 0 && len(list) == q.Limit {
			continue
		}
		list = append(list, reader.Entry{Seq: seq, Line: fmt.Appendf(nil, `{"seq":%d}`, seq)})
	}
	return list, l.world.away
}

func (l *ledger) All(ctx context.Context, q index.Query) iter.Seq2[reader.Entry, error] {
	return func(yield func(reader.Entry, error) bool) {
		if l.held != nil {
			l.held <- struct{}{} // it reads
			<-l.held
		}
		line := `{"v":1,"seq":1,"type":"event","time":"2026-01-01T00:00:00Z","event":"config.reloaded"}`
		_ = yield(reader.Entry{Seq: 1, Line: []byte(line)}, nil) && l.world.away != nil && yield(reader.Entry{}, l.world.away)
	}
}

func (l *ledger) Verify(_ context.Context, from, _ time.Time) (*audit.Report, error) {
	l.from = from
	return &audit.Report{Records: 4, Findings: []audit.Finding{{Kind: "missing", Text: "record 3"}}}, l.world.away
}

// TestRecords: pages lead through all records once, in either order, and what is asked
// for is what the log is asked.
func TestRecords(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for base, want := range map[string]string{
		"/api/v1/audit/records?limit=3&caller=alice&decision=deny": `{"seq":4}{"seq":3}{"seq":2}|{"seq":1}`,
		"/api/v1/tasks/t-1/timeline?limit=3":                       `{"seq":1}{"seq":2}{"seq":3}|{"seq":4}`,
	} {
		var pages []string
		for target := base; target != ""; {
			var page struct {
				Records []jsontext.Value `json:"records"`
				Next    string           `json:"next"`
			}
			got := w.ask("GET", target, nil)
			if err := json.Unmarshal([]byte(got.body), &page); err != nil || got.status != 200 {
				t.Fatal(got, err)
			}
			var text strings.Builder
			for _, r := range page.Records {
				text.Write(r)
			}
			pages = append(pages, text.String())
			if target = ""; page.Next != "" {
				target = base + "&cursor=" + page.Next
			}
		}
		if got := strings.Join(pages, "|"); got != want {
			t.Errorf("%s: %s, want %s", base, got, want)
		}
	}
	w.ask("GET", "/api/v1/audit/records?caller=alice&agent=a&skill=s&task=t&context=c&method=SendMessage&decision=error&type=call"+
		"&since=2026-01-01T00:00:00Z&until=2026-01-02T00:00:00Z", nil)
	day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	if want := (index.Query{
		Principal: "alice", Agent: "a", Skill: "s", Task: "t", Context: "c", Method: "SendMessage", Decision: "error", Type: "call",
		From: day, Until: day.AddDate(0, 0, 1), Limit: 101,
	}); w.ledger.asked != want {
		t.Errorf("%+v", w.ledger.asked)
	}
}

// TestRecordsRefused: what could never be found is an error, and so is what takes too long.
func TestRecordsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for target, want := range map[string]string{
		"audit/records?since=yesterday":                                       "INVALID_PARAMETER",
		"audit/records?decision=maybe":                                        "INVALID_PARAMETER",
		"audit/records?method=SendMessage&event=push.drop":                    "INVALID_PARAMETER",
		"audit/records?since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z": "INVALID_PARAMETER",
		"audit/records?cursor=" + cursor("x"):                                 "INVALID_PARAMETER",
		"audit/records?cursor=" + cursor("0"):                                 "INVALID_PARAMETER",
		"audit/records/5":                                                     "NO_SUCH_RECORD",
		"audit/records/0":                                                     "NO_SUCH_RECORD",
		"audit/records/-1":                                                    "NO_SUCH_RECORD",
		"audit/records/99999999999999999999":                                  "NO_SUCH_RECORD",
	} {
		if got := w.ask("GET", "/api/v1/"+target, nil); !strings.Contains(got.body, want) {
			t.Errorf("%s: %s, want %s", target, got, want)
		}
	}
	w.away = records.ErrBusy
	if got := w.ask("GET", "/api/v1/audit/records", nil); got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") == "" {
		t.Error(got)
	}
}

const (
	pairedIntent = `{"seq":1,"type":"intent","time":"2026-01-01T00:00:00.1Z","request_id":"r-1","principal":"al\\\\u202eice"}`
	pairedCall   = `{"v":1,"seq":2,"type":"call","decision":"deny","start":"2026-01-01T00:00:00Z","time":"2026-01-01T00:00:01Z","request_id":"r-1","principal":"al\\\\u202eice","agent":"a"}`
)

// TestPair: the records of a call are joined, by what they have in common as it stands there.
func TestPair(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	if got := w.ask("GET", "/api/v1/audit/records/2/pair", nil); got.body != `{"intent":`+pairedIntent+`,"call":`+pairedCall+`}` {
		t.Error(got)
	}
	day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	if want := (index.Query{
		Type: "intent", Agent: "a", From: day, Until: day.Add(time.Second), Oldest: true, Limit: 1000,
	}); w.ledger.asked != want {
		t.Errorf("%+v", w.ledger.asked)
	}
	for _, id := range []string{"3", "9"} { // nothing about a call; nothing
		if got := w.ask("GET", "/api/v1/audit/records/"+id+"/pair", nil); got.status != http.StatusNotFound {
			t.Error(got)
		}
	}
}

// TestVerification: what was found is told, and a day is a day.
func TestVerification(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	got := w.ask("POST", "/api/v1/audit/verify?from=2026-01-01", nil)
	if got.status != 200 || !strings.Contains(got.body, `"intact":false`) || !strings.Contains(got.body, `{"kind":"missing","text":"record 3"}`) {
		t.Error(got)
	}
	if w.ledger.from != time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) {
		t.Error(w.ledger.from)
	}
	if got := w.ask("POST", "/api/v1/audit/verify?from=2026-01-02&to=2026-01-01", nil); got.status != http.StatusBadRequest ||
		!strings.Contains(got.body, "it ends before it begins") {
		t.Error(got)
	}
	if got := w.ask("POST", "/api/v1/audit/verify?from=monday", nil); got.status != http.StatusBadRequest {
		t.Error(got)
	}
}
