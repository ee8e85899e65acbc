package gateway_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/console/trials"
)

// front is a server that leads what begins with /a2a to a gateway, by the host that its
// clients ask for.
type front struct {
	*httptest.Server
	to atomic.Pointer[url.URL]
}

func newFront(t *testing.T, strips bool) *front {
	t.Helper()
	f := &front{}
	forward := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(f.to.Load())
		r.Out.Host = r.In.Host
	}}
	mux := http.NewServeMux()
	if strips {
		mux.Handle("/a2a/", http.StripPrefix("/a2a", forward))
	} else {
		mux.Handle("/a2a/", forward)
	}
	f.Server = httptest.NewServer(mux)
	t.Cleanup(f.Close)
	return f
}

// TestL46_ProofBelowAPath: a proof of possession is for the address that the client asked for,
// whatever something in front has made of it, and for no other spelling of it.
func TestL46_ProofBelowAPath(t *testing.T) {
	t.Parallel()
	for here, strips := range map[string][]bool{"": {false, true}, "basePath: /\n": {true}, "basePath: /a2a\n": {false}} {
		for _, strips := range strips {
			t.Run(fmt.Sprintf("%s strips %v", here, strips), func(t *testing.T) {
				t.Parallel()
				w, agent, f := newWorld(t), greeter(t), newFront(t, strips)
				host := strings.TrimPrefix(f.URL, "http://")
				g := w.start(w.authn("failures: {perMinute: -1}",
					here+fmt.Sprintf("publicURL: \"http://127.0.0.1/a2a\"\nhosts: [%q]", host),
					openPolicy+fmt.Sprintf("agents: [{id: a, card: %q}]\n", agent.CardURL)))
				at, err := url.Parse(g.URL())
				if err != nil {
					t.Fatal(err)
				}
				at.Path = ""
				f.to.Store(at)
				w.prove(f.URL, newHolder(t, w))
			})
		}
	}
}

// prove makes calls below a path, with proofs for their own address and for others.
func (w *world) prove(front string, h *holder) {
	w.t.Helper()
	const below = "/agents/a"
	for htu, want := range map[string]int{
		"":                             200, // of the request
		front + "/a2a" + below + "?q":  200,
		front + below:                  401,
		front + "/a2a/a2a" + below:     401,
		front + "/a2a" + below + "/":   401,
		"http://127.0.0.1/a2a" + below: 401,
		strings.Replace(front, "http:", "https:", 1) + "/a2a" + below: 401,
	} {
		h.target = htu
		status, body, err := try(&http.Client{Transport: h}, http.MethodPost, front+"/a2a"+below, sendHeader(nil), sendBody("SendMessage", "1"))
		if err != nil || status != want {
			w.t.Errorf("a proof for %q: %d %s %v, want %d", htu, status, body, err, want)
		}
	}
}

// TestTryBelowAPath: a call from the console is made at the listener by the path that it has
// there, and shown for a shell as clients make it.
func TestTryBelowAPath(t *testing.T) {
	t.Parallel()
	for here, path := range map[string]string{"": "/a2a", "basePath: /\n": "", "basePath: /a2a\n": "/a2a", "basePath: /in\n": "/in"} {
		t.Run(here, func(t *testing.T) {
			t.Parallel()
			s := newWorkshop(t, here+`publicURL: "http://127.0.0.1/a2a"`, openPolicy)
			a := trials.Attempt{Agent: "modern", Version: "1.0", Method: "SendMessage", Bearer: bearer(s.token("alice"))}
			for binding, below := range map[string]string{"JSONRPC": "/", "HTTP+JSON": "/message:send"} {
				a.Binding, a.Params = binding, fmt.Appendf(nil, trialText10, "hello")
				got := s.try(&a)
				if got.Status != http.StatusOK || !strings.HasPrefix(got.Sent, "POST "+path+"/agents/modern"+below+" HTTP/1.1\r\n") {
					t.Errorf("%s: %d after %s", binding, got.Status, got.Sent)
				}
				_, after, _ := strings.Cut(got.Command, " 'http://127.0.0.1:")
				if _, target, _ := strings.Cut(after, "/"); !strings.HasPrefix(target, "a2a/agents/modern"+below+"' ") {
					t.Errorf("%s: shown as %s", binding, got.Command)
				}
			}
		})
	}
}
