package upstream

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/a2a-gateway/a2a-gateway/internal/demo"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv/certtest"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream/credentials"
)

// net/http lets a connection it refused linger for half a second, by itself.
func TestMain(m *testing.M) {
	testenv.Overlap()
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait"))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newUpstream(t testing.TB, c Config) *Upstream {
	t.Helper()
	u, err := New(c, Options{})
	must(t, err)
	t.Cleanup(u.Close)
	return u
}

// send makes a request without the body's being replayable, as calls are.
func send(t testing.TB, u *Upstream, verb, url, body string) (*http.Response, string, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), verb, url, nil)
	must(t, err)
	if body != "" {
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	}
	resp, _, err := u.RoundTrip(r, Hint{})
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	return resp, string(text), err
}

func serve(t testing.TB, h http.HandlerFunc) *httptest.Server {
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

func TestRedirectsAreAnswers(t *testing.T) {
	t.Parallel()
	var hits atomic.Int64
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		hits.Add(1)
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
	})
	resp, _, err := send(t, newUpstream(t, Config{}), "POST", s.URL, "x")
	must(t, err)
	if resp.StatusCode != http.StatusTemporaryRedirect || hits.Load() != 1 {
		t.Errorf("%s after %d requests", resp.Status, hits.Load())
	}
}

// TestProxyVariables: the environment does not reroute calls to agents.
func TestProxyVariables(t *testing.T) {
	trap := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("a call went through the proxy") })
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"} {
		t.Setenv(name, trap.URL)
	}
	u := newUpstream(t, Config{Credentials: []credentials.Credential{{OAuth2: &credentials.OAuth2{TokenURL: "http://agent.invalid/token", ClientID: "a"}}}})
	if _, _, err := send(t, u, "POST", "http://agent.invalid/", "x"); err == nil {
		t.Error("an agent that does not exist answered")
	}
	if err := u.Authorize(t.Context(), http.Header{}, nil); err == nil {
		t.Error("a token endpoint that does not exist answered")
	}
}

// flaky takes connections, answers the first request on each, and then closes
// when the second has been read. It counts what it read.
func flaky(t *testing.T, requests *atomic.Int64) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	var all sync.WaitGroup
	t.Cleanup(func() { _ = l.Close(); all.Wait() })
	all.Go(func() {
		for first := true; ; first = false {
			c, err := l.Accept()
			if err != nil {
				return
			}
			answers := 2
			if first {
				answers = 1
			}
			all.Go(func() {
				defer func() { _ = c.Close() }()
				in := bufio.NewReader(c)
				for n := 0; ; n++ {
					r, err := http.ReadRequest(in)
					if err != nil {
						return
					}
					_, _ = io.Copy(io.Discard, r.Body)
					requests.Add(1)
					if n == answers {
						return
					}
					_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
				}
			})
		}
	})
	return "http://" + l.Addr().String()
}

// TestSentOnce: a call that the agent has read is not sent again, whatever became
// of the connection. Reads may be: net/http repeats a GET once on a new one.
func TestSentOnce(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		verb, body string
		want       int64
		fails      bool
	}{
		{"POST", "x", 2, true}, {"POST", "", 2, true}, {"DELETE", "", 2, true}, {"GET", "", 3, false},
	} {
		var requests atomic.Int64
		url := flaky(t, &requests)
		u := newUpstream(t, Config{})
		_, _, err := send(t, u, tt.verb, url, tt.body)
		must(t, err)
		_, _, err = send(t, u, tt.verb, url, tt.body)
		if (err != nil) != tt.fails || requests.Load() != tt.want {
			t.Errorf("%s %q: %v after %d requests, want %d", tt.verb, tt.body, err, requests.Load(), tt.want)
		}
	}
}

func TestConnectionLimit(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	arrived := make(chan struct{}, 10)
	s := serve(t, func(http.ResponseWriter, *http.Request) {
		arrived <- struct{}{}
		<-release
	})
	u := newUpstream(t, Config{Connections: 2})
	var calls sync.WaitGroup
	for range 2 {
		calls.Go(func() { _, _, _ = send(t, u, "POST", s.URL, "x") })
		<-arrived
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL, nil)
	must(t, err)
	if resp, _, err := u.RoundTrip(r, Hint{}); !errors.Is(err, ErrBusy) {
		t.Errorf("a third call: %v %v", resp, err)
	}
	close(release)
	calls.Wait()
	if len(arrived) != 0 {
		t.Error("the agent saw a third call")
	}
	// What has ended makes room, and closing twice makes it once.
	for range 3 {
		resp, _, err := u.RoundTrip(r.Clone(t.Context()), Hint{})
		must(t, err)
		must(t, resp.Body.Close())
		_ = resp.Body.Close()
	}
	if n := u.calls.Load(); n != 0 {
		t.Errorf("%d calls in flight after all have ended", n)
	}
}

// authority is a CA made for one test.
type authority struct {
	*certtest.Identity

	file string
}

func newAuthority(t *testing.T, name string) *authority {
	t.Helper()
	a := &authority{certtest.Authority(t, name), filepath.Join(t.TempDir(), name+".pem")}
	must(t, os.WriteFile(a.file, a.PEM(), 0o600))
	return a
}

func (a *authority) sign(t *testing.T, c x509.Certificate) *certtest.Identity {
	t.Helper()
	return certtest.Issue(t, c, a.Identity)
}

// files writes a certificate and its key.
func files(t *testing.T, i *certtest.Identity) (cert, key string) {
	t.Helper()
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	i.Write(t, cert, key)
	return cert, key
}

func TestTLS(t *testing.T) {
	t.Parallel()
	ca, other := newAuthority(t, "ca"), newAuthority(t, "other")
	client, key := files(t, ca.sign(t, x509.Certificate{
		Subject: pkix.Name{CommonName: "gateway"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}))
	server := ca.sign(t, x509.Certificate{
		DNSNames: []string{"agent.internal"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}).TLS()
	for _, h2 := range []bool{true, false} {
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = fmt.Fprintf(w, "%d %s", r.ProtoMajor, r.TLS.PeerCertificates[0].Subject.CommonName)
		}))
		s.TLS = &tls.Config{Certificates: []tls.Certificate{server}, ClientCAs: ca.Pool(), ClientAuth: tls.RequireAndVerifyClientCert}
		s.EnableHTTP2 = h2
		s.Config.ErrorLog = nil
		s.StartTLS()
		t.Cleanup(s.Close)
		whole := TLS{CA: ca.file, Certificate: client, Key: key, ServerName: "agent.internal"}
		tests := map[string]struct {
			edit func(*TLS)
			ok   bool
		}{
			"all":                   {func(*TLS) {}, true},
			"the system's roots":    {func(c *TLS) { c.CA = "" }, false},
			"another CA":            {func(c *TLS) { c.CA = other.file }, false},
			"another name":          {func(c *TLS) { c.ServerName = "other.internal" }, false},
			"the address as name":   {func(c *TLS) { c.ServerName = "" }, false},
			"no client certificate": {func(c *TLS) { c.Certificate, c.Key = "", "" }, false},
		}
		for name, tt := range tests {
			c := whole
			tt.edit(&c)
			_, text, err := send(t, newUpstream(t, Config{TLS: c}), "POST", s.URL, "x")
			want := map[bool]string{true: "2 gateway", false: "1 gateway"}[h2]
			if tt.ok != (err == nil && text == want) {
				t.Errorf("h2 %v, %s: %q, %v", h2, name, text, err)
			}
		}
	}
}

func TestConfigErrors(t *testing.T) {
	t.Parallel()
	empty := filepath.Join(t.TempDir(), "empty.pem")
	must(t, os.WriteFile(empty, []byte("# nothing\n"), 0o600))
	value := secret.New("x")
	for name, tt := range map[string]struct {
		c    Config
		want string
	}{
		"missing CA":     {Config{TLS: TLS{CA: "/none"}}, "tls.ca"},
		"empty CA":       {Config{TLS: TLS{CA: empty}}, "holds no certificate"},
		"half a pair":    {Config{TLS: TLS{Certificate: "x"}}, "go together"},
		"missing pair":   {Config{TLS: TLS{Certificate: "/none", Key: "/none"}}, "tls.certificate"},
		"no credential":  {Config{Credentials: []credentials.Credential{{}}}, "credentials[0]"},
		"two in one":     {Config{Credentials: []credentials.Credential{{Value: value, Passthrough: true}}}, "exactly one"},
		"half an OAuth2": {Config{Credentials: []credentials.Credential{{Value: value}, {OAuth2: &credentials.OAuth2{}}}}, "credentials[1].oauth2"},
	} {
		if _, err := New(tt.c, Options{}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTimeouts: an address that takes connections but does not shake hands is
// given up after the time for connecting.
func TestTimeouts(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer func() { _ = l.Close() }()
	u := newUpstream(t, Config{Connect: quantity.Duration(50 * time.Millisecond)})
	if _, _, err := send(t, u, "POST", "https://"+l.Addr().String(), "x"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("handshake: %v", err)
	}
	if got := u.Timeout("GetTask"); got != 5*time.Minute {
		t.Errorf("default answer timeout %v", got)
	}
	if got := newUpstream(t, Config{Answer: quantity.Duration(time.Second)}).Timeout(""); got != time.Second {
		t.Errorf("answer timeout %v", got)
	}
}

// TestTokensAreShared: however many calls need a token, it is asked for once.
func TestTokensAreShared(t *testing.T) {
	t.Parallel()
	issuer, err := demo.NewIssuer(demo.IssuerOptions{})
	must(t, err)
	defer func() { _ = issuer.Close(context.Background()) }()
	u := newUpstream(t, Config{Credentials: []credentials.Credential{{Header: "x-token", OAuth2: &credentials.OAuth2{
		TokenURL: secret.URL(issuer.URL + "/token"), ClientID: "alice", ClientSecret: secret.New("alice-secret"), Audience: "agent",
	}}}})
	var mu sync.Mutex
	tokens := map[string]bool{}
	var calls sync.WaitGroup
	for range 50 {
		calls.Go(func() {
			h := http.Header{}
			if err := u.Authorize(context.Background(), h, nil); err != nil {
				t.Error(err)
			}
			mu.Lock()
			tokens[h.Get("X-Token")] = true
			mu.Unlock()
		})
	}
	calls.Wait()
	if len(tokens) != 1 || tokens[""] {
		t.Errorf("%d tokens", len(tokens))
	}
}

// TestTokenEndpointAway: its failure is shared for a moment too, a caller does
// not wait longer than its own time, and nothing is told to another address.
func TestTokenEndpointAway(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	hold := make(chan struct{})
	elsewhere := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the secret went elsewhere") })
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		<-hold
		http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
	})
	u := newUpstream(t, Config{Credentials: []credentials.Credential{{OAuth2: &credentials.OAuth2{TokenURL: secret.URL(s.URL), ClientID: "a", ClientSecret: secret.New("b")}}}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := u.Authorize(ctx, http.Header{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that left: %v", err)
	}
	close(hold)
	for range 20 {
		if err := u.Authorize(t.Context(), http.Header{}, nil); err == nil {
			t.Error("a redirect gave a token")
		}
	}
	if n := asked.Load(); n > 2 { // oauth2 tries both ways to authenticate
		t.Errorf("asked %d times", n)
	}
}

// TestShortTokens: a token that ends at once is used once, and not waited for
// in a circle.
func TestShortTokens(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"access_token":"t%d","token_type":"Bearer","expires_in":1}`, asked.Add(1))
	})
	u := newUpstream(t, Config{Credentials: []credentials.Credential{{OAuth2: &credentials.OAuth2{TokenURL: secret.URL(s.URL), ClientID: "a"}}}})
	for i := range 3 {
		h := http.Header{}
		must(t, u.Authorize(t.Context(), h, nil))
		if got := h.Get("Authorization"); got != fmt.Sprintf("Bearer t%d", i+1) {
			t.Errorf("token %q", got)
		}
	}
}

func TestPassthrough(t *testing.T) {
	t.Parallel()
	u := newUpstream(t, Config{Credentials: []credentials.Credential{{Passthrough: true}, {Header: "x-user", Passthrough: true}}})
	out := http.Header{"X-User": {"gateway"}}
	must(t, u.Authorize(t.Context(), out, &credentials.Caller{Header: http.Header{"Authorization": {"a", "b"}, "Cookie": {"c"}}}))
	if len(out["Authorization"]) != 1 || out.Get("Authorization") != "a" || out["Cookie"] != nil {
		t.Errorf("%v", out)
	}
	if !u.Passes("Authorization") || !u.Passes("X-User") || u.Passes("Cookie") {
		t.Error("Passes is wrong")
	}
}

// TestCardClient follows redirects within the agent's origin only.
func TestCardClient(t *testing.T) {
	t.Parallel()
	other := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("another origin was asked") })
	var s *httptest.Server
	s = serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/out":
			http.Redirect(w, r, other.URL, http.StatusFound)
		case "/in":
			http.Redirect(w, r, s.URL+"/card", http.StatusFound)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		default:
			_, _ = io.WriteString(w, r.Header.Get("Authorization"))
		}
	})
	client := newUpstream(t, Config{Credentials: []credentials.Credential{{Value: secret.New("Bearer k")}}}).Client()
	for path, ok := range map[string]bool{"/card": true, "/in": true, "/out": false, "/loop": false} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+path, nil)
		must(t, err)
		resp, err := client.Do(r)
		if ok != (err == nil) {
			t.Errorf("%s: %v", path, err)
		}
		if err == nil {
			text, _ := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if string(text) != "Bearer k" {
				t.Errorf("%s: shown %q", path, text)
			}
		}
	}
}
