package telemetry

import (
	"sync"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/telemetry/metrics"
)

// TestExtensionsAreCounted has every result and every fault once, and what is in no
// closed set.
func TestExtensionsAreCounted(t *testing.T) {
	t.Parallel()
	const a, b, evil = "https://ext.example/a", "https://ext.example/b", "https://evil.example"
	tel := labelled(t)
	tel.Record(&Exchange{
		Arrival:     Arrival{Start: start},
		Negotiation: Negotiation{ExtensionsRequested: []string{a, b, evil}, ExtensionsActivated: []string{a}, ExtensionsRefused: []string{b}},
	})
	tel.Record(&Exchange{
		Arrival:     Arrival{Start: start},
		Negotiation: Negotiation{ExtensionsRequested: []string{a}, ExtensionsProvided: []string{a}, ExtensionsInjected: []string{b, b}},
	})
	e := &Exchange{
		Arrival:     Arrival{Start: start},
		Negotiation: Negotiation{Violations: []Violation{{Fault: "conformance", More: 2}, {Extension: evil, Fault: evil, Enforced: true}}},
	}
	faults := []string{"unrequested", "undeclared", "schema", "transition", "conformance", "not_activated", "hook", "modes"}
	for _, fault := range faults {
		e.Violations = append(e.Violations, Violation{Extension: a, Fault: fault, Enforced: true}, Violation{Extension: a, Fault: fault})
	}
	tel.Record(e)
	tel.Record(e)
	negotiated := func(uri, result string, want float64) {
		t.Helper()
		if got := metric(t, tel, "a2a_gateway_extensions_negotiated_total", labels{"uri": uri, "result": result}); got != want {
			t.Errorf("negotiated %s %s: %v, want %v", uri, result, got, want)
		}
	}
	negotiated(a, "activated", 1)
	negotiated(a, "provided", 1)
	negotiated(a, "inactive", 0)
	negotiated(b, "refused", 1)
	negotiated(b, "inactive", 0)
	negotiated(b, "injected", 2)
	negotiated("other", "inactive", 1)
	violated := func(uri, fault, enforced string, want float64) {
		t.Helper()
		if got := metric(t, tel, "a2a_gateway_extension_violations_total",
			labels{"uri": uri, "fault": fault, "enforced": enforced}); got != want {
			t.Errorf("violations %s %s %s: %v, want %v", uri, fault, enforced, got, want)
		}
	}
	violated("none", "conformance", "false", 6)
	violated("other", "other", "true", 2)
	for _, fault := range faults {
		violated(a, fault, "true", 2)
		violated(a, fault, "false", 2)
	}
}

// TestMethodsOfExtensions: their names become values of the method label, survive a
// reload that keeps them whatever their order, and go with one that does not.
func TestMethodsOfExtensions(t *testing.T) {
	t.Parallel()
	tel := labelled(t)
	call := func(method string) {
		tel.Record(&Exchange{
			Arrival: Arrival{Start: start},
			Call:    Call{Agent: "billing", Method: method, Binding: "JSONRPC"},
			Answer:  Answer{Status: 200},
		})
	}
	want := func(when, method string, want float64) {
		t.Helper()
		if got := metric(t, tel, "a2a_gateway_requests_total",
			labels{"agent": "billing", "method": method, "binding": "JSONRPC", "code": "OK"}); got != want {
			t.Errorf("%s: %v calls of %s, want %v", when, got, method, want)
		}
	}
	set := func(methods ...string) {
		tel.Metrics.SetLabels(metrics.Labels{Agents: []string{"billing"}, Methods: methods})
	}
	for _, m := range []string{"tasks/search", "tasks/annotate", "tasks/annotate", "tasks/secret", "SendMessage"} {
		call(m)
	}
	want("at first", "tasks/search", 1)
	want("at first", "tasks/annotate", 2)
	want("at first", "other", 1)
	set("a/first", "tasks/annotate", "tasks/search", "SendMessage", "other", "none", "")
	call("tasks/search")
	call("a/first")
	want("after a reload", "tasks/search", 2)
	want("after a reload", "tasks/annotate", 2)
	want("after a reload", "a/first", 1)
	set("a/first")
	want("when it is gone", "tasks/search", 0)
	want("when it is gone", "other", 1)
	want("when it is gone", "SendMessage", 1)
	call("tasks/search")
	call("a/first")
	want("when it is gone", "other", 2)
	want("when it is gone", "a/first", 2)
	set("tasks/search")
	call("tasks/search")
	want("when it is back", "tasks/search", 1)
	if got := tel.Metrics.Method("a/first"); got != "other" {
		t.Errorf("a span would be named %q", got)
	}
}

// TestReloadsBesideCalls reloads while calls are counted, for the race detector; of
// what stays nothing is lost.
func TestReloadsBesideCalls(t *testing.T) {
	t.Parallel()
	tel := labelled(t)
	var writers sync.WaitGroup
	for range 4 {
		writers.Go(func() {
			for range 200 {
				tel.Record(&Exchange{
					Arrival: Arrival{Start: start},
					Call:    Call{Agent: "billing", Method: "tasks/search", Binding: "JSONRPC"},
					Answer:  Answer{Status: 200},
				})
				tel.Record(&Exchange{
					Arrival: Arrival{Start: start},
					Call:    Call{Agent: "billing", Method: "tasks/annotate", Binding: "JSONRPC"},
					Answer:  Answer{Status: 200},
				})
			}
		})
	}
	for i := range 100 {
		methods := []string{"tasks/annotate", "tasks/search"}
		tel.Metrics.SetLabels(metrics.Labels{Agents: []string{"billing"}, Methods: methods[i%2:]})
	}
	writers.Wait()
	if got := metric(t, tel, "a2a_gateway_requests_total",
		labels{"agent": "billing", "method": "tasks/search", "binding": "JSONRPC", "code": "OK"}); got != 800 {
		t.Errorf("%v calls were counted, want 800", got)
	}
}
