package gateway_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/authn"
)

// away is a webhook that answers 503 until it is well, and counts what it takes.
type away struct {
	url  string
	well atomic.Bool
	took atomic.Int64
}

func hookAway(t *testing.T) *away {
	t.Helper()
	a := &away{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if !a.well.Load() {
			w.WriteHeader(http.StatusNotFound) // of this webhook alone
			return
		}
		a.took.Add(1)
	}))
	t.Cleanup(server.Close)
	a.url = server.URL + "/hook"
	return a
}

// TestWhoMayNotHearAnyMore: what waits for a webhook is not sent once its config was
// deleted, its owner's key was revoked, or the rules have nothing for the owner any more.
func TestWhoMayNotHearAnyMore(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		end  func(p *pushing, task string)
		want string // the last outcome; "" for none
	}{
		"deleted": {end: func(p *pushing, task string) {
			p.rpc("DeleteTaskPushNotificationConfig", fmt.Sprintf(`{"taskId":%q,"id":"mine"}`, task), nil)
		}},
		"key revoked": {want: "refused", end: func(p *pushing, _ string) {
			keys, err := authn.OpenKeys(p.world.dir + "/keys.yaml")
			if err == nil {
				err = keys.Revoke("alice")
			}
			if err != nil {
				p.t.Fatal(err)
			}
			// The file is noticed a moment later.
			eventually(p.t, "the key is refused", func() bool {
				status, _, err := try(client(p.t), http.MethodPost, p.g.URL()+"/agents/courier", p.caller,
					`{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"none"}}`)
				return err == nil && status == http.StatusUnauthorized
			})
		}},
		"rule gone": {want: "refused", end: func(p *pushing, _ string) {
			p.reload("policy: {rules: [{name: others, effect: allow, subjects: [bob]}]}\n", p.agents())
		}},
		"another rule": {want: "delivered", end: func(p *pushing, _ string) {
			p.reload("policy: {rules: [{name: sends, effect: allow, subjects: [alice], methods: [SendMessage]}]}\n", p.agents())
		}},
		"agent gone": {want: "refused", end: func(p *pushing, _ string) {
			p.reload(openPolicy, strings.Replace(p.agents(), "id: courier", "id: other", 1))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, hook := pushes(t, openPolicy), hookAway(t)
			task := p.register("t", hook.url, nil)
			p.notify(task, 1)
			eventually(t, "an attempt", func() bool { return strings.Contains(p.outcomes(task), "failed") })
			tt.end(p, task)
			hook.well.Store(true)
			if tt.want == "" { // nothing is to be seen: another that comes later is delivered
				later := p.register("later", hook.url, nil)
				p.notify(later, 1)
				eventually(t, "a delivery", func() bool { return p.outcomes(later) == "delivered" })
				if got := p.outcomes(task); strings.Contains(got, "delivered") {
					t.Errorf("outcomes: %s", got)
				}
				return
			}
			eventually(t, tt.want, func() bool { return strings.HasSuffix(p.outcomes(task), tt.want) })
			if took := hook.took.Load(); (took == 1) != (tt.want == "delivered") {
				t.Errorf("%d notifications were taken", took)
			}
		})
	}
}

// reload puts another policy in force.
func (p *pushing) reload(policy, agents string) {
	p.t.Helper()
	if err := p.world.reload(p.g, p.world.yaml(plain, openPush+policy+agents)); err != nil {
		p.t.Fatal(err)
	}
}
