package main

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
)

// cmdProxy starts an HTTP proxy that finds hosts nobody else finds, or has it answer otherwise:
// proxy user=USER:PASSWORD HOST:PORT=URL…; proxy STATUS. It is at $PROXY.
func cmdProxy(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	w := worldOf(ts)
	if len(args) == 1 && w.tunnels != nil {
		status, err := strconv.ParseInt(args[0], 10, 64)
		ts.Check(err)
		w.refusing.Store(status)
		return
	}
	p := gatewaytest.NewTunnels(scriptCleanup{ts})
	p.To = map[string]string{}
	for _, a := range args {
		name, value, ok := strings.Cut(a, "=")
		if !ok {
			ts.Fatalf("usage: proxy user=USER:PASSWORD HOST:PORT=URL...")
		}
		if name == "user" {
			p.User = value
			continue
		}
		at, err := url.Parse(value)
		ts.Check(err)
		p.To[name] = at.Host
	}
	w.refusing.Store(200)
	p.Answer = func(string) int { return int(w.refusing.Load()) }
	p.Start()
	w.tunnels = p
	w.name(ts, "PROXY", p.Host)
}

// scriptCleanup ends what a script has started with it.
type scriptCleanup struct{ ts *testscript.TestScript }

// Cleanup is that of testing.TB.
func (s scriptCleanup) Cleanup(f func()) { s.ts.Defer(f) }

// proxied is what the proxy was asked to connect to, each once. It waits until these are among
// it, if any: proxied [HOST:PORT]….
func proxied(ts *testscript.TestScript, args []string) string {
	w := worldOf(ts)
	if w.tunnels == nil {
		ts.Fatalf("proxied comes after proxy")
	}
	for _, a := range args {
		if !eventually(patience, func() bool { return slices.Contains(w.tunnels.Asked(), a) }) {
			ts.Fatalf("the proxy was not asked for %s, but for %q", a, w.tunnels.Asked())
		}
	}
	asked := w.tunnels.Asked()
	slices.Sort(asked)
	return strings.Join(append(slices.Compact(asked), ""), "\n")
}
