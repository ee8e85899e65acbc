package gatewaytest

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
)

// Tunnels is an HTTP proxy that knows CONNECT and nothing else.
type Tunnels struct {
	URL  string // http:// or https://, without credentials
	Host string // host:port of it

	// Answer says what a CONNECT is answered: 200 has it connected, 0 has nothing answered at
	// all. nil is 200 for everything.
	Answer func(target string) int
	// To are the addresses of targets that are elsewhere than they say.
	To map[string]string
	// User and password that are asked for, as "user:password".
	User string

	server *httptest.Server
	over   chan struct{}
	mu     sync.Mutex
	asked  []string
	heads  []http.Header
	conns  []net.Conn
}

// NewTunnels makes a proxy; Start it when its fields are set.
func NewTunnels(t interface{ Cleanup(func()) }) *Tunnels {
	p := &Tunnels{over: make(chan struct{})}
	p.server = httptest.NewUnstartedServer(p)
	t.Cleanup(p.Stop)
	return p
}

// Start begins to serve.
func (p *Tunnels) Start() *Tunnels {
	p.server.Start()
	p.URL, p.Host = p.server.URL, p.server.Listener.Addr().String()
	return p
}

// StartTLS begins to serve by TLS, with the certificate of httptest.
func (p *Tunnels) StartTLS() *Tunnels {
	p.server.StartTLS()
	p.URL, p.Host = p.server.URL, p.server.Listener.Addr().String()
	return p
}

// Stop ends it, and all that goes through it. It may be called more than once.
func (p *Tunnels) Stop() {
	p.mu.Lock()
	select {
	case <-p.over:
		p.mu.Unlock()
		return
	default:
	}
	close(p.over)
	conns := p.conns
	p.mu.Unlock()
	for _, c := range conns {
		_ = c.Close()
	}
	p.server.Close()
}

// Server is what serves.
func (p *Tunnels) Server() *httptest.Server { return p.server }

// Asked are the targets so far.
func (p *Tunnels) Asked() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.asked...)
}

// Heads are the headers of the requests so far.
func (p *Tunnels) Heads() []http.Header {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]http.Header(nil), p.heads...)
}

// ServeHTTP implements http.Handler.
func (p *Tunnels) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.asked, p.heads = append(p.asked, r.Host), append(p.heads, r.Header.Clone())
	p.mu.Unlock()
	user, password, _ := (&http.Request{Header: http.Header{"Authorization": r.Header["Proxy-Authorization"]}}).BasicAuth()
	status := http.StatusOK
	switch {
	case r.Method != http.MethodConnect:
		status = http.StatusMethodNotAllowed
	case p.User != "" && user+":"+password != p.User:
		w.Header().Set("Proxy-Authenticate", `Basic realm="proxy"`)
		status = http.StatusProxyAuthRequired
	case p.Answer != nil:
		status = p.Answer(r.Host)
	}
	switch status {
	case http.StatusOK:
		p.connect(w, r.Host)
	case 0:
		select {
		case <-p.over:
		case <-r.Context().Done():
		}
	default:
		http.Error(w, "said by the proxy", status)
	}
}

// connect passes bytes both ways until one side ends.
func (p *Tunnels) connect(w http.ResponseWriter, target string) {
	if at, ok := p.To[target]; ok {
		target = at
	} else if at, ok := p.To["*"]; ok {
		target = at
	}
	there, err := net.Dial("tcp", target) //nolint:noctx // ends with the proxy
	if err != nil {
		http.Error(w, "said by the proxy", http.StatusBadGateway)
		return
	}
	here, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		_ = there.Close()
		return
	}
	p.mu.Lock()
	p.conns = append(p.conns, here, there)
	p.mu.Unlock()
	_, _ = here.Write([]byte("HTTP/1.1 200 Connection established\r\n\r\n"))
	var both sync.WaitGroup
	both.Go(func() {
		_, _ = io.Copy(there, io.MultiReader(io.LimitReader(buffered, int64(buffered.Reader.Buffered())), here))
		_ = there.(*net.TCPConn).CloseWrite()
	})
	_, _ = io.Copy(here, there)
	_ = here.Close()
	both.Wait()
	_ = there.Close()
}
