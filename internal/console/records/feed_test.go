package records

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/a2a-gateway/a2a-gateway/audit/index"
	"github.com/a2a-gateway/a2a-gateway/audit/reader"
	"github.com/a2a-gateway/a2a-gateway/internal/sse"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// growing is a log whose records are made as somebody reads it.
type growing struct {
	Records
	made chan reader.Entry
}

func (g *growing) Live(ctx context.Context) (uint64, iter.Seq2[reader.Entry, error], error) {
	return 40, func(yield func(reader.Entry, error) bool) {
		for {
			select {
			case <-ctx.Done():
				return
			case e := <-g.made:
				if !yield(e, nil) {
					return
				}
			}
		}
	}, nil
}

// make has a record made.
func (g *growing) make(seq uint64, kind, members string) {
	text := fmt.Sprintf(`{"seq":%d,"v":1,"type":%q,"time":"2026-01-01T00:00:00Z"%s}`, seq, kind, members)
	g.made <- reader.Entry{Seq: seq, Line: []byte(text)}
}

// TestFeedBounds: whoever is slow loses the oldest records, is told how many, and holds up nobody.
func TestFeedBounds(t *testing.T) {
	t.Parallel()
	const leastBuffer = 64 << 10
	log := &growing{made: make(chan reader.Entry)}
	f := &feed{records: log, most: 1, buffer: leastBuffer, log: slog.New(slog.DiscardHandler)}
	t.Cleanup(f.close)
	v, err := f.join(wants(index.Query{}))
	if err != nil {
		t.Fatal(err)
	}
	long := `,"cause":"` + strings.Repeat("x", 1000) + `"`
	for seq := uint64(1); seq <= 1000; seq++ {
		log.make(seq, "call", long)
	}
	log.make(1001, "event", "") // the reader has dealt with those before
	text, _ := f.take(nil, v)
	events := sse.NewReader(strings.NewReader(string(text)), 1<<20)
	var names []string
	dropped, records := 0, 0
	for {
		e, err := events.Next()
		if err != nil {
			break
		}
		names = append(names, e.Name)
		if e.Name == "gap" {
			_, _ = fmt.Sscanf(string(e.Data), `{"dropped":%d}`, &dropped)
		}
		if e.Name == "record" {
			records++
		}
	}
	if names[0] != "open" || names[1] != "gap" || records < 40 || records > 65 || dropped+records < 1000 || len(text) > 2*leastBuffer {
		t.Errorf("%d dropped, %d records in %d bytes: %v", dropped, records, len(text), names[:3])
	}
	f.leave(v)
}
