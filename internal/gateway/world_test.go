package gateway_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/a2a-gateway/a2a-gateway/authn/apikey"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/demo"
	"github.com/a2a-gateway/a2a-gateway/internal/gateway"
	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv/certtest"
)

// Whatever a gateway begins must have ended with it: the whole package is one
// test of that.
// net/http lets a connection it refused linger for half a second, by itself, and
// the agents' SDK keeps the events of a task that nobody waited for the end of.
func TestMain(m *testing.M) {
	if path := os.Getenv(costFile); path != "" { // one that a test counts the costs of
		if err := serveCosts(path); err != nil {
			_, _ = fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	testenv.Clear()
	testenv.Overlap()
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait"),
		goleak.IgnoreTopFunction("github.com/a2aproject/a2a-go/v2/a2asrv/eventqueue.newInMemoryEventBroker.func1"))
}

// patience bounds every wait for something that happens by itself. Nothing is
// measured with it.
const patience = time.Minute

// world is what stands around a gateway: a directory, an issuer, keys.
type world struct {
	t      testing.TB
	dir    string
	path   string // of the configuration file
	issuer *demo.Issuer
	log    lockedBuffer
}

func newWorld(t testing.TB) *world {
	t.Helper()
	issuer, err := demo.NewIssuer(demo.IssuerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = issuer.Close(context.Background()) })
	dir := t.TempDir()
	return &world{t: t, dir: dir, path: filepath.Join(dir, "config.yaml"), issuer: issuer}
}

// token is the header of a caller with a bearer token.
func (w *world) token(subject string, groups ...string) http.Header {
	w.t.Helper()
	token, err := w.issuer.Issue(subject, demo.IssueOptions{Groups: groups})
	if err != nil {
		w.t.Fatal(err)
	}
	return http.Header{"Authorization": {"Bearer " + token}}
}

// key is the header of a caller with an API key.
func (w *world) key(id string, groups ...string) http.Header {
	w.t.Helper()
	keys, err := apikey.Open(filepath.Join(w.dir, "keys.yaml"))
	if err != nil {
		w.t.Fatal(err)
	}
	_, key, err := keys.Create(apikey.Spec{ID: id, Groups: groups})
	if err != nil {
		w.t.Fatal(err)
	}
	return http.Header{"X-Api-Key": {key}}
}

// yaml is a configuration with the sections added to it. server stands in the
// server section, a line each. Nobody is refused because the machine has much else to
// do, unless limits stand there.
func (w *world) yaml(server, sections string) string {
	if !strings.Contains(server, "limits:") {
		server += "\nlimits: {delay: 1h}"
	}
	return fmt.Sprintf(`server:
  id: test
  address: "127.0.0.1:0"
  statusAddress: "127.0.0.1:0"
  dataDir: %q
%s
authn:
  oidc: [{issuer: %q, audiences: [a2a-gateway]}]
  apiKeys: {file: keys.yaml}
%s`, w.dir, indent(server), w.issuer.URL, sections)
}

const plain = `publicURL: "http://127.0.0.1"`

func indent(lines string) string { return "  " + strings.ReplaceAll(lines, "\n", "\n  ") }

// write puts the file in place at once, as a careful editor does.
func (w *world) write(yaml string) {
	w.t.Helper()
	next := w.path + ".next"
	if err := os.WriteFile(next, []byte(yaml), 0o600); err != nil {
		w.t.Fatal(err)
	}
	if err := os.Rename(next, w.path); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) load(yaml string) *config.Config {
	w.t.Helper()
	w.write(yaml)
	cfg, err := config.Load(w.path)
	if err != nil {
		w.t.Fatal(err)
	}
	cfg.Telemetry.Logs.Output = &w.log
	return cfg
}

// start runs a gateway until the test ends. Whoever shuts it down before has
// only to do so.
func (w *world) start(yaml string) *gateway.Gateway {
	w.t.Helper()
	g, err := gateway.New(w.t.Context(), w.load(yaml), gateway.Options{Version: "test"})
	if err != nil {
		w.t.Fatal(err)
	}
	g.Start()
	w.t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel() // nothing is left that anybody waits for
		_ = g.Shutdown(ctx)
	})
	return g
}

// lockedBuffer is a log that may be read while it is written.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// eventually waits until something that happens by itself has happened.
func eventually(t testing.TB, what string, happened func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !happened(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %v", what, patience)
		}
	}
}

// client has connections of its own, which end with the test.
func client(t testing.TB) *http.Client {
	transport := &http.Transport{MaxIdleConnsPerHost: 100}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: patience}
}

// fetch is a GET.
func fetch(t testing.TB, url string, header http.Header) (status int, body string) {
	t.Helper()
	status, body, err := try(client(t), http.MethodGet, url, header, "")
	if err != nil {
		t.Fatal(err)
	}
	return status, body
}

func try(c *http.Client, verb, url string, header http.Header, body string) (int, string, error) {
	req, err := http.NewRequest(verb, url, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	for name, values := range header {
		req.Header[name] = values
	}
	resp, err := c.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(answer), err
}

// sendHeader is the header of a JSON-RPC call in 1.0.
func sendHeader(credential http.Header) http.Header {
	header := http.Header{"Content-Type": {"application/json"}, "A2a-Version": {"1.0"}}
	for name, values := range credential {
		header[name] = values
	}
	return header
}

// sendBody is a call under an id, whose message carries the id too.
func sendBody(method, id string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"method":%q,"params":{"message":{"messageId":%q,`+
		`"role":"ROLE_USER","parts":[{"text":"hello"}]}}}`, id, method, id)
}

// certificate writes a self-signed pair for 127.0.0.1 into the files and returns
// a pool that trusts it.
func certificate(t testing.TB, cert, key, name string) *x509.CertPool {
	t.Helper()
	own := certtest.Issue(t, x509.Certificate{
		Subject: pkix.Name{CommonName: name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}, nil)
	own.Write(t, cert, key)
	return own.Pool()
}

// secure is a server section with TLS, and a transport that trusts it and speaks
// HTTP/2.
func (w *world) secure() (server string, transport func() *http.Transport) {
	pool := certificate(w.t, filepath.Join(w.dir, "cert.pem"), filepath.Join(w.dir, "key.pem"), "first")
	return "publicURL: https://127.0.0.1\ntls: {certificates: [{cert: cert.pem, key: key.pem}]}",
		func() *http.Transport {
			return &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}
		}
}

// everyBinding is the card section of an agent whose served card offers gRPC too, which the
// agent's own has not, so that SDKs find it.
func everyBinding(url string) string {
	return fmt.Sprintf("{url: %q, bindings: [JSONRPC, HTTP+JSON, GRPC]}", url)
}

// fleet is an agents section.
func fleet(agents ...*gatewaytest.Agent) string {
	var b strings.Builder
	b.WriteString("agents:\n")
	for _, a := range agents {
		fmt.Fprintf(&b, "  - {id: %q, card: %s}\n", a.ID, everyBinding(a.CardURL))
	}
	return b.String()
}

// follow has the gateway follow its file until the test ends.
func follow(t testing.TB, g *gateway.Gateway, path string, hup <-chan os.Signal) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		g.Follow(ctx, path, hup)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
}
