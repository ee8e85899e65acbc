//go:build !minimal

package otlp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit/reader"

	collector "go.opentelemetry.io/proto/otlp/collector/logs/v1"

	logs "go.opentelemetry.io/proto/otlp/logs/v1"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"
)

// receiver is a client whose answers are made by hand.
type receiver struct {
	got      []uint64 // numbers that it accepted, as they came
	requests int
	largest  int // request, in bytes
	bad      map[uint64]bool
	partial  bool // what is bad is rejected with the rest accepted, not the whole request
	most     int  // records that it takes at once; 0 for any
	fail     error
	once     bool // it fails for the first request only
}

func (r *receiver) close() error { return nil }

func (r *receiver) export(_ context.Context, in *collector.ExportLogsServiceRequest) (*collector.ExportLogsPartialSuccess, error) {
	r.requests++
	if r.once && r.requests > 1 {
		r.fail = nil
	}
	r.largest = max(r.largest, proto.Size(in))
	if r.fail != nil {
		return nil, r.fail
	}
	all := numbers(in)
	if r.most > 0 && len(all) > r.most {
		return nil, &refusal{kind: aboutRecords, status: "413 Request Entity Too Large"}
	}
	good := slices.DeleteFunc(slices.Clone(all), func(n uint64) bool { return r.bad[n] })
	if len(good) == len(all) || r.partial {
		r.got = append(r.got, good...)
		return &collector.ExportLogsPartialSuccess{RejectedLogRecords: int64(len(all) - len(good))}, nil
	}
	return nil, &refusal{kind: aboutRecords, status: "400 Bad Request"}
}

// numbers are those of the records of a request.
func numbers(in *collector.ExportLogsServiceRequest) (all []uint64) {
	for _, r := range recordsOf(in) {
		for _, a := range r.GetAttributes() {
			if a.GetKey() == "a2a_gateway.audit.seq" {
				all = append(all, uint64(a.GetValue().GetIntValue())) // small
			}
		}
	}
	return all
}

func recordsOf(in *collector.ExportLogsServiceRequest) (all []*logs.LogRecord) {
	for _, r := range in.GetResourceLogs() {
		for _, s := range r.GetScopeLogs() {
			all = append(all, s.GetLogRecords()...)
		}
	}
	return all
}

// entries are n records from a number on, with so many bytes of text.
func entries(from uint64, n, size int) (all []reader.Entry) {
	for i := from; i < from+uint64(n); i++ { // small
		all = append(all, entry(i, size))
	}
	return all
}

func entry(seq uint64, size int) reader.Entry {
	hash := fmt.Sprintf("%064x", seq*7919)
	line := fmt.Sprintf(`{"seq":%d,"v":1,"gateway":"gw","type":"call","time":"2026-11-21T12:00:00.123456789Z","decision":"allow","status":200,"cause":%q,"hash":%q}`,
		seq, strings.Repeat("x", size), hash)
	return reader.Entry{Seq: seq, Line: []byte(line), Cursor: reader.Cursor{Segment: "audit-2026-11-21.jsonl", Offset: int64(seq) * 1000, Seq: seq, Hash: hash}} // small
}

func sinkTo(t testing.TB, r client, limit int) *Sink {
	t.Helper()
	o := Options{Gateway: "gw", Log: "the-log", Logger: slog.New(slog.NewTextHandler(t.Output(), nil))}
	o.Lost = func(reader.Entry, error) { t.Error("a record was passed over") }
	return &Sink{to: r, form: newForm(o), limit: limit, lost: o.Lost, logger: o.Logger}
}

func upTo(n uint64) (all []uint64) {
	for i := range n {
		all = append(all, i+1)
	}
	return all
}

// TestRequestsAreBounded: whatever the records' lengths are, no request is longer than the
// limit unless it is one record, no request is needed that would fit into the one before,
// and all come in order.
func TestRequestsAreBounded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		limit := rapid.IntRange(1000, 20000).Draw(rt, "limit")
		sizes := rapid.SliceOfN(rapid.IntRange(0, 3000), 1, 60).Draw(rt, "sizes")
		var all []reader.Entry
		longest := 0
		r := &receiver{}
		s := sinkTo(t, r, limit)
		for i, size := range sizes {
			e := entry(uint64(i+1), size) // small
			all = append(all, e)
			longest = max(longest, proto.Size(s.form.request([]*logs.LogRecord{s.form.record(e)})))
		}
		if err := s.Put(t.Context(), all); err != nil {
			rt.Fatal(err)
		}
		if !slices.Equal(r.got, upTo(uint64(len(all)))) {
			rt.Fatalf("it has %v", r.got)
		}
		if r.largest > max(limit, longest) {
			rt.Fatalf("a request has %d bytes, the limit is %d, the longest record needs %d", r.largest, limit, longest)
		}
		if most := 1 + 2*len(all)*longest/limit; longest < limit && r.requests > most {
			rt.Fatalf("%d requests for %d records of at most %d bytes, by %d", r.requests, len(all), longest, limit)
		}
	})
}

// TestRejected: whichever records a receiver rejects, and however it says so, all before
// the first of them are there, and the error names that one. When it does not mind them
// any more the rest comes, and nothing that was accepted comes again.
func TestRejected(t *testing.T) {
	t.Parallel()
	for _, partial := range []bool{true, false} {
		for _, bad := range []uint64{1, 2, 50, 64, 99, 100} {
			r := &receiver{partial: partial, bad: map[uint64]bool{bad: true}}
			s := sinkTo(t, r, 4<<20)
			all := entries(1, 100, 10)
			for range 3 {
				err := s.Put(t.Context(), all)
				if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("record %d in audit-2026-11-21.jsonl: the receiver rejects records: ", bad)) {
					t.Fatalf("record %d: %v", bad, err)
				}
			}
			if most := 16 + 2; r.requests > most {
				t.Errorf("record %d: %d requests in three tries", bad, r.requests)
			}
			first := slices.Compact(slices.Sorted(slices.Values(r.got)))
			if got := first[:min(len(first), int(bad)-1)]; !slices.Equal(got, upTo(bad-1)) { // small
				t.Errorf("record %d is rejected, it has %v", bad, first)
			}
			r.bad, r.got = nil, nil
			if err := s.Put(t.Context(), append(all, entries(101, 20, 10)...)); err != nil {
				t.Fatal(err)
			}
			if len(r.got) == 0 || r.got[0] != bad || r.got[len(r.got)-1] != 120 || len(r.got) != int(121-bad) { // small
				t.Errorf("record %d was rejected, then came %v", bad, r.got)
			}
		}
	}
}

// TestTooMany: a receiver that takes less at once than the limit gets less.
func TestTooMany(t *testing.T) {
	t.Parallel()
	r := &receiver{most: 30}
	if err := sinkTo(t, r, 4<<20).Put(t.Context(), entries(1, 1000, 10)); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(r.got, upTo(1000)) {
		t.Errorf("it has %v", r.got)
	}
}

// TestGiveUp: a record that is rejected for as long as the configuration says is passed
// over, which is told, and those after it are tried as long.
func TestGiveUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &receiver{bad: map[uint64]bool{4: true, 5: true}}
		s := sinkTo(t, r, 4<<20)
		s.giveUp = time.Hour
		lost := map[uint64]time.Duration{}
		began := time.Now()
		s.lost = func(e reader.Entry, why error) {
			if !strings.Contains(why.Error(), "400 Bad Request") {
				t.Error(why)
			}
			lost[e.Seq] = time.Since(began)
		}
		var err error
		for range 1000 {
			if err = s.Put(t.Context(), entries(1, 10, 10)); err == nil {
				break
			}
			time.Sleep(30 * time.Second)
		}
		if err != nil || len(lost) != 2 || lost[4] < time.Hour || lost[5] < 2*time.Hour || lost[5] > 3*time.Hour {
			t.Errorf("%v: passed over after %v", err, lost)
		}
		if !slices.Equal(r.got, []uint64{1, 2, 3, 6, 7, 8, 9, 10}) {
			t.Errorf("it has %v", r.got)
		}
	})
}

// TestForEver: by default nothing is ever passed over.
func TestForEver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := sinkTo(t, &receiver{bad: map[uint64]bool{4: true}, partial: true}, 4<<20)
		for range 100 {
			if err := s.Put(t.Context(), entries(1, 10, 10)); err == nil {
				t.Fatal("it was passed over")
			}
			time.Sleep(24 * time.Hour)
		}
	})
}

// TestBusy: a receiver that says when to come back is not asked before, whether that is
// within the time of a Put or later, but for one that wants too much.
func TestBusy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ after, least, most time.Duration }{
		"soon":          {3 * time.Second, 3 * time.Second, 3 * time.Second},
		"later":         {100 * time.Second, 100 * time.Second, 110 * time.Second},
		"next year":     {9000 * time.Hour, longestWait, longestWait + 10*time.Second},
		"does not say":  {0, 5 * time.Second, 5 * time.Second},
		"has forgotten": {-time.Second, 5 * time.Second, 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := &receiver{once: true, fail: &refusal{kind: aboutTime, status: "503 Service Unavailable", after: max(c.after, 0)}}
				s := sinkTo(t, r, 4<<20)
				began := time.Now()
				tries, err := 0, error(nil)
				for {
					tries++
					ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
					err = s.Put(ctx, entries(1, 10, 10))
					cancel()
					if err == nil {
						break
					}
					time.Sleep(5 * time.Second)
				}
				if d := time.Since(began); d < c.least || d > c.most || r.requests != 2 {
					t.Errorf("after %v, %d requests and %d tries", d, r.requests, tries)
				}
			})
		})
	}
}

// TestWaitEnds: a Put that waits for a receiver ends with its context.
func TestWaitEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := sinkTo(t, &receiver{}, 4<<20)
		s.notUntil = time.Now().Add(time.Minute)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := s.Put(ctx, entries(1, 1, 10)); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "1m0s") {
			t.Error(err)
		}
	})
}

// TestNumbersAgain: what has the number of an accepted record and is another is sent.
func TestNumbersAgain(t *testing.T) {
	t.Parallel()
	r := &receiver{}
	s := sinkTo(t, r, 4<<20)
	if err := s.Put(t.Context(), entries(1, 5, 10)); err != nil {
		t.Fatal(err)
	}
	again := entries(1, 5, 10)
	for i := range again {
		again[i].Cursor.Hash = strings.Repeat("f", 64)
	}
	if err := s.Put(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	for i := range again {
		again[i].Cursor.Hash = ""
	}
	for range 2 {
		if err := s.Put(t.Context(), again); err != nil {
			t.Fatal(err)
		}
	}
	if want := slices.Concat(upTo(5), upTo(5), upTo(5), upTo(5)); !slices.Equal(r.got, want) {
		t.Errorf("it has %v", r.got)
	}
}
