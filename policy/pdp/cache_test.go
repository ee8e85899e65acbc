package pdp

import (
	"fmt"
	"net/http"
	"net/netip"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// changes are questions that differ from newQuestion's in one thing that is told.
func changes() map[string]func(*Question) {
	who := func(change func(*authn.Principal)) func(*Question) {
		return func(q *Question) { p := *q.Principal; change(&p); q.Principal = &p }
	}
	what := func(change func(*wire.Message)) func(*Question) {
		return func(q *Question) { m := *q.Message; change(&m); q.Message = &m }
	}
	other := []string{"other"}
	return map[string]func(*Question){
		"subject":   who(func(p *authn.Principal) { p.Subject = "bob" }),
		"issuer":    who(func(p *authn.Principal) { p.Issuer = "https://b.example" }),
		"client":    who(func(p *authn.Principal) { p.Client = "" }),
		"tenant":    who(func(p *authn.Principal) { p.Tenant = "b" }),
		"groups":    who(func(p *authn.Principal) { p.Groups = other }),
		"scopes":    who(func(p *authn.Principal) { p.Scopes = nil }),
		"method":    who(func(p *authn.Principal) { p.Method = "mtls" }),
		"proof":     who(func(p *authn.Principal) { p.Proof = "dpop" }),
		"actors":    who(func(p *authn.Principal) { p.Actors = nil }),
		"acr":       who(func(p *authn.Principal) { p.ACR = "pwd" }),
		"amr":       who(func(p *authn.Principal) { p.AMR = other }),
		"auth time": who(func(p *authn.Principal) { p.AuthTime = p.AuthTime.Add(time.Second) }),
		"owner":     who(func(p *authn.Principal) { p.Owner = "team" }),
		"workload":  who(func(p *authn.Principal) { p.Workload = nil }),
		"claim":     who(func(p *authn.Principal) { p.Claims = map[string]any{"department": "b", "level": 3.0} }),
		"agent":     func(q *Question) { q.Agent = "weather" },
		"skill":     func(q *Question) { q.Skill = "invoice" },
		"skills":    func(q *Question) { q.Skill, q.Skills = "", []string{"refund", "invoice"} },
		"no skill":  func(q *Question) { q.Skill = "" },
		"operation": func(q *Question) { q.Method = &wire.Methods()[2] },
		"binding":   func(q *Question) { q.Binding = wire.GRPC },
		"version":   func(q *Question) { q.Version = wire.V03 },
		"task":      func(q *Question) { q.TaskID, q.ContextID = q.ContextID, q.TaskID },
		"context":   func(q *Question) { q.ContextID = "" },
		"extension": func(q *Question) { q.Extensions = other },
		"source":    func(q *Question) { q.Source = netip.MustParseAddr("::1") },
		"host":      func(q *Question) { q.Host = "b.example" },
		"path":      func(q *Question) { q.Path += "/" },
		"verb":      func(q *Question) { q.Verb = "GET" },
		"message":   func(q *Question) { q.Message = nil },
		"role":      what(func(m *wire.Message) { m.Role = "" }),
		"parts":     what(func(m *wire.Message) { m.Parts = m.Parts[:1] }),
		"metadata":  what(func(m *wire.Message) { m.Metadata = nil }),
		"of call":   what(func(m *wire.Message) { m.CallMetadata = nil }),
		"size": what(func(m *wire.Message) {
			m.Parts = slices.Clone(m.Parts)
			m.Parts[0].Bytes++
		}),
	}
}

// same are differences that are not told.
func same() map[string]func(*Question) {
	return map[string]func(*Question){
		"time":    func(q *Question) { q.Now = q.Now.Add(time.Hour) },
		"id":      func(q *Question) { q.RequestID = "req-2" },
		"nothing": func(*Question) {},
		"text":    func(q *Question) { m := *q.Message; m.ID = "m-2"; q.Message = &m },
		"key":     func(q *Question) { p := *q.Principal; p.KeyID = "kid-8"; q.Principal = &p },
	}
}

// TestCache: an answer serves the same question again, and no other one.
func TestCache(t *testing.T) {
	t.Parallel()
	p := newPoint(t, `{"decision": true}`)
	var s setup
	panel := s.panel(t, Authorizer{
		Name: "pdp", Kind: kindAuthZEN, URL: secret.URL(p.URL), Message: true, Claims: []string{"department"},
		Cache: quantity.Duration(time.Minute), Timeout: quantity.Duration(10 * time.Second),
	})
	put := func(name string, change func(*Question), fresh int) {
		t.Helper()
		before := len(p.questions())
		q := newQuestion(t)
		change(q)
		if _, err := ask(t, panel, q); err != nil {
			t.Fatal(err)
		}
		if n := len(p.questions()) - before; n != fresh {
			t.Errorf("%s: the service was asked %d times, want %d", name, n, fresh)
		}
	}
	put("the first", func(*Question) {}, 1)
	for name, change := range same() {
		put(name, change, 0)
	}
	for name, change := range changes() {
		put(name, change, 1)
		put(name+", again", change, 0)
	}
	if got, want := s.tally.of("pdp cached"), len(same())+len(changes()); got != want {
		t.Errorf("%d answers were counted as remembered, want %d", got, want)
	}
	if got, want := s.tally.of("pdp allow"), 1+len(changes()); got != want {
		t.Errorf("%d answers were counted as fresh, want %d", got, want)
	}
}

// TestChangesAreAll makes sure that no field of a question is forgotten above.
func TestChangesAreAll(t *testing.T) {
	t.Parallel()
	var covered []string
	note := func(of, changed any) {
		a, b := reflect.ValueOf(of), reflect.ValueOf(changed)
		for i := range a.NumField() {
			if a.Type().Field(i).IsExported() && !reflect.DeepEqual(a.Field(i).Interface(), b.Field(i).Interface()) {
				covered = append(covered, a.Type().Name()+"."+a.Type().Field(i).Name)
			}
		}
	}
	for _, list := range []map[string]func(*Question){changes(), same()} {
		for _, change := range list {
			q := newQuestion(t)
			change(q)
			note(*newQuestion(t), *q)
			note(*newQuestion(t).Principal, *q.Principal)
			if q.Message != nil {
				note(*newQuestion(t).Message, *q.Message)
			}
		}
	}
	untold := []string{ // nothing of these is sent
		"Principal.Agents", "Principal.Expires", "Principal.Carrier",
		"Message.TaskID", "Message.ContextID", "Message.Extensions", "Message.ReferenceTaskIDs", "Message.OutputModes",
	}
	for _, v := range []any{Question{}, authn.Principal{}, wire.Message{}} {
		for i := range reflect.TypeOf(v).NumField() {
			f := reflect.TypeOf(v).Field(i)
			name := reflect.TypeOf(v).Name() + "." + f.Name
			if f.IsExported() && !slices.Contains(covered, name) && !slices.Contains(untold, name) {
				t.Errorf("no test changes %s", name)
			}
		}
	}
}

// TestCacheOnlyAnswers: failures are asked about again, refusals are not.
func TestCacheOnlyAnswers(t *testing.T) {
	t.Parallel()
	p := newPointFunc(t, raw(500, "text/plain", ""))
	a := Authorizer{Name: "pdp", Kind: kindAuthZEN, URL: secret.URL(p.URL), Cache: quantity.Duration(time.Minute), Timeout: quantity.Duration(10 * time.Second)}
	panel := newPanel(t, a)
	for range 2 {
		if _, err := ask(t, panel, newQuestion(t)); err == nil {
			t.Fatal("a failure allows")
		}
	}
	p.become("", func(w http.ResponseWriter, _ *http.Request) {
		say(w, `{"decision": false, "context": {"reason": "no"}}`)
	})
	for range 2 {
		if _, err := ask(t, panel, newQuestion(t)); err == nil || err.Error() != "refused by authorizer pdp: no" {
			t.Fatal(err)
		}
	}
	if n := len(p.questions()); n != 3 {
		t.Errorf("the service was asked %d times", n)
	}
}

// TestCacheTime: an answer holds for as long as is configured, and there is room for so
// many.
func TestCacheTime(t *testing.T) {
	t.Parallel()
	start := time.Now()
	c := newCache(time.Minute)
	c.put(cacheKey{1}, verdict{allow: true}, start)
	if v, ok := c.get(cacheKey{1}, start.Add(time.Minute-1)); !ok || !v.allow {
		t.Error("forgotten too early")
	}
	if _, ok := c.get(cacheKey{1}, start.Add(time.Minute)); ok {
		t.Error("remembered for too long")
	}
	c.put(cacheKey{1}, verdict{reason: "b"}, start.Add(time.Minute))
	if v, ok := c.get(cacheKey{1}, start.Add(time.Minute)); !ok || v.allow {
		t.Error("the new answer is not there")
	}
	for i := range 3*maxVerdicts + 7 {
		c.put(cacheKey{2, byte(i), byte(i >> 8), byte(i >> 16)}, verdict{}, start)
		if len(c.known) > maxVerdicts || len(c.order) > maxVerdicts {
			t.Fatalf("%d answers are remembered", len(c.known))
		}
	}
	const last = 3*maxVerdicts + 6
	if _, ok := c.get(cacheKey{2, byte(last & 0xff), byte(last >> 8 & 0xff), byte(last >> 16)}, start); !ok || len(c.known) != maxVerdicts {
		t.Error("the newest is not there")
	}
}

// TestOneFlight: whoever asks the same at the same moment waits for one answer, and only
// where answers are remembered; others are not kept waiting.
func TestOneFlight(t *testing.T) {
	t.Parallel()
	for _, cache := range []time.Duration{0, time.Minute} {
		t.Run(fmt.Sprint(cache), func(t *testing.T) {
			t.Parallel()
			const n = 8
			arrived, release := make(chan struct{}, n), make(chan struct{})
			p := newPointFunc(t, func(w http.ResponseWriter, _ *http.Request) {
				arrived <- struct{}{}
				<-release
				say(w, `{"decision": true}`)
			})
			var s setup
			panel := s.panel(t, Authorizer{
				Name: "pdp", Kind: kindAuthZEN, URL: secret.URL(p.URL), Cache: quantity.Duration(cache), Timeout: quantity.Duration(10 * time.Second),
			})
			var all sync.WaitGroup
			for range n {
				all.Go(func() {
					if _, err := ask(t, panel, newQuestion(t)); err != nil {
						t.Error(err)
					}
				})
			}
			<-arrived
			if cache == 0 {
				for range n - 1 {
					<-arrived // each by itself, while none has been answered
				}
			}
			close(release)
			all.Wait()
			fresh := map[bool]int{true: n, false: 1}[cache == 0]
			if got := len(p.questions()); got != fresh || s.tally.of("pdp allow") != fresh || s.tally.of("pdp cached") != n-fresh {
				t.Errorf("asked %d times, counted %v", got, s.tally.count)
			}
		})
	}
}
