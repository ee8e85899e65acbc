package demo

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
)

// IssuerOptions say how the development issuer is started. The zero value is an
// issuer on a free loopback port with the built-in users.
type IssuerOptions struct {
	// Address to listen on, host:port. Default "127.0.0.1:0".
	Address string
	// URL is the issuer identifier, without a trailing slash. Default the
	// bound address; set it where clients reach the issuer by another name.
	URL string
	// TTL is the life of an access token. Default 1 h.
	TTL time.Duration
	// Users are who may ask for tokens. Default DemoUsers().
	Users []User
	// AllowRemote permits an address other than loopback. Its secrets being
	// public, the issuer refuses one by default.
	AllowRemote bool
}

// User is someone the development issuer knows: a client of its token endpoint
// whose tokens speak for the person of that name.
type User struct {
	Name   string   // client_id and sub
	Secret string   // client_secret
	Groups []string // groups claim
	Scopes []string // what may be asked for; all of it is granted when nothing is
	Tenant string   // tenant claim; left out when empty
}

// DemoUsers are the built-in users. Their secrets are their names with
// "-secret" appended, and this sentence is the warning.
func DemoUsers() []User {
	return []User{
		{
			Name: "alice", Secret: "alice-secret", Groups: []string{"finance"}, Tenant: "acme",
			Scopes: []string{"billing.read", "billing.refund", "weather.read"},
		},
		{
			Name: "bob", Secret: "bob-secret", Groups: []string{"support"}, Tenant: "acme",
			Scopes: []string{"billing.read", "weather.read"},
		},
		{
			Name: "carol", Secret: "carol-secret", Groups: []string{"operations", "admins"}, Tenant: "globex",
			Scopes: []string{"weather.read", "gateway.admin"},
		},
	}
}

// Issuer is a small OpenID Connect issuer for development. FOR DEVELOPMENT
// ONLY: its users and their secrets are public, its keys live in memory.
//
// It serves discovery (OpenID Connect Discovery 1.0 §4, RFC 8414), a JWKS, and
// a token endpoint for client credentials (RFC 6749 §4.4) that issues signed
// access tokens as in RFC 9068. Browsers sign in by authorization code (see SignInClient).
type Issuer struct {
	// URL is the issuer identifier, the value of iss.
	URL string

	options IssuerOptions
	server  *http.Server
	served  chan error
	closing sync.Once

	mu    sync.Mutex // guards keys and codes
	keys  []*issuerKey
	codes map[string]code
}

var errNotLoopback = errors.New("development issuer listens on loopback addresses only")

// NewIssuer starts a development issuer. The caller closes it.
func NewIssuer(o IssuerOptions) (*Issuer, error) {
	if o.Address == "" {
		o.Address = "127.0.0.1:0"
	}
	if o.TTL == 0 {
		o.TTL = time.Hour
	}
	if o.Users == nil {
		o.Users = DemoUsers()
	}
	l, err := net.Listen("tcp", o.Address)
	if err != nil {
		return nil, fmt.Errorf("listen for development issuer: %w", err)
	}
	// Asked of the bound address: a name may resolve to anything.
	if tcp, ok := l.Addr().(*net.TCPAddr); ok && !tcp.IP.IsLoopback() && !o.AllowRemote {
		return nil, errors.Join(fmt.Errorf("%w, not on %s", errNotLoopback, o.Address), l.Close())
	}
	i := &Issuer{URL: o.URL, options: o, served: make(chan error, 1), codes: map[string]code{}}
	if i.URL == "" {
		i.URL = "http://" + l.Addr().String()
	}
	// The first key; there is no issuer without one.
	if err := i.Rotate(); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	i.server = &http.Server{Addr: l.Addr().String(), Handler: i.routes(), ReadHeaderTimeout: 10 * time.Second}
	go func() { i.served <- i.server.Serve(l) }()
	return i, nil
}

// Addr is where the issuer listens, host:port, whatever its URL is.
func (i *Issuer) Addr() string { return i.server.Addr }

// Close stops the issuer, waiting for requests until ctx is done. Closing twice
// is harmless.
func (i *Issuer) Close(ctx context.Context) error {
	var err error
	i.closing.Do(func() {
		if err = i.server.Shutdown(ctx); err != nil {
			err = fmt.Errorf("stop development issuer: %w", err)
			_ = i.server.Close()
		}
		<-i.served
	})
	return err
}

// routes are the endpoints; see the package comment.
func (i *Issuer) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", i.discovery)
	mux.HandleFunc("GET /.well-known/oauth-authorization-server", i.discovery)
	mux.HandleFunc("GET /jwks", i.jwks)
	mux.HandleFunc("POST /token", i.token)
	mux.HandleFunc("GET /authorize", i.authorize)
	mux.HandleFunc("GET /logout", i.endSession)
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = w.Write([]byte("Development issuer. Its secrets are public: never trust it in production.\n"))
	})
	return mux
}

// metadata has the members of a discovery document that a verifier or a client
// of the token endpoint reads.
type metadata struct {
	Issuer        string   `json:"issuer"`
	JWKS          string   `json:"jwks_uri"`
	Token         string   `json:"token_endpoint"`
	Authorization string   `json:"authorization_endpoint"`
	EndSession    string   `json:"end_session_endpoint"`
	Challenges    []string `json:"code_challenge_methods_supported"`
	NamesIssuer   bool     `json:"authorization_response_iss_parameter_supported"`
	Grants        []string `json:"grant_types_supported"`
	ClientAuth    []string `json:"token_endpoint_auth_methods_supported"`
	ResponseTypes []string `json:"response_types_supported"`
	SubjectTypes  []string `json:"subject_types_supported"`
	Algorithms    []string `json:"id_token_signing_alg_values_supported"`
	Scopes        []string `json:"scopes_supported"`
	Claims        []string `json:"claims_supported"`
}

// discovery answers both well-known paths alike: OpenID Connect's metadata has RFC 8414's members.
func (i *Issuer) discovery(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, metadata{
		Issuer:        i.URL,
		JWKS:          i.URL + "/jwks",
		Token:         i.URL + "/token",
		Authorization: i.URL + "/authorize",
		EndSession:    i.URL + "/logout",
		Challenges:    []string{"S256"},
		NamesIssuer:   true,
		Grants:        []string{"client_credentials", "authorization_code"},
		ClientAuth:    []string{"client_secret_basic", "client_secret_post", "none"},
		ResponseTypes: []string{"code"},
		SubjectTypes:  []string{"public"},
		Algorithms:    []string{string(algorithm)},
		Scopes:        i.scopes(),
		Claims:        []string{"iss", "sub", "aud", "exp", "iat", "jti", "client_id", "scope", "groups", "tenant"},
	})
}

// jwks answers with the public keys (RFC 7517). A minute of caching lets tests see a rotation soon.
func (i *Issuer) jwks(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Cache-Control", "public, max-age=60")
	answer(w, http.StatusOK, i.publicKeys())
}

// answer writes v as JSON.
func answer(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
