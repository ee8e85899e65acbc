package demo

import (
	"context"
	"crypto/subtle"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"google.golang.org/grpc"
)

// Options say how a sample agent is started. The zero value is a loopback
// agent on a free port that accepts every caller.
type Options struct {
	// Address to listen on, host:port. Default "127.0.0.1:0".
	Address string
	// URL is the origin that the card names. Default the bound address; set it where
	// clients reach the agent by another name.
	URL string
	// RequireExtension declares CostCentre as required and refuses calls
	// without it; otherwise it is declared as optional.
	RequireExtension bool
	// BearerToken, when set, must be presented as `Authorization: Bearer …` on
	// every call; the card stays public. It stands for the credential that a
	// gateway holds and callers do not.
	BearerToken string
	// Step is the pause between two events of a task. Default 50 ms, slow
	// enough to watch; tests set a millisecond or less.
	Step time.Duration
	// KeepAlive is the interval of comment lines on idle streams. Default none.
	KeepAlive time.Duration
	// GRPC makes the billing agent one that speaks gRPC and nothing else, in
	// plaintext, on the same port as its card.
	GRPC bool
	// Logger receives what the SDK logs. Default nothing.
	Logger *slog.Logger
}

// withDefaults fills in what is not set.
func (o Options) withDefaults() Options {
	if o.Address == "" {
		o.Address = "127.0.0.1:0"
	}
	if o.Step == 0 {
		o.Step = 50 * time.Millisecond
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// Agent is a running sample agent.
type Agent struct {
	// URL is the origin, "http://127.0.0.1:41234", and the JSON-RPC endpoint.
	URL string
	// CardURL is where the public card is served.
	CardURL string
	// RESTURL is the base of the HTTP+JSON binding.
	RESTURL string

	server  *http.Server
	grpc    *grpc.Server  // nil without Options.GRPC
	quit    chan struct{} // closed first: running tasks end, so streams end
	closing sync.Once
	served  chan error
}

// newAgent binds the address, so that the card can name it, and serves nothing
// yet.
func newAgent(o Options) (*Agent, net.Listener, error) {
	// The port 0 of the default becomes a real one here, which the card then names.
	l, err := net.Listen("tcp", o.Address)
	if err != nil {
		return nil, nil, fmt.Errorf("listen for sample agent: %w", err)
	}
	origin := o.URL
	if origin == "" {
		origin = "http://" + l.Addr().String()
	}
	return &Agent{
		URL:     origin,
		CardURL: origin + "/.well-known/agent-card.json",
		RESTURL: origin + "/rest",
		quit:    make(chan struct{}),
		served:  make(chan error, 1),
	}, l, nil
}

// serve starts answering with the three handlers.
func (a *Agent) serve(l net.Listener, o Options, card, rpc, rest http.Handler) {
	// The card is public, whatever the token: clients read it to learn how to sign in.
	mux := http.NewServeMux()
	mux.Handle("/.well-known/agent-card.json", card)
	a.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	if a.grpc != nil {
		mux.Handle("/lf.a2a.v1.A2AService/", guard(o.BearerToken, a.grpc))
		// gRPC is HTTP/2, here without TLS (prior knowledge); the card is read over HTTP/1.1.
		a.server.Protocols = new(http.Protocols)
		a.server.Protocols.SetHTTP1(true)
		a.server.Protocols.SetUnencryptedHTTP2(true)
	} else {
		mux.Handle("/rest/", guard(o.BearerToken, echoExtensions(http.StripPrefix("/rest", rest))))
		mux.Handle("/{$}", guard(o.BearerToken, echoExtensions(rpc)))
	}
	go func() { a.served <- a.server.Serve(l) }()
}

// Close ends running tasks and their streams, then stops the server. It waits
// for requests to finish until ctx is done. Closing twice is harmless.
func (a *Agent) Close(ctx context.Context) error {
	var err error
	a.closing.Do(func() {
		// Before Shutdown, which would wait for streams that nobody ends.
		close(a.quit)
		if err = a.server.Shutdown(ctx); err != nil {
			err = fmt.Errorf("stop sample agent: %w", err)
			_ = a.server.Close()
		}
		<-a.served
	})
	return err
}

// guard refuses calls without the token, when there is one.
func guard(token string, next http.Handler) http.Handler {
	if token == "" {
		return next
	}
	want := []byte("Bearer " + token)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// A comparison that ends at the first difference would tell how much of a token is right.
		if subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), want) != 1 {
			w.Header().Set("WWW-Authenticate", `Bearer realm="sample agent"`)
			http.Error(w, "unauthenticated", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// pause waits one step. It reports false when the work should stop instead:
// the task was cancelled, or the agent is closing.
func pause(ctx context.Context, quit <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	case <-quit:
		return false
	}
}
