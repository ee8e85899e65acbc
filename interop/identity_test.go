package interop_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
)

// TestIdentity has a certified provider and the gateway work together: what the provider
// issues, binds, revokes, exchanges and signs anew is what the gateway makes of it.
func TestIdentity(t *testing.T) {
	if os.Getenv("A2A_GATEWAY_TEST_INTEROP") == "" {
		t.Skip("run by `make interop`")
	}
	needIssuer(t)
	i := &identity{binary: buildGateway(t), issuer: startProvider(t, "")}
	t.Run("tokens", i.tokens)
	t.Run("revoked token", i.revoked)
	t.Run("token bound to a key", i.boundToKey)
	t.Run("token bound to a certificate", i.boundToCertificate)
	t.Run("exchange", i.exchange)
	t.Run("exchange of assertions", i.exchangeAssertions)
	t.Run("client credentials", i.ownToken)
	t.Run("administrators sign in", i.administrators)
	t.Run("rotation", i.rotation)
	t.Run("SDKs that are asked for more", i.askedForMore)
}

// identity is what all tests of it need.
type identity struct {
	binary string
	issuer provider
}

// house is what differs between the gateways of the tests, each in YAML.
type house struct {
	url    string // default: http://127.0.0.1
	tls    string
	issuer string // more of the issuer's entry
	rules  string // default: everybody with the scope a2a.invoke
	agents string
	admin  string
}

// start runs a gateway.
func (i *identity) start(t *testing.T, h house) *gateway {
	t.Helper()
	g := &gateway{binary: i.binary, dir: t.TempDir()}
	if h.url == "" {
		h.url = "http://127.0.0.1"
	}
	if h.rules == "" {
		h.rules = `    - {name: all, effect: allow, agents: ["*"], scopes: [a2a.invoke]}`
	}
	config := fmt.Sprintf(`server:
  id: interop
  address: "127.0.0.1:0"
  statusAddress: "off"
  publicURL: %q
  dataDir: %q
  limits: {delay: 1h}
%s
authn:
  oidc:
    - issuer: %q
      audiences: [%q]
%s
policy:
  rules:
%s
agents:
%s
%s`, h.url, g.dir, h.tls, i.issuer.URL, audience, h.issuer, h.rules, h.agents, h.admin)
	file := filepath.Join(g.dir, "config.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	g.serve(t, file)
	return g
}

// asking has the gateway ask the issuer about tokens that it cannot read.
const asking = `      introspection: {clientID: resource, clientSecret: resource-secret, cache: 1s}`

// recorder is an agent that keeps what it is sent, as an entry of the configuration.
func recorder(t *testing.T, id string, more ...string) (*gatewaytest.Recorder, string) {
	t.Helper()
	r := gatewaytest.NewRecorder(t, "1.0", gatewaytest.Result(`{"message":{"messageId":"m","role":"ROLE_AGENT",`+
		`"parts":[{"text":"done"}]}}`))
	lines := append([]string{"  - id: " + id, "    card: " + r.CardURL}, more...)
	return r, strings.Join(lines, "\n") + "\n"
}

// request is one message with a header.
func (g *gateway) request(t *testing.T, id string, header http.Header) *http.Request {
	t.Helper()
	body := `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":` +
		`{"messageId":"m1","role":"ROLE_USER","parts":[{"text":"message"}]}}}`
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.base(id), strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header = header.Clone()
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("A2A-Version", "1.0")
	return request
}

// send gives the status of the answer, which has to be the agent's or the gateway's.
func send(hc *http.Client, request *http.Request) (int, error) {
	response, err := hc.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if passed := bytes.Contains(answer, []byte(`"done"`)); err == nil && passed != (response.StatusCode == http.StatusOK) {
		err = fmt.Errorf("%s: %s", response.Status, answer)
	}
	return response.StatusCode, err
}

// status sends a message to an agent.
func (g *gateway) status(t *testing.T, hc *http.Client, id string, header http.Header) int {
	t.Helper()
	status, err := send(hc, g.request(t, id, header))
	if err != nil {
		t.Fatal(err)
	}
	return status
}

func bearer(token string) http.Header { return http.Header{"Authorization": {"Bearer " + token}} }

// want checks what calls with a header lead to.
func (g *gateway) want(t *testing.T, what string, header http.Header, status int) {
	t.Helper()
	if got := g.status(t, http.DefaultClient, "agent", header); got != status {
		t.Errorf("%s: the gateway answered %d, want %d", what, got, status)
	}
}

// tokens are accepted as JWTs and, by asking the issuer, as opaque ones.
func (i *identity) tokens(t *testing.T) {
	_, agent := recorder(t, "agent")
	g := i.start(t, house{issuer: asking, agents: agent})
	g.want(t, "JWT", bearer(i.issuer.token(t, grant{client: "interop"}).Token), http.StatusOK)
	opaque := i.issuer.token(t, grant{client: "opaque"}).Token
	if strings.Contains(opaque, ".") {
		t.Fatalf("%q is no opaque token", opaque)
	}
	g.want(t, "opaque token", bearer(opaque), http.StatusOK)
	g.want(t, "opaque token again", bearer(opaque), http.StatusOK)
	g.want(t, "token of a user", bearer(i.issuer.user(t, "alice", "basic")), http.StatusOK)
	g.want(t, "token of nobody", bearer(opaque[:len(opaque)-1]+"~"), http.StatusUnauthorized)
	elsewhere := i.issuer.token(t, grant{client: "interop", form: map[string][]string{
		"grant_type": {"client_credentials"}, "scope": {"a2a.invoke"}, "resource": {"https://elsewhere.example"}}})
	g.want(t, "JWT for another resource", bearer(elsewhere.Token), http.StatusUnauthorized)
	elsewhere = i.issuer.token(t, grant{client: "opaque", form: map[string][]string{
		"grant_type": {"client_credentials"}, "scope": {"a2a.invoke"}, "resource": {"https://elsewhere.example"}}})
	g.want(t, "opaque token for another resource", bearer(elsewhere.Token), http.StatusUnauthorized)
}

// revoked: a token that the provider revokes ends when the answer about it does.
func (i *identity) revoked(t *testing.T) {
	_, agent := recorder(t, "agent")
	g := i.start(t, house{issuer: asking, agents: agent})
	first, second := i.issuer.token(t, grant{client: "opaque"}).Token, i.issuer.token(t, grant{client: "opaque"}).Token
	g.want(t, "before", bearer(first), http.StatusOK)
	g.want(t, "before", bearer(second), http.StatusOK)
	i.issuer.revoke(t, "opaque", first)
	deadline := time.Now().Add(patience)
	for g.status(t, http.DefaultClient, "agent", bearer(first)) != http.StatusUnauthorized {
		if time.Now().After(deadline) {
			t.Fatal("a revoked token is good for ever")
		}
	}
	g.want(t, "the other token", bearer(second), http.StatusOK)
}
