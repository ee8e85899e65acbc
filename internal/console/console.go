package console

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/console/login"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
)

// Bounds of the listener. Operators ask little and wait for answers; nothing else does.
const (
	headerTimeout = 5 * time.Second
	readTimeout   = 10 * time.Second
	answerTimeout = 15 * time.Second // of what an answer needs from the gateway
	writeTimeout  = 30 * time.Second
	idleTimeout   = time.Minute
	farewell      = 2 * time.Second // for requests to end when the gateway does
	headerSize    = 16 << 10        // beside a token
)

// Options are what a Console needs beside its configuration.
type Options struct {
	Deliveries Deliveries
	Cards      Cards
	Agents     Agents
	Contents   Contents
	Running    Running
	Records    Records
	Policy     Policy
	Extensions Extensions
	Callers    Callers
	Trials     Trials
	Streams    Streams

	// Egress is the way to the identity provider.
	Egress *tunnel.Proxy

	// Version of the gateway, in the document of the API.
	Version string
	// Dir is server.dataDir, where the token is kept and the address written.
	Dir string
	// Audit records a change before it is made; without a record there is no change, unless
	// FailOpen.
	Audit    func(kind string, attrs map[string]string) error
	FailOpen bool
	Log      *slog.Logger
	// Tokens is how long access tokens may be here as well: authn.limits, as they are when it
	// is called. It must be safe for concurrent use. Nil for the defaults.
	Tokens func() authn.Limits
	// KeySkipped is told of each key of admin.oidc.issuer that cannot be used, as
	// authn.Options.Skipped is. May be nil.
	KeySkipped func(reason string)

	// Sockets has the socket to listen on; nil for a new one.
	Sockets *server.Sockets
}

// Console is the admin listener.
type Console struct {
	Options

	config   Config
	token    secret.Value
	tokenAt  string // file of the token, "" where the configuration has it
	hosts    map[string]bool
	limits   server.Limits
	throttle throttle
	chain    *authn.Chain    // nil: tokens of an identity provider are nothing here
	provider *login.Provider // nil: nobody signs in
	sessions *login.Sessions // of those who have
	document jsontext.Value  // of the API
	assets   func() map[string]asset
	cross    *http.CrossOriginProtection
	listener net.Listener
	secured  *server.Certified // nil without TLS
	http     *http.Server

	liveFeed  liveFeed
	exporting sync.Mutex    // held while somebody exports records
	trying    chan struct{} // holds one for each call that is being tried
	replaying sync.Mutex    // held while somebody replays calls
}

// Open finds or makes the token and binds the address. Nothing is served before Start.
// Where the configuration says off it returns nil, which has an empty URL, and nothing to
// start or close.
func Open(c Config, o Options) (*Console, error) {
	if c.Off() {
		return nil, nil //nolint:nilnil // no console and no error: it is not wanted
	}
	c.Failures.defaults()
	c.Live.defaults()
	c.Map.defaults()
	c.Try.defaults()
	c.Replay.defaults()
	if o.Tokens == nil {
		o.Tokens = func() authn.Limits { return authn.Limits{} }
	}
	s := &Console{Options: o, config: c, token: c.Token, cross: http.NewCrossOriginProtection(), assets: sync.OnceValue(assets), trying: make(chan struct{}, c.Try.Calls)}
	s.liveFeed.records, s.liveFeed.bounds, s.liveFeed.log = o.Records, c.Live, o.Log
	s.limits.Defaults()
	var err error
	if s.document, err = document(o.Version); err != nil {
		return nil, err
	}
	if s.token.IsZero() {
		s.tokenAt = filepath.Join(o.Dir, TokenFile)
		if s.token, err = keptToken(s.tokenAt); err != nil {
			return nil, fmt.Errorf("token: %w", err)
		}
	}
	l, err := o.Sockets.Listen(server.AdminSocket, c.Address)
	if err != nil {
		return nil, fmt.Errorf("address: %w", err)
	}
	s.listener = l
	bound, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		return nil, errors.Join(fmt.Errorf("address: %q is not TCP", c.Address), l.Close())
	}
	s.hosts = c.hosts(bound)
	if err := s.announce(); err != nil {
		return nil, errors.Join(fmt.Errorf("address: %w", err), l.Close())
	}
	if err := s.openOIDC(); err != nil {
		return nil, errors.Join(err, s.abandon())
	}
	if c.TLS != nil {
		if s.secured, err = server.Certify(c.TLS.listener(), o.Log); err != nil {
			return nil, errors.Join(err, s.abandon())
		}
		s.listener = s.secured.Listen(l)
	}
	s.http = &http.Server{
		Handler: s, ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: headerSize + authn.LongestToken, ErrorLog: slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug),
		DisableGeneralOptionsHandler: true, // "OPTIONS *" is held to the hosts as all else is
	}
	return s, nil
}

// Start serves. It returns at once.
func (s *Console) Start() {
	if s == nil {
		return
	}
	go func() {
		if err := s.http.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
			s.Log.Error("admin listener", "error", err)
		}
	}()
}

// URL is the address as a URL with the port really bound; "" where there is none.
func (s *Console) URL() string {
	if s == nil {
		return ""
	}
	return s.scheme() + "://" + s.listener.Addr().String()
}

// TokenAt is the path of the file with the token, where the configuration has none; "" where
// it has one, and where there is no console.
func (s *Console) TokenAt() string {
	if s == nil {
		return ""
	}
	return s.tokenAt
}

func (s *Console) scheme() string {
	if s.secured != nil {
		return "https"
	}
	return "http"
}

// abandon takes back what was opened.
func (s *Console) abandon() error {
	if s.chain != nil {
		s.chain.Close()
	}
	return s.listener.Close()
}

// Close waits a moment for requests that are under way and ends the rest.
func (s *Console) Close() {
	if s == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), farewell)
	defer cancel()
	if s.chain != nil {
		defer s.chain.Close()
	}
	s.liveFeed.close()
	_ = s.http.Shutdown(ctx)
	_ = s.http.Close() // what is still open, if anything
	_ = s.listener.Close()
	s.secured.Close()
	if s.announced() {
		_ = os.Remove(filepath.Join(s.Dir, AddressFile))
	}
}
