package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/a2a-gateway/a2a-gateway/internal/demo"
	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
)

// cmdAgent starts a sample agent: agent NAME 1.0|0.3 [grpc] [require-extension]
// [token=SECRET] [step=DURATION]. It sets $NAME_CARD. "agent NAME down" ends it;
// for a name that never was, $NAME_CARD then leads to a port where nobody is.
func cmdAgent(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	if len(args) < 2 {
		ts.Fatalf("usage: agent NAME 1.0|0.3|down [grpc] [require-extension] [token=SECRET] [step=DURATION]")
	}
	w, name, kind := worldOf(ts), args[0], args[1]
	if kind == "down" {
		w.agentDown(ts, name)
		return
	}
	o := demo.Options{
		Step: 2 * time.Millisecond, RequireExtension: slices.Contains(args, "require-extension"),
		GRPC: slices.Contains(args, "grpc"),
	}
	for _, a := range args[2:] {
		key, value, _ := strings.Cut(a, "=")
		switch key {
		case "token":
			o.BearerToken = value
		case "step":
			step, err := time.ParseDuration(value)
			ts.Check(err)
			o.Step = step
		}
	}
	start := map[string]func(demo.Options) (*demo.Agent, error){"1.0": demo.Agent10, "0.3": demo.Agent03}[kind]
	if start == nil {
		ts.Fatalf("agent: no such version %q", kind)
	}
	a, err := start(o)
	ts.Check(err)
	w.agents[name] = a
	w.name(ts, envName(name)+"_URL", a.URL)
	ts.Setenv(envName(name)+"_CARD", a.CardURL)
}

func (w *world) agentDown(ts *testscript.TestScript, name string) {
	if a := w.agents[name]; a != nil {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = a.Close(ctx) // an idle gateway connection is closed with it
		return
	}
	url := "http://" + gatewaytest.FreeAddress()
	w.name(ts, envName(name)+"_URL", url)
	ts.Setenv(envName(name)+"_CARD", url+"/.well-known/agent-card.json")
}

func envName(name string) string { return strings.ToUpper(strings.ReplaceAll(name, "-", "_")) }
