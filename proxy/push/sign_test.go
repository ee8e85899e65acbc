package push

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/internal/keys"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

const issuer = "https://gateway.example"

// signing gives a worker keys, and a verifier that knows them by their JWKS alone.
func signing(t *testing.T, algorithm string) (func(*WorkerOptions), *oidc.IDTokenVerifier, func(audience string) *oidc.IDTokenVerifier) {
	t.Helper()
	ring, err := keys.Open(keys.Config{Dir: t.TempDir(), Algorithm: algorithm}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(ring.Close)
	published := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(ring.JWKS()) }))
	t.Cleanup(published.Close)
	set := oidc.NewRemoteKeySet(context.WithoutCancel(t.Context()), published.URL)
	verifier := func(audience string) *oidc.IDTokenVerifier {
		return oidc.NewVerifier(issuer, set, &oidc.Config{
			ClientID: audience, SupportedSigningAlgs: []string{oidc.ES256, oidc.EdDSA},
			Now: newClock().Now,
		})
	}
	return func(o *WorkerOptions) { o.Sign, o.Issuer, o.Name = ring.Sign, issuer, "gw-1" }, verifier("nobody"), verifier
}

func TestSignaturesAreVerifiedByTheJWKS(t *testing.T) {
	t.Parallel()
	for _, algorithm := range []string{"ES256", "EdDSA"} {
		t.Run(algorithm, func(t *testing.T) {
			t.Parallel()
			sign, stranger, verifier := signing(t, algorithm)
			b := work(t, open(), sign)
			r := receive(t, b.clock, nil)
			b.push(t, notification(r.URL, "t1", 0))
			b.await(t, Delivered, 1)
			g := r.seen()[0]
			jwt := g.header.Get("A2A-Notification-Signature")
			token, err := verifier(r.URL).Verify(t.Context(), jwt)
			if err != nil {
				t.Fatal(err)
			}
			var c claims
			if err := token.Claims(&c); err != nil {
				t.Fatal(err)
			}
			digest := sha256.Sum256([]byte(g.body))
			want := claims{
				Issuer: issuer, Audience: r.URL, IssuedAt: g.at.Unix(), Expires: g.at.Unix() + 300,
				ID: "t1-0", Task: "t1", Digest: hex.EncodeToString(digest[:]),
			}
			if diff := cmp.Diff(want, c); diff != "" {
				t.Errorf("claims (-want +got):\n%s", diff)
			}
			if _, err := stranger.Verify(t.Context(), jwt); err == nil {
				t.Error("it is good for another receiver")
			}
			parsed, err := jose.ParseSigned(jwt, []jose.SignatureAlgorithm{jose.ES256, jose.EdDSA})
			if err != nil || parsed.Signatures[0].Header.ExtraHeaders[jose.HeaderType] != signatureType {
				t.Errorf("header %v, %v", parsed, err)
			}
		})
	}
}

// TestHeaders lists, for each kind of receiver, everything that it is sent.
func TestHeaders(t *testing.T) {
	t.Parallel()
	sign, _, _ := signing(t, "EdDSA")
	b := work(t, open(), sign)
	r := receive(t, b.clock, nil)
	const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	for name, tc := range map[string]struct {
		d    Delivery
		want http.Header
	}{
		"1.0, all": {
			Delivery{Version: wire.V10, Token: secret.New("tok"), Scheme: "Bearer", Credentials: secret.New("cred"), Traceparent: trace},
			http.Header{
				"Content-Type": {"application/a2a+json"}, "A2a-Notification-Token": {"tok"}, "X-A2a-Notification-Token": {"tok"},
				"Authorization": {"Bearer cred"}, "Traceparent": {trace},
			},
		},
		"1.0, bare":         {Delivery{Version: wire.V10}, http.Header{"Content-Type": {"application/a2a+json"}}},
		"1.0, own type":     {Delivery{Version: wire.V10, ContentType: "application/json"}, http.Header{"Content-Type": {"application/json"}}},
		"basic":             {Delivery{Version: wire.V10, Scheme: "Basic", Credentials: secret.New("YTpi")}, http.Header{"Content-Type": {"application/a2a+json"}, "Authorization": {"Basic YTpi"}}},
		"another scheme":    {Delivery{Version: wire.V10, Scheme: "ApiKey", Credentials: secret.New("k")}, http.Header{"Content-Type": {"application/a2a+json"}, "Authorization": {"ApiKey k"}}},
		"scheme alone":      {Delivery{Version: wire.V10, Scheme: "Basic"}, http.Header{"Content-Type": {"application/a2a+json"}}},
		"credentials alone": {Delivery{Version: wire.V10, Credentials: secret.New("k")}, http.Header{"Content-Type": {"application/a2a+json"}}},
		"0.3":               {Delivery{Version: wire.V03, Token: secret.New("tok")}, http.Header{"Content-Type": {"application/json"}, "X-A2a-Notification-Token": {"tok"}}},
		"0.1":               {Delivery{Version: wire.V01, Token: secret.New("tok")}, http.Header{"Content-Type": {"application/json"}, "X-A2a-Notification-Token": {"tok"}}},
		"bearer of ours":    {Delivery{Version: wire.V03, Scheme: "bearer"}, http.Header{"Content-Type": {"application/json"}, "Authorization": {"bearer SIGNATURE"}}},
	} {
		d := tc.d
		d.ID, d.URL, d.Agent, d.Task, d.Config, d.Body = name, r.URL+"/"+strconv.Itoa(len(name)), "a", name, "c", []byte("{}")
		b.push(t, &d)
		var g got
		wait(t, name, func() bool {
			all := r.seen()
			i := slices.IndexFunc(all, func(g got) bool { return g.id() == name })
			if i >= 0 {
				g = all[i]
			}
			return i >= 0
		})
		signature := g.header.Get("A2A-Notification-Signature")
		if tc.want.Get("Authorization") == "bearer SIGNATURE" {
			tc.want.Set("Authorization", "bearer "+signature)
		}
		tc.want.Set("Webhook-Id", name)
		tc.want.Set("Webhook-Timestamp", strconv.FormatInt(g.at.Unix(), 10))
		tc.want.Set("A2A-Notification-Signature", signature)
		tc.want.Set("User-Agent", "a2a-gateway")
		tc.want.Set("Via", "1.1 gw-1")
		tc.want.Set("Content-Length", "2")
		if diff := cmp.Diff(tc.want, g.header); diff != "" || signature == "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestEveryAttemptIsSignedAnew: an hour later the first signature is of no use.
func TestEveryAttemptIsSignedAnew(t *testing.T) {
	t.Parallel()
	sign, _, _ := signing(t, "ES256")
	b := work(t, open(), sign)
	r := receive(t, b.clock, func(w http.ResponseWriter, _ got) { w.WriteHeader(http.StatusNotFound) })
	b.push(t, notification(r.URL, "t1", 0))
	b.await(t, outcomeFailed, 12)
	stamps := map[string]bool{}
	for _, g := range r.seen() {
		stamps[g.header.Get("A2A-Notification-Signature")] = true
		if at, err := strconv.ParseInt(g.header.Get("Webhook-Timestamp"), 10, 64); err != nil || time.Unix(at, 0).Sub(g.at).Abs() > time.Second {
			t.Errorf("stamped %d at %s: %v", at, g.at, err)
		}
	}
	if len(stamps) < 12 {
		t.Errorf("%d signatures for 12 attempts", len(stamps))
	}
}
