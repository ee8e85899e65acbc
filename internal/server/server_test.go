package server

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

func TestMain(m *testing.M) {
	testenv.Overlap()
	goleak.VerifyTestMain(m)
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	cfg := plaintext()
	cfg.Address, cfg.PublicURL = ":0", "http://Gateway.example:8080/"
	s, err := New(cfg, empty(), nil)
	must(t, err)
	if s.Addr() != nil || s.URL() != "" || s.PublicURL() != "http://Gateway.example:8080" {
		t.Errorf("before Start: %v, %q, %q", s.Addr(), s.URL(), s.PublicURL())
	}
	must(t, s.Start())
	defer func() { _ = s.Shutdown(context.Background()) }()
	_, port, _ := net.SplitHostPort(s.Addr().String())
	if s.URL() != "http://127.0.0.1:"+port || s.PublicURL() != "http://Gateway.example:"+port {
		t.Errorf("bound to %s: %q, %q", port, s.URL(), s.PublicURL())
	}
	resp, err := http.Get(s.URL())
	must(t, err)
	_ = resp.Body.Close()
	if err := s.Start(); err == nil || !strings.Contains(err.Error(), "already started") {
		t.Errorf("second Start: %v", err)
	}
	taken := plaintext()
	taken.Address = s.Addr().String()
	other, err := New(taken, empty(), nil)
	must(t, err)
	if err := other.Start(); err == nil || !strings.Contains(err.Error(), "server.address") {
		t.Errorf("address in use: %v", err)
	}
}

func TestNewValidates(t *testing.T) {
	t.Parallel()
	if _, err := New(Config{}, empty(), nil); err == nil || !strings.Contains(err.Error(), "server.publicURL") {
		t.Errorf("error %v", err)
	}
}

func TestH2C(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	for _, tt := range []struct {
		name    string
		address string
		h2c     *bool
		ok      bool
	}{
		{"loopback", "127.0.0.1:0", nil, true},
		{"everywhere", ":0", nil, false},
		{"everywhere, on", ":0", &yes, true},
		{"loopback, off", "127.0.0.1:0", &no, false},
	} {
		cfg := plaintext()
		cfg.Address, cfg.H2C = tt.address, tt.h2c
		s := start(t, cfg, empty())
		var p http.Protocols
		p.SetUnencryptedHTTP2(true)
		tr := &http.Transport{Protocols: &p}
		resp, err := (&http.Client{Transport: tr, Timeout: patience}).Get(s.URL())
		if err == nil {
			_ = resp.Body.Close()
		}
		tr.CloseIdleConnections()
		if ok := err == nil && resp.ProtoMajor == 2; ok != tt.ok {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

func TestReloadOfWhatCannotChange(t *testing.T) {
	t.Parallel()
	s := start(t, plaintext(), empty())
	no := false
	for key, change := range map[string]func(*Config){
		"server.address":                  func(c *Config) { c.Address = "127.0.0.1:1" },
		"server.statusAddress":            func(c *Config) { c.StatusAddress = ":1" },
		"server.h2c":                      func(c *Config) { c.H2C = &no },
		"server.limits.header":            func(c *Config) { c.Limits.Header = 1 << 10 },
		"server.limits.connectionStreams": func(c *Config) { c.Limits.ConnectionStreams = 1 },
		"server.limits.connectionFrames":  func(c *Config) { c.Limits.ConnectionFrames = 500 },
		"server.timeouts.header":          func(c *Config) { c.Timeouts.Header = seconds(1) },
		"server.timeouts.idle":            func(c *Config) { c.Timeouts.Idle = seconds(1) },
		"server.timeouts.write":           func(c *Config) { c.Timeouts.Write = seconds(1) },
		"server.tls": func(c *Config) {
			c.PublicURL, c.TLS, c.H2C = "https://a", &TLS{Certificates: []Certificate{{"a", "b"}}}, &no
		},
	} {
		cfg := plaintext()
		change(&cfg)
		err := s.Reload(cfg)
		if err == nil || !strings.Contains(err.Error(), key) || !strings.Contains(err.Error(), "restart") {
			t.Errorf("%s: %v", key, err)
		}
	}
	cfg := plaintext()
	cfg.Limits.Connections = 7
	if err := s.Reload(cfg); err != nil || s.live.Load().limits.Connections != 7 {
		t.Errorf("reload of what can change: %v", err)
	}
	cfg.PublicURL = ""
	if err := s.Reload(cfg); err == nil {
		t.Error("an invalid configuration was taken")
	}
}

// TestR02_DrainFinishesRequests: what is under way finishes, streams are told,
// and nothing new is accepted.
func TestR02_DrainFinishesRequests(t *testing.T) {
	t.Parallel()
	arrived, finish := make(chan struct{}, 2), make(chan struct{})
	var s *Server
	s = start(t, plaintext(), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		if r.URL.Path == "/stream" {
			<-s.Draining()
			_, _ = io.WriteString(w, "drained")
			return
		}
		<-finish
		_, _ = io.WriteString(w, "finished")
	}))
	url, addr := s.URL(), s.Addr().String()
	answers := make(chan string, 2)
	for _, path := range []string{"/stream", "/unary"} {
		go func() { answers <- fetch(url + path) }()
		<-arrived
	}
	done := make(chan error)
	go func() { done <- s.Shutdown(context.Background()) }()
	if got := <-answers; got != "drained" {
		t.Errorf("the stream ended with %q", got)
	}
	eventually(t, "listener closed", func() bool {
		c, err := net.Dial("tcp", addr)
		if err == nil {
			_ = c.Close()
		}
		return err != nil
	})
	select {
	case err := <-done:
		t.Fatalf("Shutdown returned %v with a request under way", err)
	default:
	}
	close(finish)
	if got := <-answers; got != "finished" {
		t.Errorf("the request ended with %q", got)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := s.Start(); !errors.Is(err, http.ErrServerClosed) {
		t.Errorf("Start after Shutdown: %v", err)
	}
}

func fetch(url string) string {
	resp, err := http.Get(url)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err.Error()
	}
	return string(body)
}

// TestR02_DrainDeadline: what does not end is cancelled, and has returned from
// its handler when Shutdown does.
func TestR02_DrainDeadline(t *testing.T) {
	t.Parallel()
	arrived, returned := make(chan struct{}), make(chan error, 1)
	s := start(t, plaintext(), http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-r.Context().Done()
		returned <- context.Cause(r.Context())
	}))
	url := s.URL()
	client := make(chan string)
	go func() { client <- fetch(url) }()
	<-arrived
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := s.Shutdown(ctx)
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "1 requests unfinished") {
		t.Errorf("Shutdown: %v", err)
	}
	select {
	case cause := <-returned:
		if !errors.Is(cause, errDrained) {
			t.Errorf("cause %v", cause)
		}
	default:
		t.Error("Shutdown returned before the handler")
	}
	if got := <-client; !strings.Contains(got, "EOF") && !strings.Contains(got, "reset") {
		t.Errorf("the client got %q", got)
	}
}

func TestShutdownWithoutStart(t *testing.T) {
	t.Parallel()
	s, err := New(plaintext(), empty(), nil)
	must(t, err)
	for range 2 {
		if err := s.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	}
	<-s.Draining()
}

func BenchmarkServe(b *testing.B) {
	for _, proto := range []string{"http1", "h2c"} {
		for _, body := range []string{"", strings.Repeat("x", 700)} {
			name := proto + "/get"
			if body != "" {
				name = proto + "/post700"
			}
			b.Run(name, func(b *testing.B) {
				s, err := New(plaintext(), http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
					_, _ = io.Copy(io.Discard, r.Body)
				}), nil)
				if err != nil {
					b.Fatal(err)
				}
				if err := s.Start(); err != nil {
					b.Fatal(err)
				}
				defer func() { _ = s.Shutdown(context.Background()) }()
				var p http.Protocols
				p.SetHTTP1(proto == "http1")
				p.SetUnencryptedHTTP2(proto == "h2c")
				tr := &http.Transport{Protocols: &p}
				defer tr.CloseIdleConnections()
				b.ReportAllocs()
				for b.Loop() {
					r, _ := http.NewRequest("POST", s.URL(), strings.NewReader(body))
					resp, err := tr.RoundTrip(r)
					if err != nil {
						b.Fatal(err)
					}
					_, _ = io.Copy(io.Discard, resp.Body)
					_ = resp.Body.Close()
				}
			})
		}
	}
}
