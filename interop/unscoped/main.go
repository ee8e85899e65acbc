// Unscoped is an agent that does not know whose its tasks are: whoever names one has
// it. Such are agents on the Go SDK v2.3.1, whose store of tasks looks only at ids.
//
// It listens on free loopback ports, for the bindings of 1.0 and 0.3, which share one
// store; prints {"url":…,"grpc":…} and ends with its standard input. Below
// url, /{side}/.well-known/agent-card.json is the card of one side, as in
// "v10-jsonrpc" or "v03-grpc", and /requests is how many requests the agent has
// received, cards and that question aside.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
)

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "unscoped:", err)
		os.Exit(1)
	}
}

// run serves until in ends.
func run(in io.Reader, out io.Writer) error {
	web, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen for HTTP: %w", err)
	}
	rpc, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen for gRPC: %w", err)
	}
	s := &site{url: "http://" + web.Addr().String(), rpc: rpc.Addr().String()}
	mux, grpcServer := s.serve()
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 2)
	go func() { failed <- server.Serve(web) }()
	go func() { failed <- grpcServer.Serve(rpc) }()
	if err := json.NewEncoder(out).Encode(map[string]string{"url": s.url, "grpc": "http://" + s.rpc}); err != nil {
		return fmt.Errorf("say where it is: %w", err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, in)
	}()
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ended:
	}
	grpcServer.Stop()
	return server.Close()
}

// site is where the agent is, and what it has been asked.
type site struct {
	url, rpc string // rpc is host:port
	requests atomic.Int64
}

// serve puts the agent behind every binding of every version.
func (s *site) serve() (*http.ServeMux, *grpc.Server) {
	mux := http.NewServeMux()
	rpc := grpc.NewServer(grpc.UnaryInterceptor(s.unary), grpc.StreamInterceptor(s.stream))
	agent := newHandler(slog.New(slog.DiscardHandler))
	for _, side := range sides() {
		base := "/" + side.name
		at := s.url + base
		if side.http != nil {
			handler := http.StripPrefix(base, s.count(side.http(agent)))
			mux.Handle(base, handler)
			mux.Handle(base+"/", handler)
		} else {
			at = s.rpc
			side.grpc(agent, rpc)
		}
		mux.Handle("GET "+base+wellKnown, side.card(at))
	}
	mux.HandleFunc("GET /requests", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(s.requests.Load())
	})
	return mux, rpc
}

// count counts requests over HTTP.
func (s *site) count(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		next.ServeHTTP(w, r)
	})
}
