package expr

import (
	"errors"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

var noon = time.Date(2026, 11, 18, 12, 0, 0, 0, time.UTC)

// call is one in which every variable has something in it.
func call() *Vars {
	return &Vars{
		Principal: func() *Principal {
			return &Principal{
				Subject: "alice", Issuer: "https://idp.example", Client: "app", Tenant: "acme",
				Groups: []string{"analysts", "staff"}, Scopes: []string{"billing.read"}, Method: "oidc", KeyID: "k1",
				Owner: "team-a", Proof: "dpop", ACR: "gold", AMR: []string{"pwd", "otp"},
				AuthTime: noon.Add(-time.Minute), Expires: noon.Add(time.Hour),
				Actors: []Actor{{"bot", "https://idp.example"}},
				Claims: map[string]any{
					"level": 3.0, "mail": "alice@example.com", "verified": true,
					"address": map[string]any{"country": "AT"}, "roles": []any{"admin", "dev"},
				},
				Workload: &Principal{Subject: "spiffe://example/app", Issuer: "mtls", Method: "mtls"},
			}
		},
		Agent: "billing", Skill: "invoices", Method: wire.SendMessage, Binding: "HTTP+JSON", Version: "1.0",
		Message: &wire.Message{
			ID: "m1", TaskID: "t1", ContextID: "c1", Role: "ROLE_USER",
			Parts: []wire.Part{
				{Kind: wire.PartText, Text: "Pay invoice 42, please", Bytes: 22, Metadata: map[string]any{"lang": "en"}},
				{Kind: wire.PartFile, URL: "https://files.example/a.png", Name: "a.png", MediaType: "image/png"},
				{Kind: wire.PartData, Data: map[string]any{"amount": 120.5, "tags": []any{"urgent"}}, Bytes: 34},
			},
			Metadata: map[string]any{"draft": false, "priority": 2.0}, CallMetadata: map[string]any{"origin": "portal"},
			Extensions: []string{"urn:x"}, ReferenceTaskIDs: []string{"t0"}, OutputModes: []string{"text/plain"},
		},
		Extensions: []string{"urn:x"},
		Task: &Task{
			ID: "t1", ContextID: "c1", Skill: "invoices", Owner: "alice", Issuer: "https://idp.example", Tenant: "acme",
			Created: noon.Add(-24 * time.Hour),
		},
		Source: netip.MustParseAddr("::ffff:10.1.2.3"), Now: noon,
	}
}

func environment(t testing.TB) *Env {
	t.Helper()
	env, err := New()
	if err != nil {
		t.Fatal(err)
	}
	return env
}

func program(t testing.TB, env *Env, text string) *Program {
	t.Helper()
	p, problems := env.Compile(text)
	if problems != nil {
		t.Fatalf("%s: %q", text, problems)
	}
	return p
}

// holding is true of call, one for every variable, field and type.
var holding = []string{
	`principal.subject == "alice" && principal.issuer == "https://idp.example" && principal.client == "app"`,
	`principal.tenant == "acme" && "staff" in principal.groups && "billing.read" in principal.scopes`,
	`principal.method == "oidc" && principal.keyID == "k1" && principal.owner == "team-a" && principal.proof == "dpop"`,
	`principal.acr == "gold" && principal.amr == ["pwd", "otp"]`,
	`now - principal.authTime <= duration("60s") && principal.expires > now`,
	`principal.actors.all(a, a.subject == "bot" && a.issuer == principal.issuer)`,
	`principal.claims.level == 3 && principal.claims.level > 2.5 && principal.claims.verified == true`,
	`principal.claims.address.country == "AT" && "dev" in principal.claims.roles`,
	`has(principal.claims.mail) && !has(principal.claims.phone)`,
	`has(principal.workload) && principal.workload.subject == "spiffe://example/app"`,
	`!has(principal.workload.workload) && principal.workload.workload.subject == ""`,
	`agent == "billing" && skill == "invoices" && method == "SendMessage"`,
	`binding == "HTTP+JSON" && version == "1.0"`,
	`message.id == "m1" && message.taskId == "t1" && message.contextId == "c1" && message.role == "ROLE_USER"`,
	`size(message.parts) == 3 && message.parts[0].kind == "text" && message.parts[0].text.startsWith("Pay")`,
	`message.parts[0].bytes == 22 && message.parts[0].metadata.lang == "en"`,
	`message.parts[1].url.endsWith(".png") && message.parts[1].name == "a.png" && message.parts[1].mediaType == "image/png"`,
	`message.parts[2].data.amount > 100 && "urgent" in message.parts[2].data.tags`,
	`message.metadata.draft == false && message.metadata.priority == 2 && message.callMetadata.origin == "portal"`,
	`message.extensions == ["urn:x"] && message.referenceTaskIds == ["t0"] && message.outputModes == ["text/plain"]`,
	`extensions.exists(e, e == "urn:x")`,
	`task.id == "t1" && task.contextId == "c1" && task.skill == "invoices" && task.owner == principal.subject`,
	`task.issuer == principal.issuer && task.tenant == principal.tenant && now - task.created == duration("24h")`,
	`source.ip == "10.1.2.3" && cidr("10.0.0.0/8").containsIP(source.ip) && source.address.family() == 4`,
	`cidr("10.0.0.0/8").containsIP(source.address) && !cidr("192.168.0.0/16").containsIP(source.address)`,
	`now == timestamp("2026-11-18T12:00:00Z") && now.getDayOfWeek() == 3 && now.getHours("+01:00") == 13 && now.getHours("UTC") == 12`,
	`message.parts.exists(p, p.text.lowerAscii().contains("invoice"))`,
	`!message.parts.exists(p, p.text.matches("IBAN [A-Z]{2}"))`,
	`message.parts.exists_one(p, p.kind == "file") && message.parts.filter(p, p.kind == "data").size() == 1`,
	`message.parts.map(p, p.bytes) == [22, 0, 34] && principal.subject.substring(0, 3) == "ali"`,
	`principal.claims.mail.split("@")[1] == "example.com" && "%s/%s".format([agent, skill]) == "billing/invoices"`,
	`string(message.metadata.priority) == "2" && int(message.metadata.priority) == 2`,
}

func TestEvaluate(t *testing.T) {
	t.Parallel()
	env := environment(t)
	for _, text := range holding {
		if got, err := program(t, env, text).Evaluate(call()); !got || err != nil {
			t.Errorf("%s: %v, %v; want true", text, got, err)
		}
		if got, err := program(t, env, "!("+text+")").Evaluate(call()); got || err != nil {
			t.Errorf("not %s: %v, %v; want false", text, got, err)
		}
	}
}

// A call that brings and names nothing leaves everything empty, and nothing fails.
func TestEvaluateNothing(t *testing.T) {
	t.Parallel()
	env := environment(t)
	for _, text := range []string{
		`principal.subject == "" && principal.groups == [] && size(principal.claims) == 0 && !has(principal.workload)`,
		`agent == "" && skill == "" && method == "" && binding == "" && version == ""`,
		`size(message.parts) == 0 && message.id == "" && message.role == "" && !("draft" in message.metadata)`,
		`!has(message.metadata.draft) && message.parts.all(p, p.kind == "text") && message.outputModes == []`,
		`size(extensions) == 0 && task.id == "" && task.owner == "" && task.skill == ""`,
		`!has(task.created) && task.created == timestamp(0) && !has(principal.authTime)`,
		`source.ip == "" && !cidr("0.0.0.0/0").containsIP(source.address) && !cidr("::/0").containsIP(source.address)`,
	} {
		if got, err := program(t, env, text).Evaluate(&Vars{}); !got || err != nil {
			t.Errorf("%s: %v, %v; want true", text, got, err)
		}
	}
}

// What is not looked at is not asked for.
func TestEvaluateIsLazy(t *testing.T) {
	t.Parallel()
	env := environment(t)
	asked := 0
	v := call()
	who := v.Principal
	v.Principal = func() *Principal { asked++; return who() }
	for _, text := range []string{`agent == "billing"`, `size(message.parts) == 3`} {
		if got, err := program(t, env, text).Evaluate(v); !got || err != nil || asked != 0 {
			t.Errorf("%s: %v, %v, and the principal was asked for %d times", text, got, err, asked)
		}
	}
	for range 3 {
		if got, err := program(t, env, `principal.subject == "alice" && principal.method == "oidc"`).Evaluate(v); !got || err != nil {
			t.Error(got, err)
		}
	}
	if asked != 1 {
		t.Errorf("the principal was asked for %d times, want once", asked)
	}
}

func TestReads(t *testing.T) {
	t.Parallel()
	env := environment(t)
	for text, want := range map[string]bool{
		`principal.subject == "a"`:                       false,
		`size(message.parts) > 0`:                        true,
		`agent == "a" || message.role == "b"`:            true,
		`extensions.exists(e, e in .message.extensions)`: true,
		`task.id == "message"`:                           false,
		`principal.claims.message == 1`:                  false,
	} {
		p := program(t, env, text)
		if p.Reads() != want {
			t.Errorf("%s: Reads %v", text, p.Reads())
		}
		v := call()
		v.Message, v.Unread = nil, true
		_, err := p.Evaluate(v)
		if fault := new(fault); errors.As(err, &fault) && fault.reason == unread != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// faults are reasons by expressions that have them.
var faults = map[string]string{
	`message.metadata[message.metadata.secret] == 1`:                                "a key is missing",
	`principal.claims.phone == "1"`:                                                 "a key is missing",
	`message.parts[7].text == ""`:                                                   "an index is out of range",
	`message.metadata.secret > 3`:                                                   "a value has another type than is needed",
	`message.metadata.secret.draft == true`:                                         "a key is missing",
	`message.metadata.secret.all(c, c == "x")`:                                      "a value has another type than is needed",
	`int(message.metadata.secret) == 1`:                                             "a value cannot be converted",
	`timestamp(string(message.metadata.secret)) == now`:                             "a value cannot be converted",
	`ip(string(message.metadata.secret)) == ip("::1")`:                              other,
	`message.parts[0].bytes / size(source.ip.split("x")[0].substring(8)) == 1`:      "division by zero",
	`principal.subject.substring(9) == ""`:                                          "an index is out of range",
	`message.metadata.priority * 1 == 1`:                                            "a value has another type than is needed",
	`message.parts[0].bytes * 9223372036854775807 == 1`:                             "a number is out of range",
	`"x".charAt(int(message.metadata.priority)) == "x"`:                             "an index is out of range",
	`timestamp("9999-12-31T23:59:59Z") + duration("10s") > now && message.id != ""`: "a time is out of range",
	`"%d".format([message.metadata.secret]) == ""`:                                  other,
}

var faulty = slices.Sorted(maps.Keys(faults))

// TestFaults: an expression that cannot be evaluated says so, and nothing of the call.
func TestFaults(t *testing.T) {
	t.Parallel()
	env := environment(t)
	v := call()
	v.Message.Metadata["secret"] = "hunter2"
	for text, want := range faults {
		got, err := program(t, env, text).Evaluate(v)
		if got || err == nil {
			t.Errorf("%s: %v, want a fault", text, got)
			continue
		}
		if diff := cmp.Diff(want, err.Error()); diff != "" {
			_, _, raw := program(t, env, text).prog.Eval(v)
			t.Errorf("%s: %s\n%v", text, diff, raw)
		}
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s tells of the message: %v", text, err)
		}
	}
}

func TestConstant(t *testing.T) {
	t.Parallel()
	env := environment(t)
	for text, want := range map[string]struct{ value, known bool }{
		`true`:                             {true, true},
		`1 > 2`:                            {false, true},
		`principal.subject == "a" || true`: {true, true},
		`false && message.id == ""`:        {false, true},
		`[1, 2, 3].exists(x, x > 3)`:       {false, true},
		`cidr("10.0.0.0/8").containsIP("10.0.0.1")`: {true, true},
		`principal.subject == "a"`:                  {},
		`has(principal.claims.x)`:                   {},
		`extensions.exists(e, true)`:                {},
	} {
		value, known := program(t, env, text).Constant()
		if value != want.value || known != want.known {
			t.Errorf("%s: %v, %v", text, value, known)
		}
	}
}

// One program serves any number of calls at once.
func TestEvaluateAtOnce(t *testing.T) {
	t.Parallel()
	p := program(t, environment(t), `message.parts.exists(p, p.text.contains("invoice")) && principal.subject == "alice"`)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				if got, err := p.Evaluate(call()); !got || err != nil {
					t.Error(got, err)
				}
			}
		})
	}
	wg.Wait()
}
