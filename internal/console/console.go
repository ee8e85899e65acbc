package console

import (
	"context"
	"crypto/x509"
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
	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
	"github.com/a2a-gateway/a2a-gateway/internal/console/apikeys"
	"github.com/a2a-gateway/a2a-gateway/internal/console/approvals"
	"github.com/a2a-gateway/a2a-gateway/internal/console/cards"
	"github.com/a2a-gateway/a2a-gateway/internal/console/contents"
	"github.com/a2a-gateway/a2a-gateway/internal/console/deliveries"
	"github.com/a2a-gateway/a2a-gateway/internal/console/extensions"
	"github.com/a2a-gateway/a2a-gateway/internal/console/fleet"
	"github.com/a2a-gateway/a2a-gateway/internal/console/health"
	"github.com/a2a-gateway/a2a-gateway/internal/console/identities"
	"github.com/a2a-gateway/a2a-gateway/internal/console/overview"
	"github.com/a2a-gateway/a2a-gateway/internal/console/process"
	"github.com/a2a-gateway/a2a-gateway/internal/console/records"
	"github.com/a2a-gateway/a2a-gateway/internal/console/replicas"
	"github.com/a2a-gateway/a2a-gateway/internal/console/rules"
	"github.com/a2a-gateway/a2a-gateway/internal/console/streams"
	"github.com/a2a-gateway/a2a-gateway/internal/console/trials"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/internal/server/sockets"
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
	Approvals  approvals.Approvals
	Deliveries deliveries.Deliveries
	Cards      cards.Cards
	Agents     fleet.Agents
	Contents   contents.Contents
	Running    process.Running
	Health     func(context.Context) health.Health
	Cluster    func(context.Context) (replicas.Cluster, error)
	Records    records.Records
	Policy     rules.Policy
	Extensions extensions.Extensions
	Callers    identities.Callers
	Keys       apikeys.Keys
	Trials     trials.Trials
	Streams    streams.Streams
	// History is how the gateway did lately; nil where nothing is counted.
	History overview.History

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
	// schemes.Options.Skipped is. May be nil.
	KeySkipped func(reason string)

	// Sockets has the socket to listen on; nil for a new one.
	Sockets *sockets.Set
}

// Console is the admin listener. It is made by Open and not changed afterwards, but for
// what access holds: sessions and counts of failures, each with a lock of its own.
type Console struct {
	Options

	config     Config
	tokenAt    string // file of the token, "" where the configuration has it
	hosts      map[string]bool
	limits     server.Limits
	access     access
	screens    []api.Screen
	operations []api.Operation                // of the screens
	document   func() (jsontext.Value, error) // of the API
	assets     func() map[string]asset
	cross      *http.CrossOriginProtection
	listener   net.Listener
	secured    *server.Certified // nil without TLS
	http       *http.Server
}

// Open finds or makes the token and binds the address. Nothing is served before Start.
// Where the configuration says off it returns nil, which has an empty URL, and nothing to
// start or close. Errors name the key below admin. The order is such that what may fail
// without a trace comes first, and what was opened is given back where a later step fails.
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
	s := &Console{Options: o, config: c, cross: http.NewCrossOriginProtection(), assets: sync.OnceValue(assets)}
	s.access = access{config: &s.config, log: o.Log, keySkipped: o.KeySkipped, token: c.Token}
	s.screens = s.table()
	s.operations = operationsOf(s.screens)
	s.limits.Defaults()
	// It takes longer to make than all else here, and few gateways are ever asked for it.
	s.document = sync.OnceValues(func() (jsontext.Value, error) { return document(o.Version, s.operations) })
	var err error
	// A token of the gateway's own making is in a file of the data directory, which only
	// its user may read: commands on the same machine, such as a2a-gateway status, find it
	// there.
	if s.access.token.IsZero() {
		s.tokenAt = filepath.Join(o.Dir, TokenFile)
		if s.access.token, err = keptToken(s.tokenAt); err != nil {
			return nil, fmt.Errorf("token: %w", err)
		}
	}
	l, err := o.Sockets.Listen(sockets.Admin, c.Address)
	if err != nil {
		return nil, fmt.Errorf("address: %w", err)
	}
	s.listener = l
	bound, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		return nil, errors.Join(fmt.Errorf("address: %q is not TCP", c.Address), l.Close())
	}
	s.hosts = c.hosts(bound)
	// With a port that the system chose, commands find the address in a file as well.
	if err := s.announce(); err != nil {
		return nil, errors.Join(fmt.Errorf("address: %w", err), l.Close())
	}
	if err := s.access.open(&s.Options); err != nil {
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

// Start serves. It returns at once. Until then connections wait in the socket's queue.
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
	return s.config.scheme() + "://" + s.listener.Addr().String()
}

// TokenAt is the path of the file with the token, where the configuration has none; "" where
// it has one, and where there is no console.
func (s *Console) TokenAt() string {
	if s == nil {
		return ""
	}
	return s.tokenAt
}

// leaves are the certificates that are served here. The page about health shows until when
// they are good; there are none without TLS.
func (s *Console) leaves() []*x509.Certificate { return s.secured.Leaves() }

// abandon takes back what was opened. It is for Open alone: once Start was called, Close
// does it.
func (s *Console) abandon() error {
	s.access.close()
	return s.listener.Close()
}

// Close waits a moment for requests that are under way and ends the rest. Screens end
// first: a page that shows live records holds a request open for as long as somebody looks,
// and Shutdown would wait for it.
func (s *Console) Close() {
	if s == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), farewell)
	defer cancel()
	defer s.access.close()
	for i := range s.screens {
		if end := s.screens[i].Close; end != nil {
			end()
		}
	}
	_ = s.http.Shutdown(ctx)
	_ = s.http.Close() // what is still open, if anything
	_ = s.listener.Close()
	s.secured.Close()
	if s.announced() {
		_ = os.Remove(filepath.Join(s.Dir, AddressFile))
	}
}
