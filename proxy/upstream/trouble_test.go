package upstream

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"
)

func TestTrouble(t *testing.T) {
	t.Parallel()
	answer := func(status int) *http.Response { return &http.Response{StatusCode: status, Header: http.Header{}} }
	dial := &net.OpError{Op: "dial", Err: errors.New("refused")}
	gone, leave := context.WithCancel(t.Context())
	leave()
	type call struct {
		status int // 0 for none
		err    error
		gone   bool // the caller left
		who    uint64
		grpc   string // code of gRPC
	}
	ok, broken, lost := call{status: 200}, call{status: 500}, call{err: dial}
	reset, kept := call{err: errors.New("connection reset")}, call{err: &Unavailable{}}
	mallory, bob, hers, his := broken, ok, broken, lost
	mallory.who, bob.who, hers.who, his.who = 1, 2, 2, 2
	none, internal := call{status: 200, grpc: "12"}, call{status: 200, grpc: "13"}
	for name, tt := range map[string]struct {
		calls []call
		want  Trouble
	}{
		"none":                         {nil, ""},
		"well":                         {[]call{ok, ok}, ""},
		"an error of A2A":              {[]call{{status: 404}, {status: 400}, {status: 429}}, ""},
		"no connection":                {[]call{ok, lost}, Unreachable},
		"a connection again":           {[]call{lost, ok}, ""},
		"one that fails":               {[]call{ok, broken, broken}, ""},
		"each one fails":               {[]call{ok, broken, broken, broken}, Failing},
		"each in its way":              {[]call{reset, {status: 503}, broken}, Failing},
		"failures between successes":   {[]call{broken, broken, ok, broken, broken}, ""},
		"callers who leave":            {[]call{{gone: true, err: dial}, {gone: true, err: dial}, {gone: true, err: dial}}, ""},
		"what the circuit keeps away":  {[]call{lost, kept, kept}, Unreachable},
		"a method it does not have":    {[]call{{status: 501}, {status: 501}, {status: 501}}, ""},
		"the same of gRPC":             {[]call{none, none, none}, ""},
		"INTERNAL of gRPC":             {[]call{internal, internal, internal}, Failing},
		"one caller's, beside others":  {[]call{bob, mallory, mallory, mallory, mallory}, ""},
		"several callers'":             {[]call{bob, mallory, hers, mallory}, Failing},
		"no connection for one":        {[]call{bob, mallory, his}, Unreachable},
		"a connection, but no success": {[]call{lost, lost, broken}, Failing},
	} {
		var u Upstream
		for _, c := range tt.calls {
			r := (&http.Request{}).WithContext(t.Context())
			if c.gone {
				r = r.WithContext(gone)
			}
			var resp *http.Response
			if c.err == nil {
				if resp = answer(c.status); c.grpc != "" {
					resp.Header["Grpc-Status"] = []string{c.grpc}
				}
			}
			u.trouble.note(r, c.who, resp, c.err)
		}
		if got := u.Trouble(); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
	var u Upstream
	if u.Looked(false); u.Trouble() != Unreachable {
		t.Error("what nobody finds is not unreachable")
	}
	if u.Looked(true); u.Trouble() != "" {
		t.Error("what somebody finds is unreachable")
	}
	several := Upstream{fleet: &fleet{}}
	for range fewest {
		if got := several.Trouble(); got != "" {
			t.Errorf("one of several instances cannot be reached: %q", got)
		}
		several.trouble.note((&http.Request{}).WithContext(t.Context()), 1, nil, dial)
	}
	if several.Trouble() != Unreachable {
		t.Error("no call has a connection, and they are reachable")
	}
	for range fewest {
		u.trouble.note((&http.Request{}).WithContext(t.Context()), 1, answer(500), nil)
	}
	if u.Looked(true); u.Trouble() != Failing {
		t.Error("a look ends what only a call can")
	}
}

// TestChecksFindInstancesAgain: that no instance can be reached ends with a check that goes
// well, and not only with the next call.
func TestChecksFindInstancesAgain(t *testing.T) {
	t.Parallel()
	card, err := url.Parse("http://agent.invalid/.well-known/agent-card.json")
	must(t, err)
	c := among(places(t, 2), func(l *Load) { l.Health.Interval = duration(5 * time.Millisecond) })
	u, err := New(c, Options{Card: card})
	must(t, err)
	t.Cleanup(u.Close)
	for range fewest {
		r := (&http.Request{}).WithContext(t.Context())
		u.trouble.note(r, 1, nil, &net.OpError{Op: "dial", Err: errors.New("refused")})
	}
	if u.Trouble() != Unreachable {
		t.Fatal("no call had a connection, and they are reachable")
	}
	ctx, stop := context.WithCancel(t.Context())
	var run sync.WaitGroup
	run.Go(func() { u.Run(ctx) })
	defer run.Wait()
	defer stop()
	eventually(t, "they are not found", func() bool { return u.Trouble() == "" })
}
