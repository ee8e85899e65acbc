package proxy_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/authn/jwt"
	"github.com/a2a-gateway/a2a-gateway/internal/keys"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream/credentials"
)

// indiscreet is an authorization server that repeats what it was sent wherever it can:
// in errors, headers, redirects. It knows opaque tokens by what they begin with.
type indiscreet struct {
	*httptest.Server
	ring *keys.Ring
	mu   sync.Mutex
	mood string // of the token endpoint
}

func newIndiscreet(t *testing.T) *indiscreet {
	ring, err := keys.Open(keys.Config{Dir: t.TempDir()}, slog.New(slog.DiscardHandler))
	proxytest.Must(t, err)
	t.Cleanup(ring.Close)
	s := &indiscreet{ring: ring, mood: "good"}
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":%[2]q,"introspection_endpoint":%[3]q}`, s.URL, s.URL+"/jwks", s.URL+"/introspect")
	})
	mux.HandleFunc("/jwks", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(ring.JWKS()) })
	mux.HandleFunc("/introspect", s.introspect)
	mux.HandleFunc("/token", s.token)
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func (s *indiscreet) in(mood string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mood = mood
}

func (s *indiscreet) introspect(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	form := string(body)
	switch {
	case strings.Contains(form, "token=good"):
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"active":true,"sub":"alice","aud":"gw","iss":%q}`, s.URL)
	case strings.Contains(form, "token=ended"):
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"active":false}`)
	case strings.Contains(form, "token=another"):
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"active":true,"sub":"alice","aud":"gw","iss":"https://another.example"}`)
	default:
		s.repeat(w, http.StatusBadRequest, form+r.Header.Get("Authorization"))
	}
}

func (s *indiscreet) token(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	all := string(body) + r.Header.Get("Authorization")
	s.mu.Lock()
	mood := s.mood
	s.mu.Unlock()
	switch mood {
	case "good":
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"access_token":"issued-canary","token_type":"Bearer","expires_in":0}`)
	case "odd type":
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"access_token":"issued-canary","token_type":"issued-canary"}`)
	case "declined":
		s.repeat(w, http.StatusBadRequest, all)
	case "down":
		s.repeat(w, http.StatusInternalServerError, all)
	case "redirect":
		w.Header().Set("Location", s.URL+"/elsewhere?"+string(body))
		w.WriteHeader(http.StatusTemporaryRedirect)
	case "gone":
		proxytest.RawAnswer("HTTP/1.1 200 OK\r\nX: "+all+"\r\n\r\n")(w, nil)
	}
}

// repeat is an error that has all of the question in it.
func (s *indiscreet) repeat(w http.ResponseWriter, status int, all string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("WWW-Authenticate", `Bearer error_description="`+all+`"`)
	w.WriteHeader(status)
	doc, _ := json.Marshal(map[string]string{"error": "invalid_grant", "error_description": all, "error_uri": s.URL + "/?" + all})
	_, _ = w.Write(doc)
}

// jwt is a token of the server's for alice, its claims changed.
func (s *indiscreet) jwt(t *testing.T, changes map[string]any) string {
	claims := map[string]any{"iss": s.URL, "sub": "alice", "aud": []string{"gw"}, "exp": time.Now().Add(time.Hour).Unix()}
	for name, v := range changes {
		claims[name] = v
	}
	payload, err := json.Marshal(claims)
	proxytest.Must(t, err)
	token, err := s.ring.Sign("at+jwt", payload)
	proxytest.Must(t, err)
	return token
}

// prover makes DPoP proofs.
type prover struct{ key *ecdsa.PrivateKey }

func (p prover) thumbprint(t *testing.T) string {
	sum, err := (&jose.JSONWebKey{Key: p.key.Public()}).Thumbprint(5) // SHA-256
	proxytest.Must(t, err)
	return base64.RawURLEncoding.EncodeToString(sum)
}

func (p prover) proof(t *testing.T, address, token string) string {
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: p.key},
		(&jose.SignerOptions{EmbedJWK: true}).WithType("dpop+jwt"))
	proxytest.Must(t, err)
	sum := sha256.Sum256([]byte(token))
	payload, err := json.Marshal(map[string]any{"jti": rand.Text(), "htm": "POST", "htu": address,
		"iat": time.Now().Unix(), "ath": base64.RawURLEncoding.EncodeToString(sum[:])})
	proxytest.Must(t, err)
	signed, err := signer.Sign(payload)
	proxytest.Must(t, err)
	text, err := signed.CompactSerialize()
	proxytest.Must(t, err)
	return text
}

// secrets are what must not be seen: of tokens the signature, without which the rest is
// worth nothing.
type secrets map[string]string

func (s secrets) add(name, value string) string {
	if parts := strings.Split(value, "."); len(parts) == 3 {
		s[name] = parts[2]
	} else {
		s[name] = strings.TrimPrefix(value, "a2a_alice_")
	}
	return value
}

// absent fails the test where one of the secrets is in a text.
func (s secrets) absent(t *testing.T, where, text string) {
	t.Helper()
	for name, value := range s {
		if value != "" && strings.Contains(text, value) {
			t.Errorf("%s: holds the %s", where, name)
		}
	}
}

// shown are the credentials of callers, good and bad, as header lines.
func (s *indiscreet) shown(t *testing.T, w *proxytest.Gateway, hidden secrets) map[string][]string {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	proxytest.Must(t, err)
	p := prover{key}
	bound := s.jwt(t, map[string]any{"cnf": map[string]any{"jkt": p.thumbprint(t)}})
	proof := hidden.add("proof", p.proof(t, w.Base, bound))
	elsewhere := hidden.add("proof for elsewhere", p.proof(t, w.Base+"/x", bound))
	hidden.add("bound token", bound)
	bearer := func(name, token string) []string { return []string{"Authorization: Bearer " + hidden.add(name, token)} }
	good := s.jwt(t, nil)
	wrong := "a2a_alice_" + strings.Repeat("canary0", 6) + "x"
	return map[string][]string{
		"token":                bearer("token", good),
		"token, signed badly":  bearer("badly signed token", good[:len(good)-8]+"AAAAAAAA"),
		"token, expired":       bearer("expired token", s.jwt(t, map[string]any{"exp": 1})),
		"token for others":     bearer("token for others", s.jwt(t, map[string]any{"aud": "x"})),
		"token of others":      bearer("token of others", s.jwt(t, map[string]any{"iss": "https://x.example"})),
		"token without sub":    bearer("token without sub", s.jwt(t, map[string]any{"sub": ""})),
		"token with odd act":   bearer("token with odd act", s.jwt(t, map[string]any{"act": "x"})),
		"token with odd cnf":   bearer("token with odd cnf", s.jwt(t, map[string]any{"cnf": 1})),
		"token in another one": bearer("token in another one", s.jwt(t, map[string]any{"sub": good + "\n"})),
		"no token":             bearer("no token", "canary-without,dots"),
		"opaque":               bearer("opaque token", "good-canary"),
		"opaque, ended":        bearer("ended opaque token", "ended-canary"),
		"opaque, of another":   bearer("opaque token of another", "another-canary"),
		"opaque, repeated":     bearer("repeated opaque token", "repeated-canary"),
		"key":                  {"X-API-Key: " + hidden.add("key", w.Keys["alice"])},
		"key, wrong":           {"X-API-Key: " + hidden.add("wrong key", wrong)},
		"key, cut":             {"X-API-Key: " + wrong[:40]},
		"key as token":         {"Authorization: Bearer " + wrong},
		"key and token":        {"X-API-Key: " + w.Keys["alice"], "Authorization: Bearer " + good},
		"basic":                {"Authorization: Basic " + hidden.add("password", "Y2FuYXJ5OmNhbmFyeQ==")},
		"bound":                {"Authorization: DPoP " + bound, "DPoP: " + proof},
		"bound, repeated":      {"Authorization: DPoP " + bound, "DPoP: " + proof},
		"bound, for elsewhere": {"Authorization: DPoP " + bound, "DPoP: " + elsewhere},
		"bound, twice":         {"Authorization: DPoP " + bound, "DPoP: " + proof, "DPoP: " + elsewhere},
		"bound, odd proof":     {"Authorization: DPoP " + bound, "DPoP: " + hidden.add("odd proof", "canary-proof")},
		"bound, no proof":      {"Authorization: DPoP " + bound},
		"bound, as bearer":     {"Authorization: Bearer " + bound, "DPoP: " + proof},
		"in another header":    {"X-Forwarded-Access-Token: " + good},
		"in the wrong scheme":  {"Authorization: Token " + good},
	}
}

// fleetOf are agents that are shown a credential of each kind.
func (s *indiscreet) fleetOf(card string, hidden secrets) []agents.Config {
	exchange := &credentials.Exchange{TokenURL: secret.URL(s.URL + "/token?k=" + hidden.add("query", "query-canary")), ClientID: "gw",
		ClientSecret: secret.New(hidden.add("client secret of exchange", "exchange-canary"))}
	var all []agents.Config
	for id, c := range map[string]credentials.Credential{
		"value":     {Value: secret.New("Bearer " + hidden.add("static value", "static-canary"))},
		"oauth2":    {OAuth2: &credentials.OAuth2{TokenURL: secret.URL(s.URL + "/token"), ClientID: "gw", ClientSecret: secret.New(hidden.add("client secret", "oauth2-canary"))}},
		"exchange":  {Exchange: exchange},
		"assertion": {Assertion: &credentials.Assertion{}},
		"passes":    {Passthrough: true},
		"demanded":  {Exchange: exchange, On: "auth-required"},
	} {
		a := agents.Config{ID: id}
		a.Card.URL, a.Credentials = secret.URL(card), []credentials.Credential{c}
		all = append(all, a)
	}
	return all
}

// TestNoCredentialIsShown: whatever callers show, and whatever becomes of it, neither
// answers nor logs, records and metrics have any of it, nor of what the gateway shows.
func TestNoCredentialIsShown(t *testing.T) {
	t.Parallel()
	s, hidden := newIndiscreet(t), secrets{"issued token": "issued-canary"}
	w := proxytest.NewGateway(t, func(o *proxytest.Setup) {
		o.Level = "debug"
		o.Authn.Failures.PerMinute = -1
		o.Authn.APIKeys.Bearer = true
		o.Authn.OIDC = []jwt.Issuer{{Issuer: s.URL, Audiences: []string{"gw"}, Introspection: &jwt.Introspection{
			ClientID: "gw", ClientSecret: secret.New(hidden.add("introspection secret", "introspection-canary"))}}}
		o.More = s.fleetOf(o.Agent.Card.URL.Reveal(), hidden)
		o.Upstream.Sign, o.Upstream.Issuer = s.ring.Sign, "https://gw.example"
	})
	calls, good := 0, map[bool]int{}
	ask := func(name, address string, lines []string) {
		t.Helper()
		calls++
		got := w.Do("", "POST", address, proxytest.RPCBody("SendMessage", proxytest.Message("")), append([]string{"A2A-Version: 1.0"}, lines...)...)
		good[got.Status == http.StatusOK]++
		hidden.absent(t, name+": answer", fmt.Sprint(got.Header)+got.Body)
	}
	shown := s.shown(t, w, hidden)
	for _, name := range slices.Sorted(maps.Keys(shown)) {
		ask(name, w.Base, shown[name])
	}
	ask("in the query", w.Base+"?access_token="+strings.TrimPrefix(shown["token"][0], "Authorization: Bearer "), nil)
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		id := r.Header.Get("X-Request-Id")
		proxytest.Respond(rw, r, `{"task":{"id":"`+id+`","contextId":"`+id+`","status":{"state":"TASK_STATE_AUTH_REQUIRED"}}}`)
	})
	for _, mood := range []string{"good", "odd type", "declined", "down", "redirect", "gone"} {
		s.in(mood)
		for _, agent := range []string{"value", "oauth2", "exchange", "assertion", "passes", "demanded"} {
			// Each with a token of its own, for which there is no answer yet.
			token := hidden.add("token for "+agent+", "+mood, s.jwt(t, map[string]any{"jti": rand.Text()}))
			ask(agent+", "+mood, w.URL+"/agents/"+agent, []string{"Authorization: Bearer " + token})
		}
	}
	if good[true] < 8 || good[false] < 30 {
		t.Errorf("%d good and %d bad calls: most have not come far", good[true], good[false])
	}
	proxytest.Eventually(t, "record of each call", func() bool { return len(w.Audited("call")) == calls })
	for i, r := range w.Agent.Take() { // assertions among them
		hidden.add(fmt.Sprintf("credential of call %d to the agent", i), r.Header.Get("Authorization"))
	}
	hidden.absent(t, "logs", w.Logs.String())
	files, _ := filepath.Glob(filepath.Join(w.Dir, "audit", "*"))
	for _, name := range files {
		text, err := os.ReadFile(name)
		proxytest.Must(t, err)
		hidden.absent(t, "audit record", string(text))
	}
	metrics := httptest.NewRecorder()
	w.Telemetry.Handler().ServeHTTP(metrics, httptest.NewRequest(http.MethodGet, "/", nil))
	hidden.absent(t, "metrics", metrics.Body.String())
}
