package upstream

import (
	"context"
	"errors"
	"net"
	"net/http"
	"testing"
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
	}
	ok, broken, lost := call{status: 200}, call{status: 500}, call{err: dial}
	reset, kept := call{err: errors.New("connection reset")}, call{err: &Unavailable{}}
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
				resp = answer(c.status)
			}
			u.trouble.note(r, resp, c.err)
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
	for range fewest {
		u.trouble.note((&http.Request{}).WithContext(t.Context()), answer(500), nil)
	}
	if u.Looked(true); u.Trouble() != Failing {
		t.Error("a look ends what only a call can")
	}
}
