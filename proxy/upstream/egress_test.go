package upstream

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	transport "google.golang.org/grpc/credentials"

	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream/credentials"
)

// elsewhere is a proxy that connects to an address whatever it is asked for.
func elsewhere(t *testing.T, secured bool, address string) (*gatewaytest.Tunnels, tunnel.Config) {
	t.Helper()
	via := gatewaytest.NewTunnels(t)
	via.To = map[string]string{"*": address}
	if !secured {
		via.Start()
		return via, tunnel.Config{Proxy: secret.URL(via.URL)}
	}
	via.StartTLS()
	return via, tunnel.Config{Proxy: secret.URL(via.URL), CA: certificateOf(t, via.Server())}
}

func certificateOf(t *testing.T, s *httptest.Server) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "server.pem")
	must(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600))
	return path
}

// TestEgress: calls, streams, gRPC and card fetches go through a proxy, by a connection each
// that is used again, as they do without.
func TestEgress(t *testing.T) {
	t.Parallel()
	for _, scheme := range []string{"http", "https"} {
		for _, secured := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s by a proxy with TLS %v", scheme, secured), func(t *testing.T) {
				t.Parallel()
				testJSONThrough(t, scheme, secured)
				testGRPCThrough(t, scheme, secured)
			})
		}
	}
}

func testJSONThrough(t *testing.T, scheme string, secured bool) {
	t.Helper()
	more := make(chan struct{})
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/stream" {
			body, _ := io.ReadAll(r.Body)
			fmt.Fprintf(w, "%s %s %s", r.Method, r.Host, body)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: 1\n\n")
		w.(http.Flusher).Flush()
		<-more
		_, _ = io.WriteString(w, "data: 2\n\n")
	}))
	c := Config{}
	if scheme == "https" {
		s.StartTLS()
		c.TLS = TLS{CA: certificateOf(t, s), ServerName: "example.com"}
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	via, egress := elsewhere(t, secured, s.Listener.Addr().String())
	c.Egress = egress
	u, base := newUpstream(t, c), scheme+"://agent.example.com:8443"
	for range 3 {
		_, got, err := send(t, u, "POST", base, "hello")
		must(t, err)
		if got != "POST agent.example.com:8443 hello" {
			t.Errorf("the answer is %q", got)
		}
	}
	w, err := u.Client().Get(base + "/card") //nolint:noctx // a test
	must(t, err)
	_ = w.Body.Close()
	if asked := via.Asked(); !slices.Equal(asked, []string{"agent.example.com:8443"}) {
		t.Errorf("the proxy was asked for %q", asked)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/stream", nil)
	must(t, err)
	w, _, err = u.RoundTrip(r, Hint{})
	must(t, err)
	defer w.Body.Close()
	in := bufio.NewReader(w.Body)
	first, err := in.ReadString('\n')
	must(t, err)
	close(more)
	rest, err := io.ReadAll(in)
	must(t, err)
	if first != "data: 1\n" || string(rest) != "\ndata: 2\n\n" {
		t.Errorf("the stream is %q and %q", first, rest)
	}
}

func testGRPCThrough(t *testing.T, scheme string, secured bool) {
	t.Helper()
	c, options := Config{}, []grpc.ServerOption(nil)
	if scheme == "https" {
		certificate := httptest.NewUnstartedServer(http.NotFoundHandler())
		certificate.StartTLS()
		t.Cleanup(certificate.Close)
		c.TLS = TLS{CA: certificateOf(t, certificate), ServerName: "example.com"}
		options = append(options, grpc.Creds(transport.NewTLS(&tls.Config{
			Certificates: certificate.TLS.Certificates, MinVersion: tls.VersionTLS12,
		})))
	}
	_, address := grpcAgent(t, "127.0.0.1:0", echo, options...)
	via, egress := elsewhere(t, secured, address)
	c.Egress = egress
	u := newUpstream(t, c)
	for range 3 {
		resp, err := call(t.Context(), u, scheme+"://agent.example.com:50051/test.Echo/Unary", "hello")
		must(t, err)
		if messages, code := answered(t, resp); code != "0" || len(messages) == 0 {
			t.Errorf("the answer is %q, %s", messages, code)
		}
	}
	if asked := via.Asked(); !slices.Equal(asked, []string{"agent.example.com:50051"}) {
		t.Errorf("the proxy was asked for %q", asked)
	}
}

// TestEgressOfAnAgent: what an agent's section says takes the place of the general way, and
// tokens are fetched by the general one all the same.
func TestEgressOfAnAgent(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"access_token":"t","token_type":"Bearer","expires_in":3600}`)
	})
	general, way := elsewhere(t, false, s.Listener.Addr().String())
	own, ownWay := elsewhere(t, false, s.Listener.Addr().String())
	for name, tc := range map[string]struct {
		egress tunnel.Config
		url    string
		asked  []string
	}{
		"nothing said": {tunnel.Config{}, "http://agent.example.com:1", []string{"general agent.example.com:1", "general login.example.com:2"}},
		"its own":      {ownWay, "http://agent.example.com:1", []string{"own agent.example.com:1", "general login.example.com:2"}},
		"none":         {tunnel.Config{Proxy: tunnel.None}, s.URL, []string{"general login.example.com:2"}},
		"not for it": {
			tunnel.Config{Proxy: ownWay.Proxy, NoProxy: []string{"agent.invalid"}}, "http://agent.invalid:1",
			[]string{"general login.example.com:2"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := tunnel.New(way)
			must(t, err)
			before, ownBefore := len(general.Asked()), len(own.Asked())
			u, err := New(Config{
				Egress:      tc.egress,
				Credentials: []credentials.Credential{{OAuth2: &credentials.OAuth2{TokenURL: "http://login.example.com:2/token", ClientID: "a"}}},
			}, Options{Egress: p})
			must(t, err)
			t.Cleanup(u.Close)
			if _, _, err := send(t, u, "POST", tc.url, "x"); (err != nil) != strings.Contains(tc.url, "invalid") {
				t.Errorf("got %v", err)
			}
			must(t, u.Authorize(t.Context(), http.Header{}, nil))
			var asked []string
			for _, a := range own.Asked()[ownBefore:] {
				asked = append(asked, "own "+a)
			}
			for _, a := range general.Asked()[before:] {
				asked = append(asked, "general "+a)
			}
			if !slices.Equal(asked, tc.asked) {
				t.Errorf("asked for %q", asked)
			}
		})
	}
}

// TestL47_ProxyFails: what a proxy does wrong is an error that says so, after which nothing was
// sent. It is no instance's fault, unless the proxy says that it does not reach that.
func TestL47_ProxyFails(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		status int
		gone   bool
		own    bool
	}{
		"gone":        {gone: true, own: true},
		"credentials": {status: 407, own: true},
		"forbidden":   {status: 403, own: true},
		"unreached":   {status: 502},
		"too late":    {status: 504},
		"hangs":       {status: 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			via := gatewaytest.NewTunnels(t)
			via.Answer = func(string) int { return tc.status }
			via.Start()
			if tc.gone {
				via.Stop()
			}
			c := Config{
				Connect: duration(100 * time.Millisecond), Egress: tunnel.Config{Proxy: secret.URL("http://user:canary@" + via.Host)},
				Load: Load{
					Instances: []Instances{{Static: []string{"one.example.com:80", "two.example.com:80"}}},
					Ejection:  Ejection{Failures: 3, Most: 100}, Breaker: Breaker{Failures: 3},
				},
			}
			u := newUpstream(t, c)
			var err error
			for range 12 {
				if _, _, failed := offer(t.Context(), u, Hint{}); failed != nil && !kept(failed) {
					err = failed
				}
			}
			var e *tunnel.Error
			if !errors.As(err, &e) || e.Own() != tc.own || !NotSent(err) || strings.Contains(err.Error(), "canary") {
				t.Fatalf("got %v", err)
			}
			harmed := false
			for _, i := range u.fleet.set.Load().all {
				harmed = harmed || i.ejections.Load() > 0 || i.circuit.phase(time.Now().UnixNano()) != closed
			}
			if harmed == tc.own {
				t.Errorf("an instance is ejected, or its circuit open: %v", harmed)
			}
			if got := u.Trouble(); got != Unreachable {
				t.Errorf("the agent's trouble is %q", got)
			}
		})
	}
}

// TestChecksThroughAProxy: a check that the proxy's own failure ends changes nothing; that an
// instance is not reached does, and both are over when the proxy is back.
func TestChecksThroughAProxy(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for name, tc := range map[string]struct {
		status int
		down   bool
	}{
		"forbidden": {403, false},
		"unreached": {502, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			via, answer := gatewaytest.NewTunnels(t), make(chan int, 1)
			answer <- tc.status
			via.To = map[string]string{"*": p.address()}
			via.Answer = func(string) int {
				status := <-answer
				answer <- status
				return status
			}
			via.Start()
			i := watched(t, Config{Egress: tunnel.Config{Proxy: secret.URL(via.URL)}, Load: Load{
				Instances: []Instances{{Static: []string{"one.example.com:80"}}},
				Health:    Health{Interval: duration(5 * time.Millisecond), Healthy: 1, Unhealthy: 2},
			}})
			eventually(t, "it was not checked", func() bool { return len(via.Asked()) > 6 })
			if tc.down {
				eventually(t, "it is not seen to be down", i.down.Load)
			} else if i.down.Load() {
				t.Error("it counts as down")
			}
			<-answer
			answer <- http.StatusOK
			eventually(t, "it is not seen to be up", func() bool { return !i.down.Load() && p.calls.Load() > 0 })
		})
	}
}

// watched is the only instance of an agent, which is checked until the test ends.
func watched(t *testing.T, c Config) *instance {
	t.Helper()
	card, err := url.Parse("http://agent.invalid/card")
	must(t, err)
	u, err := New(c, Options{Card: card})
	must(t, err)
	ctx, stop := context.WithCancel(t.Context())
	var run sync.WaitGroup
	run.Go(func() { u.Run(ctx) })
	t.Cleanup(func() { stop(); run.Wait(); u.Close() })
	u.Wait(ctx)
	return u.fleet.set.Load().all[0]
}
