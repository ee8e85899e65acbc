package gateway_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/demo"
	"github.com/a2a-gateway/a2a-gateway/internal/verdict"
)

// TestReplayOfManyCalls: each call of a log is replayed once, however many looks at the log
// that takes, and the sample of them is bounded.
func TestReplayOfManyCalls(t *testing.T) {
	t.Parallel()
	const calls = 2_050 // two pages, and some
	w := newWorld(t)
	agent, err := demo.Agent10(demo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = agent.Close(context.Background()) })
	g := w.start(w.yaml(plain, fmt.Sprintf(`admin: {replay: {sample: 3, time: 15s}}
policy: {rules: [{name: look, effect: allow, methods: [GetTask]}]}
agents: [{id: a, card: %q, skills: [{id: help}]}]
`, agent.CardURL)))
	admin, c, header := adminOf(t, w.dir), client(t), sendHeader(w.token("alice"))
	eventually(t, "the agent has a card", func() bool { // asking the listener would be on record
		status, _ := fetch(t, g.StatusURL()+"/readyz", nil)
		return status == http.StatusOK
	})
	for range calls {
		if status, body, err := try(c, http.MethodPost, g.URL()+"/agents/a", header, sendBody("SendMessage", "1")); err != nil || status != http.StatusForbidden {
			t.Fatal(status, body, err)
		}
	}
	asking := admin.Clone()
	asking.Set("Content-Type", "application/json")
	replay := func(records int) (r verdict.Replayed) {
		body := fmt.Sprintf(`{"rules":"[{name: all, effect: allow}]","records":%d}`, records)
		status, answer, err := try(c, http.MethodPost, g.AdminURL()+"/api/v1/policy/replay", asking, body)
		for strings.Contains(answer, "admin.replay.time") { // a busy machine: the index goes on where it was
			status, answer, err = try(c, http.MethodPost, g.AdminURL()+"/api/v1/policy/replay", asking, body)
		}
		if err == nil {
			err = json.Unmarshal([]byte(answer), &r)
		}
		if err != nil || status != http.StatusOK {
			t.Fatal(status, answer, err)
		}
		return r
	}
	var all verdict.Replayed
	eventually(t, "all calls are recorded", func() bool {
		all = replay(0)
		return all.Calls >= calls
	})
	if all.Calls != calls || all.DenyToAllow != calls || len(all.Changes) != 3 || all.More {
		t.Errorf("all: %+v", all)
	}
	some := replay(1_500)
	if some.Calls != 1_500 || some.DenyToAllow != 1_500 || !some.More || !some.Newest.Equal(all.Newest) || !some.Oldest.After(all.Oldest) {
		t.Errorf("some: %+v", some)
	}
	if last := all.Changes[0]; !strings.HasPrefix(last.Caller, "alice") || last.Seq <= all.Changes[1].Seq {
		t.Errorf("not the newest first: %+v", all.Changes)
	}
}
