package console

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// TestExport: records go out as they were written or in the words of OCSF; one that cannot
// be read ends the answer, so that nobody takes a part for the whole.
func TestExport(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for format, want := range map[string]string{"jsonl": `{"v":1,"seq":1,`, "ocsf": `"class_uid":6003`} {
		got := w.ask("GET", "/api/v1/audit/export?format="+format, nil)
		if got.status != 200 || !strings.Contains(got.body, want) || !strings.HasSuffix(got.body, "}\n") ||
			got.header.Get("Content-Type") != "application/x-ndjson" {
			t.Errorf("%s: %s", format, got)
		}
	}
	w.ledger.held = make(chan struct{})
	var first sync.WaitGroup
	first.Go(func() { w.ask("GET", "/api/v1/audit/export", nil) })
	<-w.ledger.held
	if got := w.ask("GET", "/api/v1/audit/export", nil); got.status != http.StatusServiceUnavailable || !strings.Contains(got.body, "BUSY") {
		t.Error(got)
	}
	w.ledger.held <- struct{}{}
	first.Wait()
	w.ledger.held = nil
	w.away = errors.New("disk")
	req := newRequest(t, "GET", w.console.URL()+"/api/v1/audit/export")
	req.Header.Set("Authorization", "Bearer "+testToken)
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		return // nothing had gone out
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err == nil {
		t.Errorf("it looks whole: %s", body)
	}
}

// TestRules: pages of rules keep their order.
func TestRules(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	first := w.ask("GET", "/api/v1/policy/rules?limit=2", nil)
	if !strings.HasPrefix(first.body, `{"default":"deny","rules":[{"name":"a"},{"name":"b"}],"places":{"b":"rules.yaml:3"},"next":"`) {
		t.Error(first)
	}
	if got := w.ask("GET", "/api/v1/policy/rules?limit=2&cursor="+cursor("b"), nil); got.body != `{"default":"deny","rules":[{"name":"c"}],"places":{}}` {
		t.Error(got)
	}
}
