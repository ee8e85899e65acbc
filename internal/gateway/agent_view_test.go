package gateway_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/internal/console/cards"
	"github.com/a2a-gateway/a2a-gateway/internal/console/records"
	"github.com/a2a-gateway/a2a-gateway/internal/demo"
)

// same compares JSON, whatever the order of members.
func same(t *testing.T, a, b string) bool {
	t.Helper()
	one, other := jsontext.Value(a), jsontext.Value(b)
	if err := one.Canonicalize(); err != nil {
		t.Fatal(err, a)
	}
	if err := other.Canonicalize(); err != nil {
		t.Fatal(err, b)
	}
	return string(one) == string(other)
}

// TestCardViewByAPI: the view of a card that is asked for as a caller is the card that this
// caller is served, and there is none where that caller gets none.
func TestCardViewByAPI(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent, err := demo.Agent10(demo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = agent.Close(context.Background()) })
	g := w.start(w.yaml(plain, fmt.Sprintf(`policy:
  rules:
    - {name: one, effect: allow, agents: [open, closed], skills: [pay], subjects: [alice]}
    - {name: all, effect: allow, agents: [open, closed], subjects: [bob]}
agents: [{id: open, card: %[1]q}, {id: closed, card: {url: %[1]q, visibility: caller}}, {id: secret, card: {url: %[1]q, visibility: none}},
  {id: form-mixed, card: {url: %[1]q, form: mixed}}, {id: form-1.0, card: {url: %[1]q, form: "1.0"}}, {id: form-0.3, card: {url: %[1]q, form: "0.3"}}]
`, agent.CardURL)))
	admin := adminOf(t, w.dir)
	admin.Set("Content-Type", "application/json")
	view := func(agent, body string) (int, string) {
		t.Helper()
		status, got, err := try(client(t), http.MethodPost, g.AdminURL()+"/api/v1/cards/"+agent+"/view", admin, body)
		if err != nil {
			t.Fatal(err)
		}
		return status, got
	}
	eventually(t, "cards", func() bool {
		for _, id := range []string{"open", "closed", "secret", "form-mixed", "form-1.0", "form-0.3"} {
			if status, _ := view(id, "{}"); status != http.StatusOK {
				return false
			}
		}
		return true
	})
	for _, subject := range []string{"", "alice", "bob", "mallory"} {
		for _, id := range []string{"open", "closed", "secret"} {
			for _, version := range []string{"1.0", "0.3"} {
				header := http.Header{"A2a-Version": {version}}
				body := fmt.Sprintf(`{"version":%q}`, version)
				if subject != "" {
					header = sendHeader(w.token(subject))
					header.Set("A2A-Version", version)
					body = fmt.Sprintf(`{"version":%q,"caller":{"subject":%q,"issuer":%q}}`, version, subject, w.issuer.URL)
				}
				served, card := fetch(t, g.URL()+"/agents/"+id+"/.well-known/agent-card.json", header)
				status, got := view(id, body)
				var shown cards.CardView
				if err := json.Unmarshal([]byte(got), &shown); err != nil || status != http.StatusOK {
					t.Fatal(status, got, err)
				}
				if want := map[bool]string{true: version}[shown.Visible]; shown.Form != want {
					t.Errorf("%q of %s, %s: form %q, want %q", subject, id, version, shown.Form, want)
				}
				if shown.Stranger != (subject == "") || shown.Visible != (served == http.StatusOK) || shown.Visible && !same(t, card, string(shown.Card)) {
					t.Errorf("%q of %s, %s: served %d %s\nshown %s", subject, id, version, served, card, got)
				}
			}
		}
	}
	for _, form := range []string{"mixed", "1.0", "0.3"} {
		if _, got := view("form-"+form, "{}"); !strings.Contains(got, fmt.Sprintf(`"form":%q`, form)) {
			t.Errorf("the form is %s, and not said: %s", form, got)
		}
	}
	for _, body := range []string{`{"caller":{}}`, `{"caller":{"subject":"alice","issuer":"https://nobody.example"}}`, `{"version":"7"}`} {
		if status, got := view("open", body); status != http.StatusBadRequest || !strings.Contains(got, "INVALID_QUESTION") {
			t.Errorf("%s: %d %s", body, status, got)
		}
	}
	if status, got := view("nobody", "{}"); status != http.StatusNotFound || !strings.Contains(got, "NO_SUCH_AGENT") {
		t.Error(status, got)
	}
}

// TestCourseByAPI: calls of an agent are in the course of it, with what became of them, and
// those of others are not.
func TestCourseByAPI(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent, err := demo.Agent10(demo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = agent.Close(context.Background()) })
	g := w.start(w.yaml(plain, fmt.Sprintf(`policy: {rules: [{name: alice, effect: allow, subjects: [alice]}, {name: bob, effect: allow, subjects: [bob], methods: [GetTask]}]}
agents: [{id: a, card: %[1]q}, {id: b, card: %[1]q}]
`, agent.CardURL)))
	send := func(who, agent string) int {
		status, _, err := try(client(t), http.MethodPost, g.URL()+"/agents/"+agent, sendHeader(w.token(who)), sendBody("SendMessage", "0"))
		if err != nil {
			t.Fatal(err)
		}
		return status
	}
	eventually(t, "b answers", func() bool { return send("alice", "b") == http.StatusOK })
	eventually(t, "a answers", func() bool { return send("alice", "a") == http.StatusOK })
	send("bob", "a")
	var got records.Course
	eventually(t, "all of them", func() bool {
		status, body := fetch(t, g.AdminURL()+"/api/v1/agents/a/course?window=5m", adminOf(t, w.dir))
		got = records.Course{}
		if err := json.Unmarshal([]byte(body), &got); err != nil || status != http.StatusOK {
			t.Fatal(status, body, err)
		}
		return len(got.Reasons) > 0 && got.Reasons[len(got.Reasons)-1].Calls > 0 && denied(&got) == 1
	})
	timed := 0
	for _, s := range got.Steps {
		if s.P99 > 0 && s.P50 <= s.P95 && s.P95 <= s.P99 {
			timed++
		}
	}
	if timed == 0 || got.More || got.Counted < 2 {
		t.Errorf("%+v", got)
	}
}

func denied(c *records.Course) (n int) {
	for _, s := range c.Steps {
		n += s.Denied
	}
	return n
}
