package console

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/audit/reader"
	"github.com/a2a-gateway/a2a-gateway/internal/console/records"
	"github.com/a2a-gateway/a2a-gateway/internal/console/rules"
)

// TestLimits: those who were refused for a limit are counted by limit, caller and agent; what
// an agent refused is not of them.
func TestLimits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *Config) { c.Map.Records = 4 })
	now := time.Now()
	for n, of := range []string{
		`"reason":"RATE_LIMITED","limit":"per-caller","principal":"alice","issuer":"i","agent":"billing"`,
		`"reason":"RATE_LIMITED","limit":"per-caller","principal":"bob","agent":"billing"`,
		`"reason":"RATE_LIMITED","principal":"bob","agent":"billing"`,
		`"reason":"RATE_LIMITED","limit":"per-caller","principal":"alice","issuer":"i","agent":"billing"`,
		`"reason":"RATE_LIMITED","limit":"per-caller","principal":"carol","agent":"billing"`,
		`"reason":"REQUEST_TOO_LARGE","limit":"small","principal":"bob","agent":"billing"`,
	} {
		w.ledger.calls = append(w.ledger.calls, reader.Entry{Seq: uint64(9 - n), Line: fmt.Appendf(nil, //nolint:gosec // small
			`{"type":"call","time":%q,"cause":"canary-cause",%s}`, now.Add(-time.Duration(n+1)*time.Second).Format(time.RFC3339Nano), of)})
	}
	got := w.ask(http.MethodGet, "/api/v1/policy/limits?window=5m", nil)
	var shown rules.CallerLimits
	if err := json.Unmarshal([]byte(got.body), &shown); err != nil || got.status != http.StatusOK || strings.Contains(got.body, "canary") {
		t.Fatal(got, err)
	}
	if shown.OnLoss != "deny" || len(shown.Limits) != 1 || shown.Limits[0].Bounds[0].Units != 2 {
		t.Errorf("limits are %s, %+v", shown.OnLoss, shown.Limits)
	}
	if shown.Counted != 4 || !shown.More || len(shown.Throttled) != 3 {
		t.Errorf("%+v", shown)
	}
	if a := shown.Throttled[0]; a.Caller != "alice" || a.Issuer != "i" || a.Calls != 2 || !a.Last.Equal(now.Add(-time.Second)) {
		t.Errorf("first is %+v", a)
	}
	if ago := now.Sub(shown.Since).Round(time.Second); ago != 5*time.Second {
		t.Errorf("since %v ago", ago)
	}
	w.away = records.ErrBusy
	if got := w.ask(http.MethodGet, "/api/v1/policy/limits", nil); got.status != http.StatusServiceUnavailable {
		t.Error(got)
	}
}
