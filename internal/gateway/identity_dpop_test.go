package gateway_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
	a2agrpc "github.com/a2aproject/a2a-go/v2/a2agrpc/v1"
	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"github.com/a2a-gateway/a2a-gateway/internal/demo"
	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
)

// holder is a client that has a key of its own and proves it with each call (RFC 9449).
// What a thief could do instead is in the fields.
type holder struct {
	t     testing.TB
	key   *ecdsa.PrivateKey
	token string

	scheme string            // of the token, in the place of DPoP
	silent bool              // no proof
	signer *ecdsa.PrivateKey // in the place of key
	target string            // of all proofs, in the place of each call's
	claims map[string]any    // of all proofs
	nonces bool              // does as it is told in DPoP-Nonce

	mu    sync.Mutex
	nonce string
	again string // the proof of the last call
	twice bool   // shows it again
}

func newHolder(t testing.TB, w *world) *holder {
	t.Helper()
	h := &holder{t: t, key: newKey(t)}
	token, err := w.issuer.Issue("alice", demo.IssueOptions{Claims: map[string]any{
		"cnf": map[string]any{"jkt": h.thumbprint()},
	}})
	if err != nil {
		t.Fatal(err)
	}
	h.token = token
	return h
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func (h *holder) thumbprint() string {
	sum, err := (&jose.JSONWebKey{Key: h.key.Public()}).Thumbprint(crypto.SHA256)
	if err != nil {
		h.t.Fatal(err)
	}
	return base64.RawURLEncoding.EncodeToString(sum)
}

// header is what goes along with one call.
func (h *holder) header(method, address string) (map[string]string, error) {
	scheme := "DPoP"
	if h.scheme != "" {
		scheme = h.scheme
	}
	all := map[string]string{"authorization": scheme + " " + h.token}
	if h.silent {
		return all, nil
	}
	proof, err := h.prove(method, address)
	all["dpop"] = proof
	return all, err
}

func (h *holder) prove(method, address string) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.twice && h.again != "" {
		return h.again, nil
	}
	key := h.key
	if h.signer != nil {
		key = h.signer
	}
	if h.target != "" {
		address = h.target
	}
	address, _, _ = strings.Cut(address, "?")
	digest := sha256.Sum256([]byte(h.token))
	claims := map[string]any{
		"jti": rand.Text(), "htm": method, "htu": address, "iat": time.Now().Unix(),
		"ath": base64.RawURLEncoding.EncodeToString(digest[:]),
	}
	if h.nonce != "" {
		claims["nonce"] = h.nonce
	}
	maps.Copy(claims, h.claims)
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key},
		(&jose.SignerOptions{EmbedJWK: true}).WithType("dpop+jwt"))
	if err != nil {
		return "", err
	}
	h.again, err = jwt.Signed(signer).Claims(claims).Serialize()
	return h.again, err
}

// RoundTrip implements http.RoundTripper.
func (h *holder) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	all, err := h.header(r.Method, r.URL.String())
	if err != nil {
		return nil, err
	}
	for name, value := range all {
		r.Header.Set(name, value)
	}
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err == nil && h.nonces {
		h.mu.Lock()
		h.nonce = resp.Header.Get("DPoP-Nonce")
		h.mu.Unlock()
	}
	return resp, err
}

// interceptor proves calls of gRPC to the gateway at base.
func (h *holder) interceptor(base string) grpc.UnaryClientInterceptor {
	return func(ctx context.Context, method string, in, out any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker,
		opts ...grpc.CallOption,
	) error {
		all, err := h.header(http.MethodPost, base+method)
		if err != nil {
			return err
		}
		for name, value := range all {
			ctx = metadata.AppendToOutgoingContext(ctx, name, value)
		}
		return invoke(ctx, method, in, out, conn, opts...)
	}
}

// dial gives an SDK's client that calls as the holder does.
func (h *holder) dial(t *testing.T, base string, version a2a.ProtocolVersion, binding a2a.TransportProtocol, sdk gatewaytest.SDK) gatewaytest.Client {
	t.Helper()
	hc := &http.Client{Transport: h}
	if binding != a2a.TransportProtocolGRPC {
		c, _ := gatewaytest.Dial(t, sdk, hc, base+"/agents/a", version, binding)
		return c
	}
	card, err := agentcard.NewResolver(hc).Resolve(t.Context(), base+"/agents/a")
	if err != nil {
		t.Fatal(err)
	}
	one := *card
	one.SupportedInterfaces = nil
	for _, i := range card.SupportedInterfaces {
		if i.ProtocolBinding == binding && i.ProtocolVersion == version {
			one.SupportedInterfaces = append(one.SupportedInterfaces, i)
		}
	}
	c, err := a2aclient.NewFromCard(t.Context(), &one, a2agrpc.WithGRPCTransport(
		grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithNoProxy(), grpc.WithUnaryInterceptor(h.interceptor(base))))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Destroy() })
	return c
}

// proven are the sides over which keys are proved.
func proven() []struct {
	version a2a.ProtocolVersion
	binding a2a.TransportProtocol
	sdk     gatewaytest.SDK
} {
	return []struct {
		version a2a.ProtocolVersion
		binding a2a.TransportProtocol
		sdk     gatewaytest.SDK
	}{
		{"1.0", a2a.TransportProtocolJSONRPC, gatewaytest.Go10},
		{"1.0", a2a.TransportProtocolHTTPJSON, gatewaytest.Go10},
		{"1.0", a2a.TransportProtocolGRPC, gatewaytest.Go10},
		{"0.3", a2a.TransportProtocolJSONRPC, gatewaytest.Go03},
		{"0.3", a2a.TransportProtocolHTTPJSON, gatewaytest.Go10},
	}
}

// greeter answers every call of JSON-RPC with a greeting, and keeps it.
func greeter(t testing.TB) *gatewaytest.Recorder {
	t.Helper()
	r := gatewaytest.NewRecorder(t, "1.0", gatewaytest.Result(greeting))
	r.SetCard(fmt.Appendf(nil, `{"name":"Greeter","description":"Greets.","version":"1","capabilities":{"streaming":true},`+
		`"supportedInterfaces":[{"url":%q,"protocolBinding":"JSONRPC","protocolVersion":"1.0"}],"defaultInputModes":["text/plain"],`+
		`"defaultOutputModes":["text/plain"],"skills":[{"id":"work","name":"Work","description":"Works.","tags":["t"]}]}`, r.URL+"/"))
	return r
}

const greeting = `{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"hello"}]}}`

// TestProofOfPossession: a token that is bound to a key is good in the hands of the
// key's holder, over every binding, and in nobody else's. The agent sees neither token
// nor proof.
func TestProofOfPossession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := greeter(t)
	g := w.start(w.authn("failures: {perMinute: -1}", plain, openPolicy+fmt.Sprintf("agents: [{id: a, card: %s}]\n", everyBinding(agent.CardURL))))
	calls := 0
	for _, side := range proven() {
		good := newHolder(t, w)
		for name, steal := range map[string]func(*holder){
			"no proof":             func(h *holder) { h.silent = true },
			"as a bearer token":    func(h *holder) { h.scheme = "Bearer" },
			"another key":          func(h *holder) { h.signer = newKey(t) },
			"a proof of elsewhere": func(h *holder) { h.target = g.URL() + "/agents/b" },
			"another method":       func(h *holder) { h.claims = map[string]any{"htm": "PUT"} },
			"another token":        func(h *holder) { h.claims = map[string]any{"ath": "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo"} },
			"an old proof":         func(h *holder) { h.claims = map[string]any{"iat": time.Now().Add(-time.Hour).Unix()} },
		} {
			t.Run(string(side.binding)+" "+string(side.version)+" "+name, func(t *testing.T) {
				thief := &holder{t: t, key: good.key, token: good.token}
				client := thief.dial(t, g.URL(), side.version, side.binding, side.sdk)
				steal(thief)
				if _, err := client.SendMessage(t.Context(), say("hello")); err == nil || !unauthenticated(err) {
					t.Errorf("answered with %v", err)
				}
			})
		}
		t.Run(string(side.binding)+" "+string(side.version), func(t *testing.T) {
			client := good.dial(t, g.URL(), side.version, side.binding, side.sdk)
			for range 3 {
				if _, err := client.SendMessage(t.Context(), say("hello")); err != nil {
					t.Fatal(err)
				}
				calls++
			}
			good.twice = true
			if _, err := client.SendMessage(t.Context(), say("hello")); err == nil || !unauthenticated(err) {
				t.Errorf("a proof that was used: %v", err)
			}
		})
		for _, r := range agent.Requests() {
			if all := string(r.Raw); strings.Contains(all, good.token) || strings.Contains(strings.ToLower(all), "dpop") {
				t.Errorf("the agent saw %s", all)
			}
		}
	}
	if n := len(agent.Requests()); n != calls {
		t.Errorf("%d calls reached the agent, of %d that were good", n, calls)
	}
	proofs := 0
	for _, r := range w.records("intent") {
		if r["proof"] == "dpop" && r["principal"] == "alice" {
			proofs++
		}
	}
	if proofs != calls {
		t.Errorf("%d of %d records say how it was proved", proofs, calls)
	}
}

// unauthenticated reports whether an SDK's error says so, in its own way or by the
// status.
func unauthenticated(err error) bool {
	text := strings.ToLower(err.Error())
	return errors.Is(err, a2a.ErrUnauthenticated) || strings.Contains(text, "unauthenticated") || strings.Contains(text, "401")
}

// TestProofWithNonce: where proofs need a value of the gateway's, a client that repeats
// what it was told gets through with its second call, and one that does not never does.
func TestProofWithNonce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := greeter(t)
	config := w.authn("dpop: {nonce: true}", plain, openPolicy+fmt.Sprintf("agents: [{id: a, card: %s}]\n", everyBinding(agent.CardURL)))
	g := w.start(config)
	h := newHolder(t, w)
	call := func() int {
		status, _, err := try(&http.Client{Transport: h}, http.MethodPost, g.URL()+"/agents/a", sendHeader(nil), sendBody("SendMessage", "1"))
		if err != nil {
			t.Fatal(err)
		}
		return status
	}
	if first, second := call(), call(); first != http.StatusUnauthorized || second != http.StatusUnauthorized {
		t.Errorf("without a nonce: %d and %d", first, second)
	}
	h.nonces = true
	if first, second, third := call(), call(), call(); first != http.StatusUnauthorized || second != http.StatusOK || third != http.StatusOK {
		t.Errorf("with a nonce: %d, %d and %d", first, second, third)
	}
	// A reload neither forgets what was proved nor the values that are out.
	h.nonces = false
	if err := w.reload(g, config+"telemetry: {logs: {level: warn}}\n"); err != nil {
		t.Fatal(err)
	}
	h.twice = true
	if status := call(); status != http.StatusUnauthorized {
		t.Errorf("a proof from before the reload: %d", status)
	}
	h.twice = false
	if status := call(); status != http.StatusOK {
		t.Errorf("a nonce from before the reload: %d", status)
	}
}
