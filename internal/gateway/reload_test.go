package gateway_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/demo"
	"github.com/a2a-gateway/a2a-gateway/internal/gateway"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

const openPolicy = "policy: {rules: [{name: all, effect: allow}]}\n"

// reload writes a configuration and has it loaded, as Follow does.
func (w *world) reload(g *gateway.Gateway, yaml string) error {
	w.write(yaml)
	cfg, err := config.Load(w.path)
	if err != nil {
		g.ReportReload([32]byte{}, err)
		return err
	}
	return g.Reload(w.t.Context(), cfg)
}

// sse is one open event stream.
type sse struct {
	body io.ReadCloser
	in   *bufio.Reader
}

// openStream opens one and reads its first event.
func openStream(c *http.Client, url string, credential http.Header, id string) (*sse, error) {
	req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(sendBody("SendStreamingMessage", id)))
	if err != nil {
		return nil, err
	}
	req.Header = sendHeader(credential)
	resp, err := c.Do(req)
	if err != nil {
		return nil, err
	}
	s := &sse{resp.Body, bufio.NewReader(resp.Body)}
	first, err := s.next()
	if err != nil || !strings.Contains(first, "WORKING") {
		return nil, errors.Join(fmt.Errorf("stream %s began with %q, status %d", id, first, resp.StatusCode), err)
	}
	return s, nil
}

// next is the data of the next event.
func (s *sse) next() (string, error) {
	var data strings.Builder
	for {
		line, err := s.in.ReadString('\n')
		if err != nil {
			return data.String(), err
		}
		line = strings.TrimSuffix(line, "\n")
		if rest, ok := strings.CutPrefix(line, "data:"); ok {
			data.WriteString(strings.TrimSpace(rest))
		}
		if line == "" && data.Len() > 0 {
			return data.String(), nil
		}
	}
}

// finish reads the stream to its end and gives the last event. An end that is
// not the proper end of the response is an error.
func (s *sse) finish() (string, error) {
	defer s.body.Close()
	last := ""
	for {
		event, err := s.next()
		if errors.Is(err, io.EOF) && event == "" {
			return last, nil
		}
		if err != nil {
			return last, err
		}
		last = event
	}
}

// R1: nothing is lost over reloads, whatever the files are worth.
func TestReloadUnderLoad(t *testing.T) {
	testenv.Long(t, "calls are made while configurations change")
	t.Parallel()
	const reloads, callers, streams = 60, 32, 60
	w := newWorld(t)
	agent := newCounter(t, nil)
	agents := fmt.Sprintf("agents: [{id: a, card: %q}]\n", agent.CardURL)
	good := w.yaml(plain, openPolicy+agents)
	more := strings.Replace(openPolicy, "]", ", {name: no, effect: deny, subjects: [nobody]}]", 1)
	files := []string{
		good,                       // the same
		w.yaml(plain, more+agents), // another one
		"server: [",                // not a configuration
		good + "unknown: true\n",   // one with a mistake
		// one that cannot be built
		w.yaml(plain, openPolicy+`agents: [{id: a, card: "http://127.0.0.1:1/", tls: {ca: missing.pem}}]`),
		strings.Replace(good, "id: test", "id: other", 1), // one that needs a restart
	}
	g := w.start(good)
	credential := w.token("caller")
	url := g.URL() + "/agents/a"

	c := client(t)
	c.Timeout = 0 // streams last
	open := make([]*sse, streams)
	for i := range open {
		var err error
		if open[i], err = openStream(c, url, credential, fmt.Sprintf("stream-%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	stop := make(chan struct{})
	var sent, answered atomic.Int64
	var calling sync.WaitGroup
	for i := range callers {
		calling.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				id := fmt.Sprintf("call-%d-%d", i, n)
				sent.Add(1)
				status, body, err := try(c, http.MethodPost, url, sendHeader(credential), sendBody("SendMessage", id))
				if err != nil || status != http.StatusOK || !strings.Contains(body, `"re-`+id+`"`) {
					t.Errorf("call %s: status %d, body %q, error %v", id, status, body, err)
					continue
				}
				answered.Add(1)
			}
		})
	}
	for i := range reloads {
		before := answered.Load()
		err := w.reload(g, files[i%len(files)])
		if bad := i%len(files) >= 2; bad != (err != nil) {
			t.Errorf("reload of file %d: error %v", i%len(files), err)
		}
		eventually(t, "calls go on", func() bool { return answered.Load() >= before+callers || t.Failed() })
	}
	close(stop)
	calling.Wait()
	close(agent.release)
	for i, s := range open {
		if last, err := s.finish(); err != nil || !strings.Contains(last, "COMPLETED") {
			t.Errorf("stream %d ended with %q, error %v", i, last, err)
		}
	}
	if sent.Load() != answered.Load() {
		t.Errorf("%d calls sent, %d answered", sent.Load(), answered.Load())
	}
	if n, twice := agent.calls(); int64(n) != sent.Load()+streams || twice != nil {
		t.Errorf("%d calls sent and %d streams; the agent saw %d, not once: %v", sent.Load(), streams, n, twice)
	}
	if n := agent.cards.Load(); n != 1 {
		t.Errorf("the card of an agent that did not change was fetched %d times", n)
	}
	t.Logf("%d calls and %d streams over %d reloads", sent.Load(), streams, reloads)
}

// A bad file leaves everything as it is, and says so where operators look.
func TestReloadRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := newCounter(t, nil)
	good := w.yaml(plain, openPolicy+fmt.Sprintf("agents: [{id: a, card: %q}]\n", agent.CardURL))
	swap := func(old, now string) string { return strings.Replace(good, old, now, 1) }
	tests := []struct{ name, yaml, want string }{
		{"not YAML", "server: [", "config.yaml:"},
		{"unknown key", good + "wrong: true\n", "wrong"},
		{"unknown agent in a rule", swap("effect: allow", "effect: allow, agents: [b]"), `"b" is not configured`},
		{"missing CA", swap("id: a,", "id: a, tls: {ca: missing.pem},"), "missing.pem"},
		{"another id", swap("id: test", "id: other"), "server.id: changing it needs a restart"},
		{"another state", good + "state: {memory: {records: 5}}\n", "state: changing it needs a restart"},
		{"another audit log", good + "telemetry: {audit: {dir: x}}\n", "telemetry.audit: changing it needs a restart"},
		{"another address", swap(`address: "127.0.0.1:0"`, `address: "127.0.0.1:1"`), "server.address"},
		{"another log format", good + "telemetry: {logs: {format: text}}\n", "telemetry.logs.format"},
		{"unusable keys", swap("keys.yaml", "config.yaml"), "authn"},
	}
	g := w.start(good)
	credential := w.token("caller")
	for _, tt := range tests {
		err := w.reload(g, tt.yaml)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want one with %q", tt.name, err, tt.want)
			continue
		}
		if _, ready := fetch(t, g.StatusURL()+"/readyz?verbose", nil); !strings.Contains(ready, "config: failed:") ||
			!strings.Contains(ready, tt.want) {
			t.Errorf("%s: /readyz says %q", tt.name, ready)
		}
		if n := metric(t, g, "a2a_gateway_config_last_reload_successful"); n != "0" {
			t.Errorf("%s: config_last_reload_successful is %s", tt.name, n)
		}
		if !strings.Contains(w.log.String(), "the old one stays") {
			t.Errorf("%s: the log does not say so", tt.name)
		}
		if status, body := call(t, g, "a", credential); status != http.StatusOK {
			t.Fatalf("%s: a call is then answered %d %s", tt.name, status, body)
		}
	}
	if err := w.reload(g, good); err != nil {
		t.Fatal(err)
	}
	if status, ready := fetch(t, g.StatusURL()+"/readyz?verbose", nil); status != http.StatusOK ||
		!strings.Contains(ready, "config: ok") {
		t.Errorf("after a good reload /readyz says %d %q", status, ready)
	}
	if n := metric(t, g, "a2a_gateway_config_last_reload_successful"); n != "1" {
		t.Errorf("after a good reload config_last_reload_successful is %s", n)
	}
}

var calls atomic.Int64 // numbers messages

// call sends one message.
func call(t testing.TB, g *gateway.Gateway, agent string, credential http.Header) (int, string) {
	t.Helper()
	id := fmt.Sprintf("m-%d", calls.Add(1))
	status, body, err := try(client(t), http.MethodPost, g.URL()+"/agents/"+agent,
		sendHeader(credential), sendBody("SendMessage", id))
	if err != nil {
		t.Fatal(err)
	}
	return status, body
}

// metric is the value of the first series that begins with the name.
func metric(t testing.TB, g *gateway.Gateway, series string) string {
	t.Helper()
	_, body := fetch(t, g.StatusURL()+"/metrics", nil)
	for line := range strings.Lines(body) {
		if value, ok := strings.CutPrefix(line, series); ok {
			return value[strings.LastIndexByte(value, ' ')+1 : len(value)-1]
		}
	}
	t.Errorf("no metric %s", series)
	return ""
}

// What a reload did not change goes on with its connections, its card and its
// keys; what it adds is there at once, and what it removes is gone.
func TestReloadKeepsAndReplaces(t *testing.T) {
	w := newWorld(t)
	fetches := countKeyFetches(t, w)
	kept, changed := newCounter(t, nil), newCounter(t, nil)
	removed, added := newCounter(t, nil), newCounter(t, nil)
	line := func(id string, a *counter, more string) string {
		return fmt.Sprintf("  - {id: %s, card: %q%s}\n", id, a.CardURL, more)
	}
	g := w.start(w.yaml(plain, openPolicy+"agents:\n"+
		line("kept", kept, "")+line("changed", changed, "")+line("removed", removed, "")))
	credential := w.token("caller")
	for _, id := range []string{"kept", "changed", "removed"} {
		if status, body := call(t, g, id, credential); status != http.StatusOK {
			t.Fatalf("%s: %d %s", id, status, body)
		}
	}
	dials := kept.dials.Load()
	err := w.reload(g, w.yaml(plain, openPolicy+"agents:\n"+line("added", added, "")+
		line("changed", changed, ", connections: 7")+line("kept", kept, "")))
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]int{
		"kept": http.StatusOK, "changed": http.StatusOK, "added": http.StatusOK, "removed": http.StatusNotFound,
	} {
		if status, body := call(t, g, id, credential); status != want {
			t.Errorf("%s: %d %s, want %d", id, status, body, want)
		}
	}
	for name, a := range map[string]struct {
		agent *counter
		cards int64
	}{"kept": {kept, 1}, "changed": {changed, 2}, "removed": {removed, 1}, "added": {added, 1}} {
		if n := a.agent.cards.Load(); n != a.cards {
			t.Errorf("%s: its card was fetched %d times, want %d", name, n, a.cards)
		}
	}
	if n := kept.dials.Load(); n != dials {
		t.Errorf("kept: %d connections before the reload, %d after", dials, n)
	}
	if n := fetches.Load(); n != 1 {
		t.Errorf("the issuer's keys were fetched %d times", n)
	}
	if n := metric(t, g, `a2a_gateway_card_fetch_total{agent="added",result="ok"}`); n != "1" {
		t.Errorf("added: %s fetches of its card are counted", n)
	}
	if _, all := fetch(t, g.StatusURL()+"/metrics", nil); strings.Contains(all, `agent="removed"`) {
		t.Error("there are metrics of the removed agent")
	}
	_, ready := fetch(t, g.StatusURL()+"/readyz?verbose", nil)
	if strings.Contains(ready, "removed") || !strings.Contains(ready, "agent added: ok") {
		t.Errorf("/readyz says %q", ready)
	}
}

// countKeyFetches puts a counting proxy in front of the issuer.
func countKeyFetches(t *testing.T, w *world) *atomic.Int64 {
	t.Helper()
	var n atomic.Int64
	var proxy atomic.Pointer[httputil.ReverseProxy]
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	front := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/jwks" {
			n.Add(1)
		}
		proxy.Load().ServeHTTP(rw, r)
	}))
	t.Cleanup(func() { front.CloseClientConnections(); front.Close() })
	address := freeAddress(t)
	issuer, err := demo.NewIssuer(demo.IssuerOptions{Address: address, URL: front.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = issuer.Close(context.Background()) })
	proxy.Store(&httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL.Scheme, r.Out.URL.Host = "http", address
	}})
	w.issuer = issuer
	return &n
}

// A reload takes over what only the file says: the URL in cards, the log level.
func TestReloadTakesOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := newCounter(t, nil)
	sections := openPolicy + fmt.Sprintf("agents: [{id: a, card: %q}]\n", agent.CardURL)
	g := w.start(w.yaml(plain, sections+"telemetry: {logs: {level: error}}\n"))
	credential := w.token("caller")
	call(t, g, "a", credential)
	if log := w.log.String(); strings.Contains(log, "SendMessage") {
		t.Errorf("at level error a call is logged: %s", log)
	}
	next := w.yaml(`publicURL: "http://localhost"`, sections+"telemetry: {logs: {level: info}}\n")
	if err := w.reload(g, next); err != nil {
		t.Fatal(err)
	}
	call(t, g, "a", credential)
	eventually(t, "the call is logged", func() bool { return strings.Contains(w.log.String(), "SendMessage") })
	_, card := fetch(t, g.URL()+"/agents/a/.well-known/agent-card.json", nil)
	port := g.URL()[strings.LastIndexByte(g.URL(), ':'):]
	if want := `"http://localhost` + port + `/agents/a"`; !strings.Contains(card, want) {
		t.Errorf("the card has no %s: %s", want, card)
	}
}

// New certificates serve new handshakes after a reload, and connections go on.
func TestReloadCertificates(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := newCounter(t, nil)
	server, transport := w.secure()
	first := transport()
	t.Cleanup(first.CloseIdleConnections)
	yaml := w.yaml(server, openPolicy+fmt.Sprintf("agents: [{id: a, card: %q}]\n", agent.CardURL))
	g := w.start(yaml)
	url := g.URL() + "/agents/a/.well-known/agent-card.json"
	old := &http.Client{Transport: first}
	if status, body, err := try(old, http.MethodGet, url, nil, ""); status != http.StatusOK {
		t.Fatal(status, body, err)
	}
	pool := certificate(t, filepath.Join(w.dir, "cert.pem"), filepath.Join(w.dir, "key.pem"), "second")
	if err := w.reload(g, yaml); err != nil {
		t.Fatal(err)
	}
	if status, _, err := try(old, http.MethodGet, url, nil, ""); status != http.StatusOK {
		t.Errorf("the open connection: status %d, error %v", status, err)
	}
	conn, err := tls.Dial("tcp", strings.TrimPrefix(g.URL(), "https://"), &tls.Config{RootCAs: pool})
	if err != nil {
		t.Fatalf("handshake with the new certificate: %v", err)
	}
	defer conn.Close()
	if name := conn.ConnectionState().PeerCertificates[0].Subject.CommonName; name != "second" {
		t.Errorf("the new connection got the certificate %q", name)
	}
}
