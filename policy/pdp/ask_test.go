//go:build !minimal

package pdp

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	auth "github.com/envoyproxy/go-control-plane/envoy/service/auth/v3"
	"google.golang.org/grpc/codes"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// TestConcerns: who is asked about what.
func TestConcerns(t *testing.T) {
	t.Parallel()
	call := func(change func(*Question)) *Question {
		q := newQuestion(t)
		change(q)
		return q
	}
	refund := call(func(*Question) {})
	several := call(func(q *Question) { q.Skill, q.Skills = "", []string{"refund", "invoice"} })
	none := call(func(q *Question) { q.Skill = "" })
	for name, test := range map[string]struct {
		a    Authorizer
		q    *Question
		want bool
	}{
		"everything":            {Authorizer{}, refund, true},
		"agent":                 {Authorizer{Agents: []string{"bill*"}}, refund, true},
		"other agent":           {Authorizer{Agents: []string{"weather"}}, refund, false},
		"skill":                 {Authorizer{Skills: []string{"invoice", "re*d"}}, refund, true},
		"other skill":           {Authorizer{Skills: []string{"invoice"}}, refund, false},
		"one of several":        {Authorizer{Skills: []string{"invoice"}}, several, true},
		"none of several":       {Authorizer{Skills: []string{"pay*"}}, several, false},
		"no skill, no skills":   {Authorizer{}, none, true},
		"no skill, one skill":   {Authorizer{Skills: []string{"refund"}}, none, false},
		"no skill, any":         {Authorizer{Skills: []string{"*"}}, none, true},
		"method":                {Authorizer{Methods: []string{"SendMessage"}}, refund, true},
		"method of 0.3":         {Authorizer{Methods: []string{"message/send"}}, refund, true},
		"method of 0.1":         {Authorizer{Methods: []string{"tasks/send"}}, refund, true},
		"other method":          {Authorizer{Methods: []string{"GetTask"}}, refund, false},
		"method of both skills": {Authorizer{Methods: []string{"SendMessage"}, Skills: []string{"x"}}, refund, false},
	} {
		p := newPoint(t, `{"decision": false}`)
		test.a.Name, test.a.Kind, test.a.URL = "pdp", kindAuthZEN, secret.URL(p.URL)
		panel := newPanel(t, test.a)
		_, err := ask(t, panel, test.q)
		if asked := len(p.questions()) == 1; asked != test.want || (err != nil) != test.want {
			t.Errorf("%s: asked %v, got %v", name, asked, err)
		}
		if told := panel.Explain(test.q); slices.Equal(told, []string{"pdp"}) != test.want {
			t.Errorf("%s: explained as %q", name, told)
		}
	}
}

func TestReads(t *testing.T) {
	t.Parallel()
	panel := newPanel(t,
		Authorizer{Name: "a", Kind: kindAuthZEN, URL: "http://127.0.0.1:1"},
		Authorizer{Name: "b", Kind: kindAuthZEN, URL: "http://127.0.0.1:1", Agents: []string{"billing"}, Message: true})
	if !panel.Reads("billing") || panel.Reads("weather") || new(Panel).Reads("billing") {
		t.Error("the wrong agents' messages are read")
	}
	if notes, err := new(Panel).Ask(t.Context(), newQuestion(t)); notes != nil || err != nil {
		t.Error("a panel of nobody says something")
	}
	new(Panel).Close()
}

// TestAllAsked: all are asked at the same time, and all have to allow it.
func TestAllAsked(t *testing.T) {
	t.Parallel()
	const n = 4
	var meeting sync.WaitGroup
	meeting.Add(n)
	together := func() bool { // answers wait for each other: one after another they would time out
		meeting.Done()
		met := make(chan struct{})
		go func() { meeting.Wait(); close(met) }()
		select {
		case <-met:
			return true
		case <-time.After(10 * time.Second):
			return false
		}
	}
	p := newPointFunc(t, func(w http.ResponseWriter, _ *http.Request) {
		if together() {
			say(w, `{"decision": true}`)
		}
	})
	s := newService(t, nil, func(context.Context, *auth.CheckRequest) (*auth.CheckResponse, error) {
		if !together() {
			return nil, errors.New("alone")
		}
		return code(codes.OK, ""), nil
	})
	var list []Authorizer
	for _, name := range []string{"a", "b", "c"} {
		list = append(list, Authorizer{Name: name, Kind: kindAuthZEN, URL: secret.URL(p.URL), Timeout: quantity.Duration(10 * time.Second)})
	}
	if notes, err := ask(t, newPanel(t, append(list, s.authorizer())...), newQuestion(t)); err != nil || notes != nil {
		t.Fatal(notes, err)
	}
}

// TestFirstRefusal ends the asking, however long the others would take; that nobody
// waited for them is not held against them.
func TestFirstRefusal(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{})
	left := make(chan struct{})
	slow := newPointFunc(t, func(_ http.ResponseWriter, r *http.Request) {
		close(asked)
		<-r.Context().Done()
		close(left)
	})
	no := newPointFunc(t, func(w http.ResponseWriter, _ *http.Request) {
		<-asked
		say(w, `{"decision": false, "context": {"reason": "because"}}`)
	})
	var s setup
	panel := s.panel(t,
		Authorizer{Name: "slow", Kind: kindAuthZEN, URL: secret.URL(slow.URL), OnFailure: failAllow, Timeout: quantity.Duration(10 * time.Second)},
		Authorizer{Name: "no", Kind: kindAuthZEN, URL: secret.URL(no.URL), Timeout: quantity.Duration(10 * time.Second)})
	notes, err := ask(t, panel, newQuestion(t))
	var refused *Refused
	if !errors.As(err, &refused) || refused.By != "no" || refused.Reason != "because" || notes != nil {
		t.Fatalf("got %q, %v", notes, err)
	}
	if got := refused.Error(); got != "refused by authorizer no: because" {
		t.Errorf("the error is %q", got)
	}
	<-left
	if s.tally.of("no deny") != 1 || s.tally.of("slow error") != 0 {
		t.Errorf("counted %v", s.tally.count)
	}
}

// TestModes: what becomes of answers and failures, and what the record is told.
func TestModes(t *testing.T) {
	t.Parallel()
	yes, no := newPoint(t, `{"decision": true}`), newPoint(t, `{"decision": false, "context": {"reason": "money"}}`)
	broken := newPointFunc(t, raw(500, "text/plain", ""))
	for name, test := range map[string]struct {
		at        *point
		mode      string
		onFailure string
		refused   bool
		note      string
	}{
		"yes":               {yes, "", "", false, ""},
		"no":                {no, modeEnforce, failAllow, true, ""},
		"failed":            {broken, "", "", true, ""},
		"failed, denied":    {broken, "", failDeny, true, ""},
		"failed, passed":    {broken, "", failAllow, false, "x: could not be asked: it answered with HTTP status 500; passed over"},
		"watched yes":       {yes, modeShadow, "", false, ""},
		"watched no":        {no, modeShadow, "", false, "x (shadow): refused: money"},
		"watched failure":   {broken, modeShadow, failDeny, false, "x (shadow): could not be asked: it answered with HTTP status 500"},
		"watched, passable": {broken, modeShadow, failAllow, false, "x (shadow): could not be asked: it answered with HTTP status 500"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := Authorizer{Name: "x", Kind: kindAuthZEN, URL: secret.URL(test.at.URL), Mode: test.mode, OnFailure: test.onFailure}
			first := Authorizer{Name: "first", Kind: kindAuthZEN, URL: secret.URL(no.URL), Mode: modeShadow}
			for _, list := range [][]Authorizer{{x}, {first, x}} {
				notes, err := ask(t, newPanel(t, list...), newQuestion(t))
				if (err != nil) != test.refused {
					t.Errorf("got %v", err)
				}
				got := strings.Join(notes, "|")
				want := test.note
				if len(list) == 2 && !test.refused {
					want = strings.TrimSuffix("first (shadow): refused: money|"+want, "|")
				}
				if got != want && !test.refused {
					t.Errorf("noted %q, want %q", got, want)
				}
			}
		})
	}
}

// TestSlow: a question ends with its timeout, or with its call.
func TestSlow(t *testing.T) {
	t.Parallel()
	p := newPointFunc(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	s := newService(t, nil, func(ctx context.Context, _ *auth.CheckRequest) (*auth.CheckResponse, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	for _, a := range []Authorizer{{Name: "a", Kind: kindAuthZEN, URL: secret.URL(p.URL)}, s.authorizer()} {
		a.OnFailure, a.Timeout = failAllow, quantity.Duration(50*time.Millisecond)
		notes, err := ask(t, newPanel(t, a), newQuestion(t))
		if err != nil || len(notes) != 1 {
			t.Errorf("%s: got %q, %v", a.Kind, notes, err)
		}
		for _, cache := range []time.Duration{0, time.Second} {
			a.Timeout, a.Cache = quantity.Duration(10*time.Second), quantity.Duration(cache)
			var set setup
			panel := set.panel(t, a)
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			notes, err := panel.Ask(ctx, newQuestion(t))
			cancel()
			var refused *Refused
			if !errors.As(err, &refused) || !errors.Is(err, context.DeadlineExceeded) || notes != nil {
				t.Errorf("%s: a call that is over got %q, %v", a.Kind, notes, err)
			}
			if n := set.tally.of(a.Name + " error"); n != 0 {
				t.Errorf("%s: %d errors were counted", a.Kind, n)
			}
		}
	}
}

// TestClose ends questions that are being asked.
func TestClose(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 2)
	p := newPointFunc(t, func(_ http.ResponseWriter, r *http.Request) { asked <- struct{}{}; <-r.Context().Done() })
	s := newService(t, nil, func(ctx context.Context, _ *auth.CheckRequest) (*auth.CheckResponse, error) {
		asked <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	})
	for _, a := range []Authorizer{{Name: "a", Kind: kindAuthZEN, URL: secret.URL(p.URL)}, s.authorizer()} {
		for _, cache := range []time.Duration{0, time.Second} {
			a.OnFailure = failAllow // which is not for this
			a.Timeout, a.Cache = quantity.Duration(10*time.Second), quantity.Duration(cache)
			panel := newPanel(t, a)
			done := make(chan error, 1)
			go func() {
				_, err := panel.Ask(t.Context(), newQuestion(t))
				done <- err
			}()
			<-asked
			panel.Close()
			if err := <-done; err == nil {
				t.Errorf("%s: a closed panel allows", a.Kind)
			}
		}
	}
}
