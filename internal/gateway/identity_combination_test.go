package gateway_test

import (
	"crypto/tls"
	"fmt"
	"maps"
	"net/http"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
)

// TestCombinations: a user comes with the software that calls, known by its certificate
// or its key. A part that is missing, bad or too much is refused, and what goes through
// is the user's, with the software beside it in the record and in the rules.
func TestCombinations(t *testing.T) {
	t.Parallel()
	ca := newClientCA(t, "workloads")
	c := newCastle(t, "optional", ca)
	user, key, other := c.token("alice"), c.key("desk"), c.key("other")
	agent := gatewaytest.Start(t, jsonrpc10())
	g := c.start(c.authn(spiffe+`
combinations:
  - {user: oidc, client: mtls}
  - {user: oidc, client: apiKeys}`, c.server, fmt.Sprintf(`policy:
  rules:
    - {name: desk, effect: allow, subjects: [alice], clients: ["spiffe://example.org/desk", desk]}
agents: [{id: a, card: %s}]
`, everyBinding(agent.CardURL))))
	desk := []tls.Certificate{ca.workload("spiffe://example.org/desk")}
	tests := map[string]struct {
		certs  []tls.Certificate
		header http.Header
		status int
		client string // in the record
	}{
		"user and certificate":         {desk, user, http.StatusOK, "spiffe://example.org/desk@mtls"},
		"user and key":                 {nil, both(user, key), http.StatusOK, "desk@api-keys"},
		"user, key and a certificate":  {desk, both(user, key), http.StatusOK, "desk@api-keys"},
		"user alone":                   {nil, user, http.StatusUnauthorized, ""},
		"certificate alone":            {desk, nil, http.StatusUnauthorized, ""},
		"key alone":                    {nil, key, http.StatusUnauthorized, ""},
		"key and certificate":          {desk, key, http.StatusUnauthorized, ""},
		"nothing":                      {nil, nil, http.StatusUnauthorized, ""},
		"user and a bad key":           {nil, both(user, http.Header{"X-Api-Key": {key.Get("X-Api-Key") + "0"}}), http.StatusUnauthorized, ""},
		"a bad user and a certificate": {desk, http.Header{"Authorization": {"Bearer no"}}, http.StatusUnauthorized, ""},
		"user and another's key":       {nil, both(user, other), http.StatusNotFound, ""},
		"user and other software":      {[]tls.Certificate{ca.workload("spiffe://example.org/other")}, user, http.StatusNotFound, ""},
		"another user":                 {desk, c.token("bob"), http.StatusNotFound, ""},
	}
	good := 0
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			hc := &http.Client{Transport: c.transport(tt.certs...)}
			status, body, err := try(hc, http.MethodPost, g.URL()+"/agents/a", sendHeader(tt.header), sendBody("SendMessage", name))
			if err != nil || status != tt.status {
				t.Fatalf("%d %s, %v", status, body, err)
			}
			if status != http.StatusOK {
				return
			}
			good++
			intents := c.records("intent")
			if r := intents[len(intents)-1]; r["principal"] != "alice" || r["workload"] != tt.client {
				t.Errorf("recorded as %v by %v", r["principal"], r["workload"])
			}
		})
	}
	if n := int(agent.Exec.Calls()); n != good || n != 3 {
		t.Errorf("%d calls reached the agent", n)
	}
	for _, side := range proven() {
		hc := gatewaytest.HTTPClient(t, user, c.transport(desk...))
		client, _ := gatewaytest.Dial(t, side.sdk, hc, g.URL()+"/agents/a", side.version, side.binding)
		if err := sends(t.Context(), client); err != nil {
			t.Errorf("%s %s: %v", side.binding, side.version, err)
		}
	}
}

// both are the headers of two credentials.
func both(a, b http.Header) http.Header {
	all := a.Clone()
	maps.Copy(all, b)
	return all
}
