package egress_test

import (
	"bytes"
	"context"
	"encoding/pem"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/egress"
	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
)

func TestSendCarriesWhatItIsGiven(t *testing.T) {
	t.Parallel()
	got := make(chan *http.Request, 1)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body bytes.Buffer
		_, _ = body.ReadFrom(r.Body)
		r.Header.Set("Body", body.String())
		got <- r
		w.Header().Set("Retry-After", "3")
		w.WriteHeader(http.StatusAccepted)
		_, _ = w.Write([]byte("thanks"))
	}))
	defer s.Close()
	c := newClient(t, egress.Options{AllowPrivate: true, Plaintext: true})
	header := http.Header{"X-One": {"1"}, "Content-Type": {"application/json"}}
	a, err := c.Send(t.Context(), http.MethodPost, s.URL+"/in?k=v", header, []byte(`{}`))
	if err != nil || a.Status != 202 || a.Header.Get("Retry-After") != "3" || string(a.Body) != "thanks" {
		t.Fatalf("answer %v, %v", a, err)
	}
	r := <-got
	if r.Header.Get("X-One") != "1" || r.Header.Get("Body") != "{}" || r.URL.RawQuery != "k=v" || r.ContentLength != 2 {
		t.Errorf("the target got %v %v", r.URL, r.Header)
	}
	if len(r.Header.Values("Cookie")) != 0 || r.Header.Get("Accept-Encoding") != "" {
		t.Errorf("headers of nobody's: %v", r.Header)
	}
	if len(header) != 2 {
		t.Errorf("the header was changed: %v", header)
	}
}

// TestL41_NoProxyOfTheEnvironment: a proxy would resolve and dial unchecked.
func TestL41_NoProxyOfTheEnvironment(t *testing.T) {
	proxy, target := listen(t), listen(t)
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"} {
		t.Setenv(name, "http://127.0.0.1:"+proxy.port)
	}
	r := gatewaytest.DNS(t, func(string, int) []netip.Addr { return []netip.Addr{home} })
	c := newClient(t, egress.Options{AllowPrivate: true, Plaintext: true, Resolver: r})
	if _, err := c.Send(t.Context(), http.MethodPost, "http://hooks.example.com:"+target.port+"/", nil, nil); err != nil {
		t.Fatal(err)
	}
	if proxy.conns.Load() != 0 || target.conns.Load() != 1 {
		t.Errorf("%d connections to the proxy, %d to the target", proxy.conns.Load(), target.conns.Load())
	}
}

// TestL41_AnswersAreBounded: 64 KiB of an endless body are read, and one that drips is
// left when time is up, with the status that it had.
func TestL41_AnswersAreBounded(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		chunk := bytes.Repeat([]byte("x"), 1<<10)
		for r.Context().Err() == nil {
			if r.URL.Path == "/drips" {
				chunk = chunk[:1]
				<-time.After(10 * time.Millisecond)
			}
			if _, err := w.Write(chunk); err != nil {
				return
			}
			w.(http.Flusher).Flush()
		}
	}))
	defer s.Close()
	c := newClient(t, egress.Options{AllowPrivate: true, Plaintext: true, Timeout: 2 * time.Second})
	if a, err := c.Send(t.Context(), http.MethodGet, s.URL+"/endless", nil, nil); err != nil || len(a.Body) != 64<<10 {
		t.Errorf("endless: %v", err)
	}
	if a, err := c.Send(t.Context(), http.MethodGet, s.URL+"/drips", nil, nil); err != nil || a.Status != 200 {
		t.Errorf("drips: %v", err)
	}
}

// TestErrorsAreOfAClosedSet also holds that none of them shows more than the host.
func TestErrorsAreOfAClosedSet(t *testing.T) {
	t.Parallel()
	quit := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-quit }))
	defer silent.Close()
	defer close(quit)
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	secure.Config.ErrorLog = nil
	defer secure.Close()
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	noise := noiseServer(t)
	c := newClient(t, egress.Options{
		AllowPrivate: true, Plaintext: true, Timeout: 2 * time.Second,
		Resolver: gatewaytest.DNS(t, func(string, int) []netip.Addr { return nil }),
	})
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	quick := newClient(t, egress.Options{AllowPrivate: true, Plaintext: true, Timeout: time.Second})
	for name, tc := range map[string]struct {
		c      *egress.Client
		ctx    context.Context
		target string
		header http.Header
		kind   error
		why    egress.Why
	}{
		"slow":        {quick, t.Context(), silent.URL, nil, egress.ErrTimeout, egress.WhySlow},
		"cancelled":   {c, cancelled, silent.URL, nil, context.Canceled, egress.WhyCancelled},
		"certificate": {c, t.Context(), secure.URL, nil, egress.ErrUnreachable, egress.WhyCertificate},
		"no TLS":      {c, t.Context(), "https" + strings.TrimPrefix(plain.URL, "http"), nil, egress.ErrUnreachable, egress.WhyTLS},
		"no HTTP":     {c, t.Context(), noise, nil, egress.ErrUnreachable, egress.WhyAnswer},
		"no name":     {c, t.Context(), "https://gone.example", nil, egress.ErrUnreachable, egress.WhyName},
		"nobody":      {c, t.Context(), "http://" + closedPort(t), nil, egress.ErrUnreachable, egress.WhyConnection},
		"header":      {c, t.Context(), plain.URL, http.Header{"X": {"canary\r\nY: z"}}, egress.ErrRefused, egress.WhyHeader},
		"header name": {c, t.Context(), plain.URL, http.Header{"X Y": {"canary"}}, egress.ErrRefused, egress.WhyHeader},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := tc.c.Send(tc.ctx, http.MethodPost, tc.target+"/canary?canary=canary", tc.header, nil)
			var e *egress.Error
			if !errors.As(err, &e) || !errors.Is(err, tc.kind) || e.Why != tc.why {
				t.Errorf("got %v (%#v)", err, e)
			}
			if err != nil && strings.Contains(err.Error(), "canary") {
				t.Errorf("the error shows too much: %v", err)
			}
		})
	}
}

// noiseServer answers nothing that HTTP knows.
func noiseServer(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Read(make([]byte, 4096))
			_, _ = conn.Write([]byte("canary canary canary\r\n\r\n"))
			_ = conn.Close()
		}
	}()
	return "http://" + l.Addr().String()
}

func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// TestTrustAndHTTP2: the file's certificates are trusted, and HTTP/2 is spoken where the
// target has it.
func TestTrustAndHTTP2(t *testing.T) {
	t.Parallel()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Proto", r.Proto)
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	defer s.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(file, block, 0o600); err != nil {
		t.Fatal(err)
	}
	c := newClient(t, egress.Options{AllowPrivate: true, CA: file})
	if a, err := c.Send(t.Context(), http.MethodPost, s.URL, nil, []byte("x")); err != nil || a.Header.Get("Proto") != "HTTP/2.0" {
		t.Errorf("got %v, %v", a, err)
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		want string
		o    egress.Options
	}{
		"no file":      {"ca: ", egress.Options{CA: empty + ".none"}},
		"empty file":   {"no certificates", egress.Options{CA: empty}},
		"URL":          {"allow: ", egress.Options{AllowHosts: []string{"https://hooks.example.com"}}},
		"star inside":  {"allow: ", egress.Options{AllowHosts: []string{"hooks.*.com"}}},
		"star alone":   {"allow: ", egress.Options{AllowHosts: []string{"*"}}},
		"odd address":  {"allow: ", egress.Options{AllowHosts: []string{"127.1"}}},
		"port":         {"allow: ", egress.Options{AllowHosts: []string{"hooks.example.com:443"}}},
		"not in ASCII": {"allow: ", egress.Options{AllowHosts: []string{"bücher.example"}}},
	} {
		if _, err := egress.New(tc.o); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPorts(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		o       egress.Options
		yes, no []string
	}{
		"default":         {egress.Options{}, []string{"https://a.example", "https://a.example:443"}, []string{"https://a.example:80", "https://a.example:8443", "http://a.example"}},
		"plaintext":       {egress.Options{Plaintext: true}, []string{"http://a.example", "https://a.example", "http://a.example:443"}, []string{"http://a.example:8080"}},
		"listed":          {egress.Options{Ports: []uint16{8443}}, []string{"https://a.example:8443"}, []string{"https://a.example"}},
		"private":         {egress.Options{AllowPrivate: true}, []string{"https://a.example:1"}, []string{"http://a.example", "https://a.example:0"}},
		"private, listed": {egress.Options{AllowPrivate: true, Ports: []uint16{443}}, []string{"https://a.example"}, []string{"https://a.example:1"}},
	} {
		c := newClient(t, tc.o)
		for _, u := range tc.yes {
			if _, err := c.Check(u); err != nil {
				t.Errorf("%s: %s: %v", name, u, err)
			}
		}
		for _, u := range tc.no {
			if _, err := c.Check(u); err == nil {
				t.Errorf("%s: %s is allowed", name, u)
			}
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	c := newClient(b, egress.Options{AllowHosts: []string{"hooks.example.com", "*.tenant.example"}})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Check("https://a.tenant.example/in?task=1"); err != nil {
			b.Fatal(err)
		}
	}
}
