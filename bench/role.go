package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// role runs one of the other processes: the agent, or the bare proxy.
func role(name string, args []string) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	switch name {
	case "agent":
		_, _ = fmt.Fprintf(os.Stdout, "url=http://%s\n", l.Addr())
		return (&http.Server{Handler: agent("http://" + l.Addr().String()), ReadHeaderTimeout: time.Minute}).Serve(l)
	case "floor":
		target, err := url.Parse(args[0])
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintf(os.Stdout, "url=https://%s\n", l.Addr())
		return (&http.Server{Handler: floor(target), ReadHeaderTimeout: time.Minute}).ServeTLS(l, args[1], args[2])
	}
	return fmt.Errorf("no such role: %s", name)
}

// agent answers every call with a message of about 600 bytes in the caller's
// context. It finds the id by the form that this benchmark sends, to cost little.
func agent(base string) http.Handler {
	card := `{"name":"Billing","description":"Bench.","version":"1","capabilities":{"streaming":true},` +
		`"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],` +
		`"skills":[{"id":"summarize","name":"Summarize","description":"","tags":[]}],` +
		`"supportedInterfaces":[{"url":"` + base + `","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`
	head := []byte(`{"jsonrpc":"2.0","id":`)
	tail := []byte(`,"result":{"message":{"messageId":"a-1","contextId":"bench","role":"ROLE_AGENT","parts":[{"text":"` +
		strings.Repeat("summarized ", 40) + `"}]}}}`)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/agent-card.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, card)
	})
	mux.HandleFunc("POST /", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || !bytes.HasPrefix(body, head) {
			http.Error(w, "unexpected call", http.StatusBadRequest)
			return
		}
		id := body[len(head):]
		id = id[:bytes.IndexByte(id, ',')]
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(head)+len(id)+len(tail)))
		_, _ = w.Write(head)
		_, _ = w.Write(id)
		_, _ = w.Write(tail)
	})
	return mux
}

// floor is the least that Go's reverse proxy can do, with a transport that
// keeps its connections.
func floor(target *url.URL) http.Handler {
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport: &http.Transport{
			MaxIdleConnsPerHost: 512, MaxConnsPerHost: 512, IdleConnTimeout: time.Minute, DisableCompression: true,
		},
		BufferPool: new(pool),
	}
}

// pool reuses copy buffers.
type pool struct{ sync.Pool }

// Get implements httputil.BufferPool.
func (p *pool) Get() []byte {
	if b, ok := p.Pool.Get().(*[]byte); ok {
		return *b
	}
	return make([]byte, 32<<10)
}

// Put implements httputil.BufferPool.
func (p *pool) Put(b []byte) { p.Pool.Put(&b) }
