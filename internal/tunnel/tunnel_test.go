package tunnel

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// mustProxy also closes nothing: a Proxy holds nothing open.
func mustProxy(t *testing.T, c Config) *Proxy {
	t.Helper()
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	p, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestConnections: plain HTTP, TLS and HTTP/2 in plaintext go through a proxy by CONNECT to
// the name, with its credentials, and by TLS where the proxy wants that.
func TestConnections(t *testing.T) {
	t.Parallel()
	for _, secured := range []bool{false, true} {
		for _, kind := range []string{"http", "https", "h2c"} {
			t.Run(fmt.Sprintf("%s by a proxy with TLS %v", kind, secured), func(t *testing.T) {
				t.Parallel()
				target := startTarget(t, kind)
				via := gatewaytest.NewTunnels(t)
				via.User = "gateway:p@ss word"
				via.To = map[string]string{"*": target.Listener.Addr().String()}
				c := Config{}
				if secured {
					via.StartTLS()
					c.CA = writePEM(t, via.Server())
				} else {
					via.Start()
				}
				c.Proxy = secret.URL(strings.Replace(via.URL, "://", "://gateway:p%40ss%20word@", 1))
				if got := get(t, mustProxy(t, c), target, kind); got != target.Config.Addr {
					t.Errorf("the answer is %q", got)
				}
				if asked := via.Asked(); len(asked) != 1 || asked[0] != "agent.example.com:8443" {
					t.Errorf("the proxy was asked for %q", asked)
				}
				for _, name := range []string{"Authorization", "Cookie"} {
					if via.Heads()[0].Get(name) != "" {
						t.Errorf("the proxy got %s", name)
					}
				}
			})
		}
	}
}

// startTarget answers with its Config.Addr, which is the kind.
func startTarget(t *testing.T, kind string) *httptest.Server {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, kind)
	}))
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetHTTP1(kind != "h2c")
	s.Config.Protocols.SetUnencryptedHTTP2(kind == "h2c")
	if kind == "https" {
		s.StartTLS()
	} else {
		s.Start()
	}
	s.Config.Addr = kind
	t.Cleanup(s.Close)
	return s
}

func get(t *testing.T, p *Proxy, target *httptest.Server, kind string) string {
	t.Helper()
	transport := &http.Transport{DialContext: p.Dialer(5 * time.Second), Protocols: new(http.Protocols)}
	defer transport.CloseIdleConnections()
	transport.Protocols.SetHTTP1(kind != "h2c")
	transport.Protocols.SetUnencryptedHTTP2(kind == "h2c")
	scheme := "http"
	if kind == "https" {
		scheme = kind
		transport.TLSClientConfig = target.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
		transport.TLSClientConfig.ServerName = "example.com" // of httptest's certificate
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, scheme+"://agent.example.com:8443/", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer of the agent")
	w, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Body.Close()
	body, _ := io.ReadAll(w.Body)
	return string(body)
}

func writePEM(t *testing.T, s *httptest.Server) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "proxy.pem")
	data := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestL47_ErrorsShowNoCredentials says of each way in which a proxy fails whether it is the proxy's own, and that
// no error shows a credential, or what the proxy has written.
func TestL47_ErrorsShowNoCredentials(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		answer func(string) int
		user   string
		raw    string // what it answers, in place of a proxy
		gone   bool
		own    bool
		slow   bool
		text   string
	}{
		"not there":       {gone: true, own: true, text: "cannot be used"},
		"credentials":     {user: "other:one", own: true, text: "407"},
		"forbidden":       {answer: status(403), own: true, text: "refuses to connect to agent.example.com:443: 403 Forbidden"},
		"no such method":  {answer: status(405), own: true, text: "405"},
		"limits":          {answer: status(429), own: true, text: "429"},
		"not implemented": {answer: status(501), own: true, text: "501"},
		"target gone":     {answer: status(502), text: "does not reach agent.example.com:443: 502 Bad Gateway"},
		"target down":     {answer: status(503), text: "503"},
		"target slow":     {answer: status(504), slow: true, text: "504"},
		"hangs":           {answer: status(0), slow: true, text: "did not connect to agent.example.com:443 in time"},
		"no HTTP":         {raw: "SSH-2.0-OpenSSH_9.2\r\n\r\n", own: true, text: "none of HTTP"},
		"broken off":      {raw: "HTTP/1.1 200 ", own: true, text: "EOF"},
		"endless":         {raw: "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", maxHead), own: true, text: "too long"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			via := gatewaytest.NewTunnels(t)
			via.Answer, via.User = tc.answer, tc.user
			via.Start()
			host := via.Host
			if tc.raw != "" {
				host = rawServer(t, tc.raw)
			}
			if tc.gone {
				via.Stop()
			}
			p := mustProxy(t, Config{Proxy: secret.URL("http://canary:canary@" + host)})
			timeout := 10 * time.Second
			if name == "hangs" {
				timeout = 300 * time.Millisecond
			}
			_, err := p.Dialer(timeout)(t.Context(), "tcp", "agent.example.com:443")
			var e *Error
			if !errors.As(err, &e) || e.Own() != tc.own || Blames(err) != tc.own || e.Timeout() != tc.slow {
				t.Fatalf("got %v (%#v)", err, e)
			}
			for _, no := range []string{"canary", "said by the proxy", "OpenSSH", "Y2FuYXJ5"} {
				if strings.Contains(err.Error(), no) {
					t.Errorf("%v has %q", err, no)
				}
			}
			if !strings.Contains(err.Error(), tc.text) || !strings.Contains(err.Error(), host) {
				t.Errorf("%v does not say %q and %q", err, tc.text, host)
			}
		})
	}
}

func status(n int) func(string) int { return func(string) int { return n } }

// rawServer reads a request's head and writes a text.
func rawServer(t *testing.T, text string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = readHead(c)
			_, _ = io.WriteString(c, text)
			_ = c.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return l.Addr().String()
}

// TestTheOtherEndMaySpeakFirst: nothing of what comes behind the proxy's answer is lost, and
// interim answers are passed over.
func TestTheOtherEndMaySpeakFirst(t *testing.T) {
	t.Parallel()
	host := rawServer(t, "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nhello")
	p := mustProxy(t, Config{Proxy: secret.URL("http://" + host)})
	c, err := p.Dialer(5*time.Second)(t.Context(), "tcp", "agent.example.com:443")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if got, err := io.ReadAll(c); string(got) != "hello" {
		t.Errorf("read %q, %v", got, err)
	}
}

// TestCancelled: who gives up does not wait for the proxy.
func TestCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	via := gatewaytest.NewTunnels(t)
	left := errors.New("left")
	via.Answer = func(string) int { cancel(left); return 0 }
	p := mustProxy(t, Config{Proxy: secret.URL(via.Start().URL)})
	if _, err := p.Dialer(time.Minute)(ctx, "tcp", "agent.example.com:443"); !errors.Is(err, left) {
		t.Errorf("got %v", err)
	}
}

// TestL47_NoProxy says which addresses are reached without.
func TestL47_NoProxy(t *testing.T) {
	t.Parallel()
	p := mustProxy(t, Config{
		Proxy: "http://proxy.example.com:3128",
		NoProxy: []string{
			"internal.example.com", ".below.example.com", "*.star.example.com", "10.0.0.0/8", "192.0.2.7", "2001:db8::/32",
			"ported.example.com:8443", "192.0.2.8:8443", "[2001:db9::1]:8443", "Upper.Example.com",
		},
	})
	for address, serves := range map[string]bool{
		"agent.example.com:443":         true,
		"internal.example.com:443":      false,
		"INTERNAL.example.com:443":      false,
		"a.internal.example.com:80":     false,
		"xinternal.example.com:443":     true,
		"upper.example.com:443":         false,
		"10.1.2.3.example.com:443":      true,
		"internal.example.com.evil:443": true,
		"[::ffff:10.1.2.3]:443":         false,
		"[::ffff:11.1.2.3]:443":         true,
		"[::ffff:127.0.0.1]:443":        false,
		"below.example.com:443":         true,
		"a.below.example.com:443":       false,
		"star.example.com:443":          true,
		"a.star.example.com:443":        false,
		"10.1.2.3:443":                  false,
		"11.1.2.3:443":                  true,
		"192.0.2.7:1":                   false,
		"[2001:db8::5]:443":             false,
		"[2001:db9::1]:443":             true,
		"[2001:db9::1]:8443":            false,
		"ported.example.com:443":        true,
		"ported.example.com:8443":       false,
		"192.0.2.8:443":                 true,
		"192.0.2.8:8443":                false,
		"localhost:443":                 false,
		"127.0.0.1:8080":                false,
		"[::1]:8080":                    false,
		"proxy.example.com.example:443": true,
	} {
		if got := p.Serves(address); got != serves {
			t.Errorf("%s: %v", address, got)
		}
	}
	var none *Proxy
	if none.Serves("agent.example.com:443") || mustProxy(t, Config{Proxy: None}).Serves("agent.example.com:443") {
		t.Error("none serves")
	}
	p.Take(none)
	if p.Serves("agent.example.com:443") {
		t.Error("it serves after none took its place")
	}
}

// TestValidate: what cannot work is refused, with its key, and no error shows a credential.
func TestValidate(t *testing.T) {
	t.Parallel()
	for text, c := range map[string]Config{
		"":                            {},
		" ":                           {Proxy: None},
		"  ":                          {Proxy: "https://user:canary@proxy.example.com", CA: "x.pem", NoProxy: []string{"a_b.example.com", "::1"}},
		"noProxy: there is no proxy":  {NoProxy: []string{"example.com"}},
		"ca: there is no proxy":       {Proxy: None, CA: "x.pem"},
		"ca: the proxy is not https":  {Proxy: "http://proxy.example.com:3128", CA: "x.pem"},
		"neither http:// nor https:":  {Proxy: "socks5://user:canary@proxy.example.com:1080"},
		"proxy: ":                     {Proxy: "proxy.example.com:3128"},
		"names no host":               {Proxy: "http://user:canary@:3128"},
		"has more than scheme":        {Proxy: "http://user:canary@proxy.example.com:3128/path"},
		"proxy: not a URL":            {Proxy: "http://user:canary%@proxy.example.com"},
		"has a colon":                 {Proxy: "http://us%3Aer:canary@proxy.example.com"},
		`noProxy[0]: "*" is`:          {Proxy: "http://p:1", NoProxy: []string{"*"}},
		`noProxy[1]: "10.0.0.0/33"`:   {Proxy: "http://p:1", NoProxy: []string{"a", "10.0.0.0/33"}},
		`noProxy[0]: "http://x" is a`: {Proxy: "http://p:1", NoProxy: []string{"http://x"}},
		`noProxy[0]: "a,b"`:           {Proxy: "http://p:1", NoProxy: []string{"a,b"}},
		`noProxy[0]: ""`:              {Proxy: "http://p:1", NoProxy: []string{""}},
		`"99999" is no port`:          {Proxy: "http://p:1", NoProxy: []string{"a:99999"}},
		`noProxy[0]: "*a.example"`:    {Proxy: "http://p:1", NoProxy: []string{"*a.example"}},
	} {
		err := c.Validate()
		switch {
		case strings.TrimSpace(text) == "":
			if err != nil {
				t.Errorf("%+v: %v", c, err)
			}
		case err == nil || !strings.Contains(err.Error(), text) || strings.Contains(err.Error(), "canary"):
			t.Errorf("%q: got %v", text, err)
		}
	}
	if err := (Config{Proxy: "https://p", CA: "/not/there.pem"}).CheckFiles(); err == nil || !strings.HasPrefix(err.Error(), "ca: ") {
		t.Errorf("got %v", err)
	}
}

// FuzzValidate: what is accepted is usable.
func FuzzValidate(f *testing.F) {
	f.Add("http://user:password@proxy.example.com:3128", "example.com")
	f.Add("https://[::1]:3128", "10.0.0.0/8")
	f.Add("http://p", "*.example.com:443")
	f.Add("none", "")
	f.Fuzz(func(t *testing.T, proxy, entry string) {
		c := Config{Proxy: secret.URL(proxy), NoProxy: []string{entry}}
		if c.Validate() != nil {
			return
		}
		p, err := New(c)
		if err != nil || p == nil {
			t.Fatalf("%q, %q: %v", proxy, entry, err)
		}
		w := p.current()
		if w == nil { // none
			return
		}
		if strings.ContainsAny(w.credential, "\r\n") || strings.ContainsAny(w.address, "\r\n ") {
			t.Fatalf("%q writes more than a header", proxy)
		}
		if _, err := http.NewRequest(http.MethodGet, "http://"+w.address, nil); err != nil { //nolint:noctx // never sent
			t.Fatalf("%q: %v", proxy, err)
		}
	})
}
