package gateway_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/a2a-gateway/a2a-gateway/internal/demo"
	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
)

const payingPolicy = `policy:
  rules:
    - name: paying
      effect: allow
      authentication: {acr: ["urn:example:mfa"], amr: [hwk], maxAge: 10m}
      consent: {scope: consent.pay}
agents: [{id: a, card: %s}]
`

// authenticated is the header of alice, who authenticated somehow and agreed to some
// things.
func (w *world) authenticated(acr string, amr []string, ago time.Duration, scopes ...string) http.Header {
	w.t.Helper()
	token, err := w.issuer.Issue("alice", demo.IssueOptions{Scopes: scopes, Claims: map[string]any{
		"acr": acr, "amr": amr, "auth_time": time.Now().Add(-ago).Unix(),
	}})
	if err != nil {
		w.t.Fatal(err)
	}
	return http.Header{"Authorization": {"Bearer " + token}}
}

// TestStepUp: who has not authenticated well enough hears how it has to be, over every
// binding and version, in calls and streams, and gets through once it is; so does who
// has not agreed. What was agreed to is in the record.
func TestStepUp(t *testing.T) {
	t.Parallel()
	const mfa = "urn:example:mfa"
	again := []string{`error="insufficient_user_authentication"`, `acr_values="` + mfa + `"`, `max_age="600"`}
	for _, flavour := range gatewaytest.AllFlavours() {
		if flavour.Version != "1.0" && flavour.Binding == a2a.TransportProtocolGRPC {
			continue // a token does not say which agent is meant, and neither does the call
		}
		for _, sdk := range flavour.SDKs() {
			t.Run(flavour.Name+" "+string(sdk), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				agent := gatewaytest.Start(t, jsonrpc10())
				g := w.start(w.yaml(plain, fmt.Sprintf(payingPolicy, everyBinding(agent.CardURL))))
				for name, tt := range map[string]struct {
					who  http.Header
					want []string // in a challenge; nil: it works
				}{
					"a password":    {w.authenticated("urn:example:pwd", []string{"pwd"}, time.Minute, "consent.pay"), again},
					"no hardware":   {w.authenticated(mfa, []string{"otp"}, time.Minute, "consent.pay"), again},
					"long ago":      {w.authenticated(mfa, []string{"hwk", "pwd"}, time.Hour, "consent.pay"), again},
					"in the future": {w.authenticated(mfa, []string{"hwk"}, -time.Hour, "consent.pay"), []string{`error="invalid_token"`}},
					"not agreed":    {w.authenticated(mfa, []string{"hwk"}, time.Minute), []string{`error="insufficient_scope"`, `scope="consent.pay"`}},
					"all of it":     {w.authenticated(mfa, []string{"hwk", "pwd"}, time.Minute, "consent.pay"), nil},
				} {
					hc := gatewaytest.HTTPClient(t, tt.who, nil)
					c, _ := gatewaytest.Dial(t, sdk, hc, g.URL()+"/agents/a", flavour.Version, flavour.Binding)
					for _, call := range []func(context.Context, gatewaytest.Client) error{sends, streams} {
						err := call(t.Context(), c)
						if (err == nil) != (tt.want == nil) {
							t.Fatalf("%s: %v", name, err)
						}
						if said := strings.Join(gatewaytest.Heard(hc)["Www-Authenticate"], ", "); !containsAll(said, tt.want) {
							t.Errorf("%s: challenged with %q", name, said)
						}
					}
				}
				if n := agent.Exec.Calls(); n != 2 {
					t.Errorf("%d calls reached the agent", n)
				}
				w.agreed(t)
			})
		}
	}
}

// agreed makes sure that the records of calls that went through, and no others, say
// what was agreed to and how alice authenticated.
func (w *world) agreed(t *testing.T) {
	t.Helper()
	var through int
	eventually(t, "all calls are recorded", func() bool {
		through = 0
		for _, r := range w.records("call") {
			if r["rule"] == "paying" && r["decision"] == "allow" {
				through++
			}
		}
		return through == 2
	})
	for _, r := range w.records("call") {
		agreed := fmt.Sprint(r["consent"]) == "[scope consent.pay]"
		if went := r["rule"] == "paying" && r["decision"] == "allow"; went != agreed || went && r["acr"] != "urn:example:mfa" {
			t.Errorf("the record says %v", r)
		}
	}
}

func sends(ctx context.Context, c gatewaytest.Client) error {
	_, err := c.SendMessage(ctx, say("message"))
	return err
}

func streams(ctx context.Context, c gatewaytest.Client) error {
	for _, err := range c.SendStreamingMessage(ctx, say("message")) {
		if err != nil {
			return err
		}
	}
	return nil
}

func containsAll(text string, parts []string) bool {
	return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(text, part) })
}
