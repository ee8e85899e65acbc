package interop_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/pdp"
)

// cerbos is a policy decision point that speaks AuthZEN 1.0.
const cerbos = "js/node_modules/@cerbos/cerbos-linux-x64/cerbos-linux-x64"

// cerbosPolicies let one issuer's accounts department use the skills of an agent, but for
// paying.
const cerbosPolicies = `apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: a2a_skill
  rules:
    - actions: [SendMessage]
      effect: EFFECT_ALLOW
      roles: ["*"]
      condition:
        match:
          all:
            of:
              - expr: P.attr.issuer == "https://idp.example"
              - expr: P.attr.claims.department == "accounts"
              - expr: R.attr.agent == "billing" && R.attr.skill != "pay"
`

// TestAuthZEN has a policy decision point of somebody else's decide about calls.
func TestAuthZEN(t *testing.T) {
	if os.Getenv("A2A_GATEWAY_TEST_INTEROP") == "" {
		t.Skip("run by `make interop`")
	}
	if lacking := missing([]string{cerbos}); lacking != "" {
		if requireAll() {
			t.Fatalf("AuthZEN needs %s; run interop/setup", lacking)
		}
		t.Skipf("AuthZEN needs %s; run interop/setup", lacking)
	}
	results := map[string]int{}
	panel, err := pdp.New(pdp.Config{{
		Name: "cerbos", Kind: "authzen", URL: secret.URL(startCerbos(t)), Claims: []string{"department"}, Message: true,
		Timeout: quantity.Duration(10 * time.Second),
	}}, pdp.Options{Asked: func(_, result string, _ time.Duration) { results[result]++ }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(panel.Close)
	for name, test := range map[string]struct {
		change func(*pdp.Question)
		allow  bool
	}{
		"accounts":               {func(*pdp.Question) {}, true},
		"another department":     {func(q *pdp.Question) { q.Principal.Claims = map[string]any{"department": "sales"} }, false},
		"another issuer":         {func(q *pdp.Question) { q.Principal.Issuer = "https://other.example" }, false},
		"another skill":          {func(q *pdp.Question) { q.Skill = "pay" }, false},
		"another agent":          {func(q *pdp.Question) { q.Agent = "weather" }, false},
		"another operation":      {func(q *pdp.Question) { q.Method = operation(t, wire.CancelTask) }, false},
		"several, all allowed":   {func(q *pdp.Question) { q.Skill, q.Skills = "", []string{"refund", "invoice"} }, true},
		"several, the last not":  {func(q *pdp.Question) { q.Skill, q.Skills = "", []string{"refund", "invoice", "pay"} }, false},
		"several, the first not": {func(q *pdp.Question) { q.Skill, q.Skills = "", []string{"pay", "refund"} }, false},
		"no skill":               {func(q *pdp.Question) { q.Skill = "" }, false},
	} {
		q := &pdp.Question{
			Principal: &authn.Principal{
				Subject: "alice", Issuer: "https://idp.example", Claims: map[string]any{"department": "accounts"},
			},
			Agent: "billing", Skill: "refund", Method: operation(t, wire.SendMessage), Binding: wire.JSONRPC, Version: wire.V10,
			Host: "gateway.example", Path: "/agents/billing", RequestID: "req-1", Now: time.Now(),
			Message: &wire.Message{Role: "ROLE_USER", Parts: []wire.Part{{Kind: wire.PartText, Bytes: 3}}},
		}
		test.change(q)
		notes, err := panel.Ask(t.Context(), q)
		var refused *pdp.Refused
		if (err == nil) != test.allow || notes != nil || errors.As(err, &refused) && refused.Err != nil {
			t.Errorf("%s: got %q, %v", name, notes, err)
		}
	}
	if results["allow"] != 2 || results["deny"] != 8 || len(results) != 2 {
		t.Errorf("the answers were %v", results)
	}
}

func operation(t *testing.T, name string) *wire.Method {
	t.Helper()
	m, ok := wire.ByName(wire.V10, name)
	if !ok {
		t.Fatalf("there is no %s", name)
	}
	return m
}

// startCerbos runs Cerbos until the test ends and gives its URL.
func startCerbos(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	policies := filepath.Join(dir, "policies")
	if err := os.Mkdir(policies, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(policies, "skill.yaml"), []byte(cerbosPolicies), 0o600); err != nil {
		t.Fatal(err)
	}
	var log lockedBuffer
	http, rpc := freeAddress(t), freeAddress(t)
	config := fmt.Sprintf("server: {httpListenAddr: %q, grpcListenAddr: %q}\n"+
		"storage: {driver: disk, disk: {directory: %q}}\ntelemetry: {disabled: true}\n", http, rpc, policies)
	file := filepath.Join(dir, "cerbos.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(cerbos, "server", "--config", file) //nolint:noctx // ended below
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		end(cmd)
		if t.Failed() {
			t.Logf("Cerbos said:\n%s", log.tail(2000))
		}
	})
	awaitAnswer(t, "http://"+http+"/_cerbos/health")
	return "http://" + http
}

// freeAddress is one that nobody listens on, for programs that do not tell theirs.
func freeAddress(t *testing.T) string {
	t.Helper()
	address := gatewaytest.FreeAddress()
	if address == "" {
		t.Fatal("no port is free")
	}
	return address
}

// awaitAnswer returns when a URL answers 200.
func awaitAnswer(t *testing.T, url string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for tick := time.NewTicker(20 * time.Millisecond); ; <-tick.C {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				tick.Stop()
				return
			}
		}
		if ctx.Err() != nil {
			t.Fatalf("%s does not answer: %v", url, err)
		}
	}
}
