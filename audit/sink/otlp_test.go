package sink

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit/otlp"
	"github.com/a2a-gateway/a2a-gateway/audit/reader"
)

// picky is a sink that gives up on some records, at once, and fails once after it did.
type picky struct {
	memory
	giveUp func(reader.Entry, error)
	bad    []uint64
	failed bool
}

func (p *picky) Put(ctx context.Context, entries []reader.Entry) error {
	good := slices.DeleteFunc(slices.Clone(entries), func(e reader.Entry) bool {
		bad := slices.Contains(p.bad, e.Seq)
		if bad {
			p.bad = slices.DeleteFunc(p.bad, func(n uint64) bool { return n == e.Seq })
			p.giveUp(e, errors.New("too ugly"))
		}
		return bad
	})
	if !p.failed && len(good) < len(entries) {
		p.failed = true
		return errors.New("gone")
	}
	return p.memory.Put(ctx, good)
}

// TestPassedOver: records that a sink gives up on are lost and not stored, which the
// metrics and the log say, and the others arrive.
func TestPassedOver(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		p := &picky{bad: []uint64{3, 7, 8}}
		p.failing = errors.New("not yet")
		w := begin(t, dir, p)
		p.giveUp = w.sinks.runners[0].passOver
		w.write(t, 10)
		time.Sleep(time.Minute)
		p.set(func() { p.failing = nil })
		time.Sleep(time.Minute)
		if stored, lost := w.metric(t, "records_total"), w.metric(t, "lost_records_total"); stored != 7 || lost != 3 {
			t.Errorf("%v stored, %v lost", stored, lost)
		}
		if said := w.end(t); strings.Count(said, "goes on without it") != 3 || !strings.Contains(said, `"record":7`) {
			t.Errorf("it was logged as %s", said)
		}
	})
}

// TestOTLP: its section is checked under its own key, and gives the sink its name.
func TestOTLP(t *testing.T) {
	t.Parallel()
	c := Config{OTLP: &otlp.Config{Endpoint: "https://collector.example"}}
	if err := Check([]Config{c}); err != nil || c.name() != "otlp" {
		t.Error(c.name(), err)
	}
	c.OTLP.Endpoint = ""
	if err := Check([]Config{c}); err == nil || !strings.Contains(err.Error(), "telemetry.audit.sinks[0].otlp: endpoint is missing") {
		t.Error(err)
	}
}
