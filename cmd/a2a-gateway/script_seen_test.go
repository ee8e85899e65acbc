package main

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// arrival is one request as it came in.
type arrival struct {
	method, target, rpc string
	header              http.Header
	body                []byte
	cancelled           bool
}

// cmdSeen prints what a backend has got since the last time it was asked:
// seen NAME [-header] [-body]. Nothing at all is the line "nothing".
// With -cancelled it waits until the backend's open call has been given up, with -for METHOD
// until there is a call of the method.
func cmdSeen(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	w := worldOf(ts)
	b := w.backends[args[0]]
	if b == nil {
		ts.Fatalf("seen: no backend %q", args[0])
	}
	if slices.Contains(args, "-cancelled") && !eventually(patience, b.cancelled) {
		ts.Fatalf("the call to %s goes on", args[0])
	}
	if i := slices.Index(args, "-for"); i > 0 && !eventually(patience, func() bool { return b.called(args[i+1]) }) {
		ts.Fatalf("%s is not called %s", args[0], args[i+1])
	}
	b.mu.Lock()
	all := b.seen
	b.seen = nil
	b.mu.Unlock()
	var out bytes.Buffer
	if len(all) == 0 {
		out.WriteString("nothing\n")
	}
	for _, a := range all {
		a.print(&out, slices.Contains(args, "-header"), slices.Contains(args, "-body"))
	}
	_, _ = io.WriteString(ts.Stdout(), w.steady(out.String()))
}

func (b *backend) cancelled() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.seen) > 0 && b.seen[len(b.seen)-1].cancelled
}

func (b *backend) called(method string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.ContainsFunc(b.seen, func(a arrival) bool { return a.rpc == method })
}

func (a arrival) print(out *bytes.Buffer, header, body bool) {
	line := strings.Join([]string{a.method, a.target, a.rpc}, " ")
	if a.cancelled {
		line += " (cancelled)"
	}
	_, _ = fmt.Fprintln(out, strings.TrimSpace(line))
	if header {
		for _, name := range slices.Sorted(maps.Keys(a.header)) {
			for _, v := range a.header[name] {
				if name == "Traceparent" {
					v = "<trace>"
				}
				_, _ = fmt.Fprintf(out, "  %s: %s\n", name, v)
			}
		}
	}
	if body && len(a.body) > 0 {
		_, _ = fmt.Fprintf(out, "  %s\n", a.body)
	}
}
