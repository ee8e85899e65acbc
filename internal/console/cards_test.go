package console

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/card/trust"
	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
	"github.com/a2a-gateway/a2a-gateway/internal/console/cards"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// album has one agent, billing, whose card of digest sha256:1 waits.
type album struct {
	decided []string
	away    error

	viewed  cards.Viewed
	view    []byte
	viewErr error
}

const poisonedCard = `{"name":"Billing","description":"canary AKIAIOSFODNN7EXAMPLE","authentication":{"credentials":"canary-credentials"},` +
	`"url":"https://canary-user:canary-password@b.example/"}`

func (a *album) List(context.Context) ([]cards.Card, error) {
	r := trust.Ruling{Entry: trust.Entry{
		Digest: "sha256:1", State: trust.Quarantined, Why: "the name changed", Score: 40,
		Changes: []trust.Change{{Kind: "name-changed", Severity: trust.Danger, Text: "the name changed", Old: "A", New: "B"}},
	}, Standing: "sha256:0"}
	return []cards.Card{{
		Agent: "billing", URL: "https://canary-user:canary-password@b.example/card.json", Ruling: r, InForce: []byte(`{"name":"A"}`),
	}}, a.away
}

func (a *album) History(context.Context, string) ([]trust.Entry, error) {
	return []trust.Entry{{Digest: "sha256:1", State: trust.Quarantined}, {Digest: "sha256:0", State: trust.Accepted}}, a.away
}

func (a *album) Document(_ context.Context, _, digest string) ([]byte, bool, error) {
	return []byte(poisonedCard), digest == "sha256:1", a.away
}

func (a *album) View(_ context.Context, agent string, q *cards.Viewed) (*cards.CardView, error) {
	a.viewed = *q
	if agent != "billing" {
		return nil, nil
	}
	return &cards.CardView{Visible: a.view != nil, Card: a.view, Stranger: q.Caller == nil}, a.viewErr
}

func (a *album) Approve(_ context.Context, agent, digest, by string) (bool, error) {
	a.decided = append(a.decided, "approve "+agent+" "+digest+" "+by)
	return agent == "billing" && digest == "sha256:1", a.away
}

func (a *album) Reject(_ context.Context, agent, digest, by string) (bool, error) {
	a.decided = append(a.decided, "reject "+agent+" "+digest+" "+by)
	return agent == "billing" && digest == "sha256:1", a.away
}

func TestCards(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	got := w.ask("GET", "/api/v1/cards", nil)
	want := `{"cards":[{"agent":"billing","state":"quarantined","digest":"sha256:1","inForce":"sha256:0","why":"the name changed",` +
		`"severity":"danger","score":40}]}`
	if diff := cmp.Diff(want, got.body); diff != "" || got.status != http.StatusOK {
		t.Errorf("%d (-want +got):\n%s", got.status, diff)
	}
	got = w.ask("GET", "/api/v1/cards/billing", nil)
	var d cards.CardDetail
	if err := json.Unmarshal([]byte(got.body), &d); err != nil || d.State != trust.Quarantined || len(d.History) != 2 ||
		string(d.Standing) != `{"name":"A"}` || !strings.Contains(string(d.Served), `"name":"Billing"`) {
		t.Error(got, err)
	}
	for _, target := range []string{"/api/v1/cards/other", "/api/v1/cards/billing/other", "/api/v1/cards/"} {
		if got := w.ask("GET", target, nil); got.status != http.StatusNotFound {
			t.Errorf("%s: %s", target, got)
		}
	}
}

// TestA17_NoSecretsInTheAdminAPI: what strayed into a card is shown to nobody, and what an
// agent writes is no page that a browser obeys.
func TestA17_NoSecretsInTheAdminAPI(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for _, target := range []string{"/api/v1/cards", "/api/v1/cards/billing"} {
		got := w.ask("GET", target, nil)
		for _, secret := range []string{"AKIA", "canary-credentials", "canary-user", "canary-password"} {
			if strings.Contains(got.body, secret) {
				t.Errorf("%s shows %s: %s", target, secret, got)
			}
		}
		w.checkHeaders(got)
	}
}

func TestDecisions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for _, tt := range []struct {
		target string
		status int
		holds  string
	}{
		{"billing/approve?digest=sha256:1", 200, `{"id":"billing","state":"approved"}`},
		{"billing/reject?digest=sha256:1", 200, `{"id":"billing","state":"rejected"}`},
		{"billing/approve?digest=sha256:2", 404, "NO_SUCH_CARD"},
		{"other/reject?digest=sha256:1", 404, "NO_SUCH_CARD"},
		{"billing/approve", 400, "INVALID_PARAMETER"},
		{"billing/approve?digest=sha256:1&digest=sha256:2", 400, "INVALID_PARAMETER"},
		{"billing/approve?digest=sha256:1&x=1", 400, "INVALID_PARAMETER"},
	} {
		if got := w.ask("POST", "/api/v1/cards/"+tt.target, nil); got.status != tt.status || !strings.Contains(got.body, tt.holds) {
			t.Errorf("%s: %s", tt.target, got)
		}
	}
	want := []map[string]string{
		{"event": "card.approved", "agent": "billing", "digest": "sha256:1"},
		{"event": "card.rejected", "agent": "billing", "digest": "sha256:1"},
		{"event": "card.approved", "agent": "billing", "digest": "sha256:2"},
		{"event": "card.approved", "agent": "billing", "digest": "sha256:2", "outcome": "not found"},
		{"event": "card.rejected", "agent": "other", "digest": "sha256:1"},
		{"event": "card.rejected", "agent": "other", "digest": "sha256:1", "outcome": "not found"},
	}
	for i := range want {
		want[i]["who"], want[i]["client_ip"] = "admin-token", "127.0.0.1"
	}
	if diff := cmp.Diff(want, w.recorded()); diff != "" {
		t.Errorf("recorded (-want +got):\n%s", diff)
	}
}

// TestCardsWithoutState: what cannot be known is not made up, and what cannot be recorded
// is not done.
func TestCardsWithoutState(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.cards.away = errors.Join(state.ErrUnavailable)
	for _, ask := range [][2]string{
		{"GET", "/api/v1/cards"}, {"GET", "/api/v1/cards/billing"}, {"POST", "/api/v1/cards/billing/approve?digest=sha256:1"},
	} {
		if got := w.ask(ask[0], ask[1], nil); got.status != http.StatusServiceUnavailable {
			t.Errorf("%s: %s", ask, got)
		}
	}
	w = newWorld(t, nil)
	w.unrecorded = true
	if got := w.ask("POST", "/api/v1/cards/billing/approve?digest=sha256:1", nil); got.status != 503 || len(w.cards.decided) > 0 {
		t.Errorf("%s, %q", got, w.cards.decided)
	}
}

// TestCardView: a card is asked for as a caller, and what the gateway says of it is told.
func TestCardView(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	const path = "/api/v1/cards/billing/view"
	ask := func(path, body string) answer {
		t.Helper()
		return w.ask("POST", path, func(r *http.Request) { send(r, body) })
	}
	w.cards.view = []byte(`{"name":"Billing","skills":[]}`)
	got := ask(path, `{"caller":{"subject":"alice","scopes":["pay"]},"version":"0.3"}`)
	if got.status != http.StatusOK || !strings.Contains(got.body, `"visible":true,"card":{"name":"Billing","skills":[]},"stranger":false`) {
		t.Error(got)
	}
	if q := w.cards.viewed; q.Version != "0.3" || q.Caller == nil || q.Caller.Subject != "alice" || len(q.Caller.Scopes) != 1 {
		t.Errorf("%+v", q)
	}
	w.cards.view = nil
	if got := ask(path, `{}`); got.status != http.StatusOK || !strings.Contains(got.body, `{"visible":false,"stranger":true}`) || w.cards.viewed.Caller != nil {
		t.Error(got)
	}
	for _, tt := range []struct {
		path, body, code string
		err              error
	}{
		{path, `{"canary":1}`, "INVALID_QUESTION", nil},
		{path, `[]`, "INVALID_QUESTION", nil},
		{path, `{}`, "INVALID_QUESTION", api.QuestionInvalid{Member: "caller", Err: errors.New("subject is missing")}},
		{path, `{}`, "NO_SUCH_CARD", cards.ErrNoCard},
		{path, `{}`, "INTERNAL", errors.New("canary")},
		{"/api/v1/cards/other/view", `{}`, "NO_SUCH_AGENT", nil},
	} {
		w.cards.viewErr = tt.err
		if got := ask(tt.path, tt.body); !strings.Contains(got.body, tt.code) || strings.Contains(got.body, "canary") && tt.code == "INTERNAL" {
			t.Errorf("%s: %s, want %s", tt.body, got, tt.code)
		}
	}
}
