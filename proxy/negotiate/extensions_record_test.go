package negotiate_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// TestExtensionRecord: the audit record and the metrics say what became of each
// extension, and what was wrong.
func TestExtensionRecord(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), evilWorld, func(s *proxytest.Setup) {
		s.Extensions = append(s.Extensions, ext.Entry{URI: focus}, ext.Entry{URI: timestamp})
		s.Agent.Extensions.Provide = []string{timestamp}
	})
	w.BecomeCard(evilCard(proxytest.RPC10))
	w.Agent.Answers((&evil{state: "completed"}).answer)
	asked := []string{bystander, focus, timestamp, denied, blocked, "urn:unknown"}
	a := proxytest.Ask{
		Method: wire.SendMessage, Header: []string{"A2A-Extensions: " + strings.Join(asked, ",")},
		InMessage: `,"metadata":{"secret":1}`,
	}
	w.Speak("tied", w.Base, proxytest.RPC10, a).OK(t, "send")
	last := w.Audited("call")[0]
	for key, want := range map[string]string{
		"extensions_requested": strings.Join(asked, ","),
		"extensions_activated": bystander + "," + timestamp, // focus was sent, and not activated
		"extensions_injected":  injected,
		"extensions_provided":  timestamp,
		"extensions_refused":   denied + "," + blocked,
	} {
		if got := proxytest.JoinedText(last[key]); got != want {
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
	if intent := w.Audited("intent")[0]; proxytest.JoinedText(intent["extensions_requested"]) != strings.Join(asked, ",") ||
		proxytest.JoinedText(intent["extensions_injected"]) != injected {
		t.Errorf("intended %v", intent)
	}
	counted := w.Measured("extensions_negotiated_total")
	for labels, want := range map[string]string{
		`result="activated",uri="` + bystander + `"`: "1", `result="inactive",uri="` + focus + `"`: "1",
		`result="provided",uri="` + timestamp + `"`: "1", `result="injected",uri="` + injected + `"`: "1",
		`result="refused",uri="` + blocked + `"`: "1", `result="refused",uri="other"`: "1", `result="inactive",uri="other"`: "1",
	} {
		if counted[labels] != want {
			t.Errorf("%s is %q, want %q of %v", labels, counted[labels], want, counted)
		}
	}
	wrong := w.Measured("extension_violations_total")
	if wrong[`enforced="true",fault="unrequested",uri="`+registered+`"`] == "" {
		t.Errorf("violations: %v", wrong)
	}

	w.Call("tied", wire.SendMessage, proxytest.Message(`,"extensions":7`)) // is nothing that anybody has to look at
	w.BecomeCard(proxytest.CardDeclaring(proxytest.CardFor(proxytest.RPC10), `{"uri":"`+focus+`","required":true}`))
	w.Call("tied", wire.SendMessage, proxytest.Message(""))
	records := w.Audited("call")
	if r := records[len(records)-1]; r["decision"] != "deny" || r["reason"] != "EXTENSION_SUPPORT_REQUIRED" {
		t.Errorf("recorded as %v", r)
	}
}
