package console

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/audit/reader"
	"github.com/a2a-gateway/a2a-gateway/audit/vault"
	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
	"github.com/a2a-gateway/a2a-gateway/internal/console/contents"
)

// archive has content of alice's, and says what it was asked for.
type archive struct {
	world *world
	asked []string
	fails bool // some of it stays
}

func (a *archive) Of(_ context.Context, s vault.Subject, after string, limit int) ([]vault.Item, error) {
	a.asked = append(a.asked, fmt.Sprintf("of %s %s %s %d", s.Name, s.Issuer, after, limit))
	var list []vault.Item
	for i := range 3 {
		id := fmt.Sprintf("2026-11-22_000.%d", i)
		if s.Name == "alice" && id > after && len(list) < limit {
			list = append(list, vault.Item{
				ID: id, Digest: "sha-256:1", Subject: "alice", Issuer: "x", Agent: "billing", Label: "internal", Nonce: "canary-nonce",
				Request: &vault.Body{Text: "canary-request"}, Response: &vault.Body{Text: "canary-response"},
			})
		}
	}
	if after == "nonsense" {
		return nil, vault.ErrAbsent
	}
	return list, a.world.away
}

func (a *archive) Item(id string) (vault.Item, error) {
	a.asked = append(a.asked, "item "+id)
	switch id {
	case "erased", "expired":
		return vault.Item{}, vault.ErrErased
	case "damaged":
		return vault.Item{}, errors.New("canary")
	}
	return vault.Item{
		ID: id, Digest: "sha-256:1", RequestID: "r-1", Subject: "alice", Issuer: "x", Agent: "billing", Task: "t-1", Label: "internal", Nonce: "canary-nonce",
		Request: &vault.Body{Text: `{"message":{}}`, Bytes: 14}, Response: &vault.Body{Text: "{}", Bytes: 99, Cut: true, Redactions: 2},
	}, nil
}

func (a *archive) Erase(s vault.Subject, by map[string]string) (vault.Erasure, error) {
	a.asked = append(a.asked, "erase "+s.Name+" "+s.Issuer)
	attrs := maps.Clone(by)
	attrs["principal"] = s.Name
	if err := a.world.record("content.erased", attrs); err != nil {
		return vault.Erasure{}, fmt.Errorf("%w: %w", audit.ErrUnrecorded, err)
	}
	if a.world.away != nil {
		attrs["outcome"] = "failed"
		return vault.Erasure{}, errors.Join(a.world.away, a.world.record("content.erased", attrs))
	}
	if a.fails {
		return vault.Erasure{ID: "e-1", State: vault.Failed, Items: 1}, errors.New("canary")
	}
	return vault.Erasure{ID: "e-1", State: vault.Done, Items: 3, Bytes: 99}, nil
}

// TestContents: what there is of somebody is listed page by page, and never what it says.
func TestContents(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	var ids []string
	for after, pages := "", 0; pages == 0 || after != ""; pages++ {
		got := w.ask("GET", "/api/v1/content?subject=alice&issuer=x&limit=2"+after, nil)
		var page contents.ContentPage
		if err := json.Unmarshal([]byte(got.body), &page); err != nil || got.status != 200 || strings.Contains(got.body, "canary") {
			t.Fatal(got, err)
		}
		for _, c := range page.Content {
			ids = append(ids, c.ID)
		}
		if after = ""; page.Next != "" {
			after = "&cursor=" + page.Next
		}
	}
	if got := strings.Join(ids, " "); got != "2026-11-22_000.0 2026-11-22_000.1 2026-11-22_000.2" {
		t.Error(got)
	}
	if got := w.ask("GET", "/api/v1/content?subject=nobody", nil); got.body != `{"content":[]}` {
		t.Error(got)
	}
	if events := w.recorded(); len(events) != 0 {
		t.Errorf("%v", events)
	}
}

// TestEraseContents: whose content is erased is written out, and who wanted it is on record.
func TestEraseContents(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for _, tt := range []struct {
		method, target string
		status         int
		holds          string
	}{
		{"POST", "/erase?subject=alice&issuer=https://id.example", 200, `{"id":"e-1","calls":3,"bytes":99}`},
		{"POST", "/erase?subject=a%26b%20", 200, `"e-1"`},
		{"POST", "/erase", 400, "subject is missing"},
		{"POST", "/erase?subject=", 400, "subject is missing"},
		{"POST", "/erase?subject=alice&subject=bob", 400, "more than once"},
		{"POST", "/erase?subject=alice&isuer=x", 400, "unknown parameter"},
		{"POST", "/erase?subject=alice&limit=1", 400, "unknown parameter"},
		{"GET", "/erase?subject=alice", 405, "METHOD_NOT_ALLOWED"},
		{"DELETE", "?subject=alice", 405, "METHOD_NOT_ALLOWED"},
		{"GET", "", 400, "subject is missing"},
		{"GET", "?subject=alice&limit=0", 400, "limit"},
		{"GET", "?subject=alice&cursor=" + cursor("nonsense"), 400, "cursor"},
		{"GET", "/2026-11-22_000.0", 404, "NOT_FOUND"},
	} {
		if got := w.ask(tt.method, "/api/v1/content"+tt.target, nil); got.status != tt.status || !strings.Contains(got.body, tt.holds) {
			t.Errorf("%s %s: %s", tt.method, tt.target, got)
		}
	}
	want := []string{"erase alice https://id.example", "erase a&b  ", "of alice  nonsense 101"}
	if diff := cmp.Diff(want, w.archive.asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	events := []map[string]string{
		{"event": "content.erased", "who": "admin-token", "client_ip": "127.0.0.1", "principal": "alice"},
		{"event": "content.erased", "who": "admin-token", "client_ip": "127.0.0.1", "principal": "a&b "},
	}
	if diff := cmp.Diff(events, w.recorded()); diff != "" {
		t.Errorf("recorded (-want +got):\n%s", diff)
	}
}

// TestEraseContentsFails: the operator is told whether there is something left to do.
func TestEraseContentsFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.archive.fails = true
	if got := w.ask("POST", "/api/v1/content/erase?subject=alice", nil); got.status != http.StatusInternalServerError ||
		!strings.Contains(got.body, "NOT_ERASED") || strings.Contains(got.body, "canary") {
		t.Error(got)
	}
	if !strings.Contains(w.log.String(), "canary") {
		t.Error("the log does not say why")
	}
	w.mu.Lock()
	w.unrecorded = true
	w.mu.Unlock()
	if got := w.ask("POST", "/api/v1/content/erase?subject=alice", nil); got.status != http.StatusServiceUnavailable ||
		!strings.Contains(got.body, "UNRECORDED") {
		t.Error(got)
	}
}

// naming has the log hold the record of a call which names content.
func (w *world) naming(content string) {
	line := `{"seq":9,"type":"call","request_id":"r-1"` + content + `}`
	w.ledger.calls = []reader.Entry{{Seq: 9, Line: []byte(line)}}
}

// TestRecordContent: operators are shown what was captured of a call, which is on record before; or they are
// told why there is nothing to show.
func TestRecordContent(t *testing.T) {
	t.Parallel()
	const path = "/api/v1/audit/records/9/content"
	w := newWorld(t, func(c *Config) { everyRole(c); c.Content = true })
	for _, tt := range []struct {
		content, code string
		status        int
	}{
		{"", "NOT_CAPTURED", 404},
		{`,"content":{"lost":true}`, "CONTENT_LOST", 404},
		{`,"content":{"id":"erased","until":"2999-01-01"}`, "CONTENT_ERASED", 404},
		{`,"content":{"id":"expired","until":"2020-01-01"}`, "CONTENT_EXPIRED", 404},
		{`,"content":{"id":"damaged"}`, "CONTENT_CHANGED", 500},
		{`,"content":{"id":"c-1","digest":"sha-256:2"}`, "CONTENT_CHANGED", 500},
	} {
		w.naming(tt.content)
		if got := w.ask("GET", path, nil); got.status != tt.status || !strings.Contains(got.body, tt.code) || strings.Contains(got.body, "canary") {
			t.Errorf("%s: %s", tt.content, got)
		}
	}
	if e := w.recorded(); len(e) != 0 {
		t.Errorf("nothing was shown, and on record is %v", e)
	}
	w.naming(`,"content":{"id":"c-1","digest":"sha-256:1","until":"2999-01-01"}`)
	as := func(role api.Role) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+tokenOf(role)) }
	}
	if got := w.ask("GET", path, as(api.Viewer)); got.status != http.StatusForbidden {
		t.Error(got)
	}
	got := w.ask("GET", path, as(api.Operator))
	want := `{"id":"c-1","label":"internal","until":"2999-01-01","request":{"text":"{\"message\":{}}","bytes":14,"redactions":0},"response":{"text":"{}","bytes":99,"cut":true,"redactions":2}}`
	if got.status != http.StatusOK || got.body != want {
		t.Error(got)
	}
	e := w.recorded()
	if len(e) != 2 || e[1]["event"] != "content.shown" || e[1]["who"] != "the-operator" || e[1]["id"] != "c-1" || e[1]["principal"] != "alice" || e[1]["request_id"] != "r-1" || e[1]["task_id"] != "t-1" {
		t.Error(e)
	}
	w.mu.Lock()
	w.unrecorded = true
	w.mu.Unlock()
	if got := w.ask("GET", path, nil); got.status != http.StatusServiceUnavailable || strings.Contains(got.body, "message") {
		t.Error(got)
	}
}

// TestRecordContentOff: unless admin.content says so, what was captured is shown to nobody, and not even opened.
func TestRecordContentOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.naming(`,"content":{"id":"c-1","digest":"sha-256:1"}`)
	if got := w.ask("GET", "/api/v1/audit/records/9/content", nil); got.status != http.StatusForbidden || !strings.Contains(got.body, "CONTENT_OFF") || !strings.Contains(got.body, "admin.content is false") {
		t.Error(got)
	}
	if len(w.archive.asked) != 0 || len(w.recorded()) != 0 {
		t.Error(w.archive.asked, w.recorded())
	}
}
