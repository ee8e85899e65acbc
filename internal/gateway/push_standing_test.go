package gateway_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn/apikey"
)

// away is a webhook that answers 404 until it is well, and counts how often it is asked.
// What is asked of it under /later is taken at once.
type away struct {
	url   string
	well  atomic.Bool
	asked atomic.Int64
}

func hookAway(t *testing.T) *away {
	t.Helper()
	a := &away{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/later" {
			return
		}
		a.asked.Add(1)
		if !a.well.Load() {
			w.WriteHeader(http.StatusNotFound) // of this webhook alone
		}
	}))
	t.Cleanup(server.Close)
	a.url = server.URL
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
			keys, err := apikey.Open(p.world.dir + "/keys.yaml")
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
			task := p.register("t", hook.url+"/hook", nil)
			p.notify(task, 1)
			eventually(t, "an attempt", func() bool { return strings.Contains(p.outcomes(task), "failed") })
			tt.end(p, task)
			before := hook.asked.Load()
			switch tt.want {
			case "delivered":
				hook.well.Store(true)
			case "": // nothing is to be seen: another that comes later is delivered
				later := p.register("later", hook.url+"/later", nil)
				p.notify(later, 1)
				eventually(t, "a delivery", func() bool { return p.outcomes(later) == "delivered" })
				time.Sleep(3 * time.Second) // several attempts, of which the queue may see each a second late
			}
			eventually(t, tt.want, func() bool { return strings.HasSuffix(p.outcomes(task), tt.want) })
			// One attempt may have been under way: it had begun when all was well.
			if asked := hook.asked.Load() - before; asked > 1 && tt.want != "delivered" {
				t.Errorf("it was asked %d times more; outcomes: %s", asked, p.outcomes(task))
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
