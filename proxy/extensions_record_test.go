package proxy_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// measured is the metrics of a name as they are served, by their labels.
func (w *world) measured(name string) map[string]string {
	w.Helper()
	rw := &responseBuffer{header: http.Header{}}
	r, err := http.NewRequestWithContext(w.as("alice"), http.MethodGet, "/metrics", nil)
	must(w, err)
	promhttp.HandlerFor(w.tel.Registry, promhttp.HandlerOpts{}).ServeHTTP(rw, r)
	all := map[string]string{}
	for line := range strings.Lines(rw.text.String()) {
		if rest, ok := strings.CutPrefix(line, "a2a_gateway_"+name+"{"); ok {
			labels, value, _ := strings.Cut(strings.TrimSpace(rest), "} ")
			all[labels] = value
		}
	}
	return all
}

// TestExtensionRecord: the audit record and the metrics say what became of each
// extension, and what was wrong.
func TestExtensionRecord(t *testing.T) {
	t.Parallel()
	w := in(t, speaks(rpc10), evilWorld, func(s *setup) {
		s.extensions = append(s.extensions, ext.Entry{URI: focus}, ext.Entry{URI: timestamp})
		s.agent.Extensions.Provide = []string{timestamp}
	})
	w.becomes(evilCard(rpc10))
	w.agent.answers((&evil{state: "completed"}).answer)
	asked := []string{bystander, focus, timestamp, denied, blocked, "urn:unknown"}
	a := ask{
		method: wire.SendMessage, header: []string{"A2A-Extensions: " + strings.Join(asked, ",")},
		inMessage: `,"metadata":{"secret":1}`,
	}
	w.speak("tied", w.base, rpc10, a).ok(t, "send")
	last := w.audited("call")[0]
	for key, want := range map[string]string{
		"extensions_requested": strings.Join(asked, ","),
		"extensions_activated": bystander + "," + timestamp, // focus was sent, and not activated
		"extensions_injected":  injected,
		"extensions_provided":  timestamp,
		"extensions_refused":   denied + "," + blocked,
	} {
		if got := joined(last[key]); got != want {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
	violations, _ := last["violations"].([]any)
	first, _ := violations[0].(map[string]any)
	want := map[string]any{
		"extension": registered, "fault": "unrequested", "pointer": "/params/message/metadata/secret",
		"text": "metadata of an extension that is not active here", "enforced": true, // it was taken out
	}
	if fmt.Sprint(first) != fmt.Sprint(want) || len(violations) != 16 {
		t.Errorf("%d violations, the first %v, want %v", len(violations), first, want)
	}
	if intent := w.audited("intent")[0]; joined(intent["extensions_requested"]) != strings.Join(asked, ",") ||
		joined(intent["extensions_injected"]) != injected {
		t.Errorf("intended %v", intent)
	}
	counted := w.measured("extensions_negotiated_total")
	for labels, want := range map[string]string{
		`result="activated",uri="` + bystander + `"`: "1", `result="inactive",uri="` + focus + `"`: "1",
		`result="provided",uri="` + timestamp + `"`: "1", `result="injected",uri="` + injected + `"`: "1",
		`result="refused",uri="` + blocked + `"`: "1", `result="refused",uri="other"`: "1", `result="inactive",uri="other"`: "1",
	} {
		if counted[labels] != want {
			t.Errorf("%s is %q, want %q of %v", labels, counted[labels], want, counted)
		}
	}
	wrong := w.measured("extension_violations_total")
	if wrong[`enforced="true",fault="unrequested",uri="`+registered+`"`] == "" {
		t.Errorf("violations: %v", wrong)
	}

	w.call("tied", wire.SendMessage, message(`,"extensions":7`)) // is nothing that anybody has to look at
	w.becomes(declares(speaks(rpc10), `{"uri":"`+focus+`","required":true}`))
	w.call("tied", wire.SendMessage, message(""))
	records := w.audited("call")
	if r := records[len(records)-1]; r["decision"] != "deny" || r["reason"] != "EXTENSION_SUPPORT_REQUIRED" {
		t.Errorf("recorded as %v", r)
	}
}
