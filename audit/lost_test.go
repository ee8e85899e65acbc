package audit

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/keys"
)

// TestContentLost: content that cannot be written is counted, and its record says so.
func TestContentLost(t *testing.T) {
	t.Parallel()
	ring, err := keys.Open(keys.Config{Dir: t.TempDir(), Algorithm: "EdDSA"}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(ring.Close)
	tel, said := watched(t)
	dir := t.TempDir()
	l, err := Open(Config{Dir: dir, Content: Content{Rules: []ContentRule{{Capture: captureRequest, Label: "internal"}}}}, "gw-1", tel)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	if err := l.KeepWith(ring); err != nil {
		t.Fatal(err)
	}
	capture := func(id string) (lost bool) {
		e := exchange(id)
		l.Capture(e.Agent, "", []byte(`{"text":"hello"}`)).End(e)
		if err := l.Call(e); err != nil {
			t.Fatal(err)
		}
		return e.Content.Lost
	}
	now := time.Now().UTC()
	var blocks []string
	for _, day := range []time.Time{now, now.AddDate(0, 0, 1)} { // it may be midnight
		for _, kind := range []string{".enc", ".keys"} {
			blocks = append(blocks, filepath.Join(dir, "content-"+day.Format(time.DateOnly)+"_000"+kind))
		}
	}
	for _, path := range blocks {
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if !capture("1") {
		t.Error("it was written where a directory is")
	}
	for _, path := range blocks {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	if capture("2") || capture("3") {
		t.Error("it goes on being lost")
	}
	got := map[string]float64{}
	families, err := tel.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "a2a_gateway_audit_content_total" {
			for _, m := range f.GetMetric() {
				got[m.GetLabel()[0].GetValue()] = m.GetCounter().GetValue()
			}
		}
	}
	if len(got) != 2 || got["lost"] != 1 || got["kept"] != 2 {
		t.Errorf("counted are %v", got)
	}
	if err := l.Close(); err != nil { // nothing is logged from now on
		t.Fatal(err)
	}
	if strings.Count(said.String(), "captured content was lost") != 1 {
		t.Errorf("it was logged as %s", said)
	}
}
