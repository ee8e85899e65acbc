package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"
)

// floor is the least that Go's own reverse proxy can do.
var floor = subject{
	name: "floor",
	what: "httputil.ReverseProxy with a tuned transport and no policy",
	start: func(st *stage, how setup) (*running, error) {
		args := []string{"role", "floor", "127.0.0.1:0", "http://" + st.agent}
		if !how.plain {
			args = append(args, st.file("cert.pem"), st.file("key.pem"))
		}
		p, err := st.spawn(exec.Command(os.Args[0], args...))
		if err != nil {
			return nil, err
		}
		address, err := p.find(func(line string) string {
			_, address, _ := strings.Cut(line, "floor=")
			return address
		})
		return &running{
			url: how.scheme() + "://" + address, pid: p.cmd.Process.Pid, version: runtime.Version(), stop: p.stop,
		}, err
	},
}

// serveFloor listens at an address, args[0], and proxies for a target, args[1], with the certificate
// args[2] and its key.
func serveFloor(args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("no address, or no target")
	}
	target, err := url.Parse(args[1])
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", args[0])
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(os.Stdout, "floor=%s\n", l.Addr())
	server := &http.Server{Handler: reverseProxy(target), ReadHeaderTimeout: time.Minute}
	if len(args) == 4 {
		return server.ServeTLS(l, args[2], args[3])
	}
	return server.Serve(l)
}

// reverseProxy keeps its connections and its buffers.
func reverseProxy(target *url.URL) http.Handler {
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport: &http.Transport{
			MaxIdleConnsPerHost: 1024, IdleConnTimeout: time.Hour, DisableCompression: true,
		},
		BufferPool: new(pool),
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			w.WriteHeader(http.StatusBadGateway)
			_, _ = io.WriteString(w, err.Error())
		},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Else the server closes the request's body when an answer begins before the
		// transport has seen the body's end, and the transport gives up the connection
		// in the middle of the answer. HTTP/2 has no need of it.
		_ = http.NewResponseController(w).EnableFullDuplex()
		proxy.ServeHTTP(w, r)
	})
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
