package gateway_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
)

// Clients of Google's ADK speak 1.0 and ask under the name that 0.3 had.
const (
	adkURI      = "https://google.github.io/adk-docs/a2a/a2a-extension/"
	adkRegistry = `  - {uri: "` + adkURI + `", metadata: ["adk_*"]}
`
)

// Under whichever name a client asks, the agent is asked under that of its version,
// and the answer comes under the client's.
func TestExtensionAskedUnderEitherName(t *testing.T) {
	t.Parallel()
	f := newFair(t, stall{
		registry: adkRegistry, section: "allow: []", declared: []a2a.AgentExtension{{URI: adkURI}},
		act: marking(adkURI, "adk_app_name", "booking"),
	})
	for _, names := range [][]string{{ext.HeaderV03}, {ext.HeaderV10}, {ext.HeaderV03, ext.HeaderV10}} {
		header := http.Header{}
		for _, name := range names {
			header[name] = []string{"urn:nobody, " + adkURI}
		}
		t.Run(strings.Join(names, " and "), func(t *testing.T) {
			f.meet(t, nil, header, func(m *meeting) {
				answer := m.messageOf(m.send(utter("message", "", map[string]any{"adk_app_name": "desk"})))
				m.activatedUnder(names, adkURI)
				m.same("heard", word(answer), fmt.Sprint("desk", []string{}, []string{adkURI}))
				m.same("metadata", answer.Metadata, map[string]any{"adk_app_name": "booking", "other": "kept"})
			})
		})
	}
}

// A client that lacks what the agent requires is told so by its SDK before the agent
// hears of it, and one that has it, by whichever means of its SDK, gets through.
func TestExtensionRequiredByTheAgent(t *testing.T) {
	t.Parallel()
	const needed, other = "https://example.com/ext/needed/v1", "https://example.com/ext/needed/v2"
	f := newFair(t, stall{
		section: "verify: true", declared: []a2a.AgentExtension{{URI: needed, Required: true}},
		act: func(ec *a2asrv.ExecutorContext, requested []string) []a2a.Event {
			return []a2a.Event{reply(ec, strings.Join(requested, " "), "", nil)}
		},
	})
	request := func() *a2a.SendMessageRequest { return &a2a.SendMessageRequest{Message: utter("do", "", nil)} }
	lacking := func(m *meeting) {
		before := m.agent.Exec.Calls()
		_, err := m.client.SendMessage(m.Context(), request())
		m.extensionWanted(err, needed)
		for _, err := range m.client.SendStreamingMessage(m.Context(), request()) {
			m.extensionWanted(err, needed)
		}
		m.same("calls of the agent", m.agent.Exec.Calls(), before)
		m.activated()
	}
	f.meet(t, nil, nil, lacking)
	// Another version is another extension.
	f.meet(t, nil, http.Header{ext.HeaderV10: {other}}, lacking)
	f.meet(t, []string{needed, other}, nil, func(m *meeting) {
		if !m.listed(needed).Required {
			m.Errorf("not listed as required: %+v", m.card.Capabilities.Extensions)
		}
		answer := m.messageOf(m.send(utter("do", "", nil)))
		m.same("asked of the agent", word(answer), needed)
		m.activated(needed)
		m.same("events", len(m.events(utter("do", "", nil))), 1)
	})
	f.meet(t, nil, nil, func(m *meeting) {
		if m.sdk != gatewaytest.Go10 {
			return // has no such means
		}
		ctx := a2aclient.AttachServiceParams(m.Context(), a2aclient.ServiceParams{a2a.SvcParamExtensions: {other, needed}})
		result, err := m.client.SendMessage(ctx, request())
		if err != nil {
			m.Fatalf("send: %v", err)
		}
		m.same("asked of the agent", word(m.messageOf(result)), needed)
		m.activated(needed)
	})
}

// extensionWanted makes sure that an error is that of a required extension: in the
// SDK of 0.3, which has no such error, and over gRPC of 0.3, which has no place to say
// it, by the words.
func (m *meeting) extensionWanted(err error, uri string) {
	m.Helper()
	old := m.caller.Version != "1.0" && m.caller.Binding == a2a.TransportProtocolGRPC
	if m.sdk == gatewaytest.Go10 && !old {
		m.errs(err, a2a.ErrExtensionSupportRequired)
	}
	if err == nil || !strings.Contains(err.Error(), uri) {
		m.Errorf("error %v does not name %s", err, uri)
	}
}

// An operator who requires more than the agent does finds the same; and one who
// verifies is told when an agent takes no notice.
func TestExtensionRequiredByTheOperator(t *testing.T) {
	t.Parallel()
	const needed = "https://example.com/ext/needed/v1"
	f := newFair(t, stall{
		section: fmt.Sprintf("require: [%q], verify: true", needed), act: plainly,
	})
	f.meet(t, nil, nil, func(m *meeting) {
		m.same("required", m.listed(needed).Required, true)
		_, err := m.client.SendMessage(m.Context(), &a2a.SendMessageRequest{Message: utter("message", "", nil)})
		m.extensionWanted(err, needed)
	})
	f.meet(t, []string{needed}, nil, func(m *meeting) {
		_, err := m.client.SendMessage(m.Context(), &a2a.SendMessageRequest{Message: utter("message", "", nil)})
		if m.agent.Binding != a2a.TransportProtocolGRPC {
			m.errs(err, nil) // over HTTP these agents never say, and are taken at their card's word
			return
		}
		if err == nil || !strings.Contains(err.Error(), needed) && !strings.Contains(err.Error(), "502 Bad Gateway") {
			m.Errorf("error %v, want one of an agent that did not activate %s", err, needed)
		}
	})
}
