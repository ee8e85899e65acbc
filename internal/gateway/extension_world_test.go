package gateway_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	diff "github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/authn/apikey"
	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/gateway"
	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
)

// fair is a gateway in front of an agent of every flavour, which all do the same.
type fair struct {
	world  *world
	g      *gateway.Gateway
	agents []*gatewaytest.Agent
	keys   map[string]http.Header // by caller's flavour and agent
}

// stall is what the agents of a fair have to do with extensions.
type stall struct {
	registry string               // the list, in YAML
	section  string               // of every agent, in YAML, one line
	declared []a2a.AgentExtension // in their cards
	act      gatewaytest.Act
}

// extensible is a flavour of every side that knows of extensions, with the SDK of 0.3
// where it has the side.
func extensible() []gatewaytest.Flavour {
	return slices.DeleteFunc(gatewaytest.AllFlavours(), func(f gatewaytest.Flavour) bool {
		return f.Version == "0.1" || f.Name == "compat03-jsonrpc" || f.Name == "compat03-grpc"
	})
}

func newFair(t *testing.T, s stall) *fair {
	t.Helper()
	f := &fair{world: newWorld(t), keys: map[string]http.Header{}}
	keys, err := apikey.Open(filepath.Join(f.world.dir, "keys.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var agents strings.Builder
	for _, flavour := range extensible() {
		a := gatewaytest.StartWith(t, flavour, s.declared, s.act)
		f.agents = append(f.agents, a)
		// The Go SDKs' agents say what they activate over gRPC alone.
		activation := "declared"
		if a.Binding == a2a.TransportProtocolGRPC {
			activation = "echo"
		}
		fmt.Fprintf(&agents, "  - {id: %q, card: %s, endpoints: [%s], extensions: {activation: %s, %s}}\n",
			a.ID, everyBinding(a.CardURL), strings.Join(a.Endpoints, ", "), activation, s.section)
		for _, caller := range extensible() {
			id := caller.Name + "." + a.ID
			_, key, err := keys.Create(apikey.Spec{
				ID: id, Subject: caller.Name, Groups: []string{"all"}, Agents: []string{a.ID},
			})
			if err != nil {
				t.Fatal(err)
			}
			f.keys[id] = http.Header{"X-Api-Key": {key}}
		}
	}
	registry := ""
	if s.registry != "" {
		registry = "extensions:\n" + s.registry
	}
	f.g = f.world.start(f.world.yaml(plain, everyAgent+registry+"agents:\n"+agents.String()))
	return f
}

// meeting is one client with one agent.
type meeting struct {
	*testing.T
	caller gatewaytest.Flavour
	sdk    gatewaytest.SDK
	agent  *gatewaytest.Agent
	hc     *http.Client
	card   *a2a.AgentCard
	client gatewaytest.Client
}

// meet has a client of every flavour and SDK talk to every agent, or to a sample of them. It activates
// extensions by its SDK's means, and sends the headers beside its key.
func (f *fair) meet(t *testing.T, extensions []string, header http.Header, talk func(*meeting)) {
	t.Helper()
	for i, caller := range extensible() {
		for _, sdk := range caller.SDKs() {
			for j, a := range f.agents {
				if !gatewaytest.Sampled(i, j) {
					continue
				}
				t.Run(caller.Name+" "+string(sdk)+" to "+a.ID, func(t *testing.T) {
					m := &meeting{T: t, caller: caller, sdk: sdk, agent: a}
					all := maps.Clone(f.keys[caller.Name+"."+a.ID])
					maps.Copy(all, header)
					m.hc = gatewaytest.HTTPClient(t, all, nil)
					m.client, m.card = gatewaytest.Dial(t, sdk, m.hc, f.g.URL()+"/agents/"+a.ID,
						caller.Version, caller.Binding, extensions...)
					talk(m)
				})
			}
		}
	}
}

// send sends a message that must be answered.
func (m *meeting) send(message *a2a.Message) a2a.SendMessageResult {
	m.Helper()
	ctx, cancel := context.WithTimeout(m.Context(), patience)
	defer cancel()
	result, err := gatewaytest.Send(ctx, m.client, m.hc, &a2a.SendMessageRequest{Message: message})
	if err != nil {
		m.Fatalf("send: %v", err)
	}
	return result
}

// events sends a message and reads the stream to its end.
func (m *meeting) events(message *a2a.Message) []a2a.Event {
	m.Helper()
	var all []a2a.Event
	for e, err := range m.client.SendStreamingMessage(m.Context(), &a2a.SendMessageRequest{Message: message}) {
		if err != nil {
			m.Fatalf("stream: %v", err)
		}
		all = append(all, e)
	}
	return all
}

// streamAgain is events for a task that has been put aside: until the agent's SDK has
// done so, it refuses to continue.
func (m *meeting) streamAgain(message *a2a.Message) []a2a.Event {
	m.Helper()
	for {
		var all []a2a.Event
		var err error
		for e, failed := range m.client.SendStreamingMessage(m.Context(), &a2a.SendMessageRequest{Message: message}) {
			if err = failed; err != nil {
				break
			}
			all = append(all, e)
		}
		switch {
		case err == nil:
			return all
		case !gatewaytest.InProgress(err, m.hc):
			m.Fatalf("stream: %v", err)
		}
		runtime.Gosched()
	}
}

// same compares by value.
func (m *meeting) same(what string, got, want any) {
	m.Helper()
	if d := diff.Diff(want, got); d != "" {
		m.Errorf("%s (-want +got):\n%s", what, d)
	}
}

// errs makes sure that an error is the one that is wanted, as errors.Is tells.
func (m *meeting) errs(err, want error) {
	m.Helper()
	if !errors.Is(err, want) {
		m.Errorf("error %v (%T), want %v", err, err, want)
	}
}

// activated makes sure that the last answer says that these are active, under the
// name that the client's version has for it, and nothing else.
func (m *meeting) activated(uris ...string) {
	m.Helper()
	name := ext.HeaderV10
	if m.caller.Version != "1.0" {
		name = ext.HeaderV03
	}
	m.activatedUnder([]string{name}, uris...)
}

func (m *meeting) activatedUnder(names []string, uris ...string) {
	m.Helper()
	want := map[string][]string{}
	for _, name := range names {
		if len(uris) > 0 {
			want[name] = uris
		}
	}
	m.same("active by the answer", gatewaytest.Activated(m.hc), want)
}

// listed is what the served card says of an extension.
func (m *meeting) listed(uri string) a2a.AgentExtension {
	m.Helper()
	for _, e := range m.card.Capabilities.Extensions {
		if e.URI == uri {
			return e
		}
	}
	m.Errorf("the served card does not list %s", uri)
	return a2a.AgentExtension{}
}

// utter is a caller's message with metadata of an extension.
func utter(text, uri string, metadata map[string]any) *a2a.Message {
	m := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(text))
	m.Metadata = metadata
	if uri != "" {
		m.Extensions = []string{uri}
	}
	return m
}

// reply is an agent's message with metadata of an extension.
func reply(ec *a2asrv.ExecutorContext, text, uri string, metadata map[string]any) *a2a.Message {
	m := utter(text, uri, metadata)
	m.Role, m.ContextID = a2a.MessageRoleAgent, ec.ContextID
	return m
}

// messageOf is the message of a result, or of a task's status.
func (m *meeting) messageOf(result a2a.SendMessageResult) *a2a.Message {
	m.Helper()
	switch r := result.(type) {
	case *a2a.Message:
		return r
	case *a2a.Task:
		if r.Status.Message != nil {
			return r.Status.Message
		}
	}
	m.Fatalf("no message in %+v", result)
	return nil
}

// word is the first text of a message.
func word(m *a2a.Message) string { return cmp.Or(m.Parts[0].Text(), "(none)") }
