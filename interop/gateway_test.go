package interop_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// token is an access token and who issued it.
type token struct{ issuer, value string }

const audience = "https://gateway.example"

// accessToken asks the issuer's token endpoint, as any client would.
func accessToken(t *testing.T, issuer program) token {
	t.Helper()
	form := url.Values{"grant_type": {"client_credentials"}, "scope": {"a2a.invoke"}, "resource": {audience}}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, issuer.URL+"/token",
		strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.SetBasicAuth("interop", "interop-secret")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var answer struct {
		Token string `json:"access_token"`
		Error string `json:"error_description"`
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || answer.Token == "" {
		t.Fatalf("token endpoint: %s, %v %s", response.Status, err, answer.Error)
	}
	return token{issuer: issuer.URL, value: answer.Token}
}

// gateway is the running gateway in front of the agents.
type gateway struct {
	binary, dir string
	url         string
	token       string
	keys        map[string]string // by agent id, bound to it
	log         lockedBuffer
}

// startGateway builds the gateway and starts it in front of the agents.
func startGateway(t *testing.T, agents []agent, token token) *gateway {
	t.Helper()
	dir := t.TempDir()
	g := &gateway{binary: buildGateway(t), dir: dir, token: token.value, keys: map[string]string{}}
	for _, a := range agents {
		g.keys[a.id] = g.key(t, a.id)
	}
	file := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(file, []byte(gatewayConfig(dir, agents, token.issuer)), 0o600); err != nil {
		t.Fatal(err)
	}
	g.serve(t, file)
	return g
}

// buildGateway gives the file name of the program.
func buildGateway(t *testing.T) string {
	t.Helper()
	binary, err := gatewayProgram()
	if err != nil {
		t.Fatalf("build the gateway: %v", err)
	}
	return binary
}

// key makes a credential that is bound to an agent.
func (g *gateway) key(t *testing.T, id string) string {
	t.Helper()
	return g.unboundKey(t, id, "--agent", id, "--scope", "a2a.invoke")
}

// unboundKey makes one that is good for all agents, unless the options say otherwise.
func (g *gateway) unboundKey(t *testing.T, id string, options ...string) string {
	t.Helper()
	//nolint:noctx // the test has its own timeout
	out, err := exec.Command(g.binary, append([]string{"keys", "create", "--file", filepath.Join(g.dir, "keys.yaml"),
		"--id", id, "-o", "json"}, options...)...).Output()
	var made struct {
		Key string `json:"key"`
	}
	if err == nil {
		err = json.Unmarshal(out, &made)
	}
	if err != nil || made.Key == "" {
		t.Fatalf("make a key: %v, %s", err, out)
	}
	return made.Key
}

// base is below which an agent's card is.
func (g *gateway) base(id string) string { return g.url + "/agents/" + id }

// headers are the credential of a client: the token, but where nothing else says
// which agent a call is for, as in 0.3 over gRPC, a key that is bound to it.
func (g *gateway) headers(caller side, id string) map[string]string {
	if caller == (side{"0.3", "GRPC"}) {
		return map[string]string{"X-API-Key": g.keys[id]}
	}
	return map[string]string{"Authorization": "Bearer " + g.token}
}

// serve runs the gateway until the test ends.
func (g *gateway) serve(t *testing.T, file string) {
	t.Helper()
	cmd := exec.Command(g.binary, "serve", "-c", file) //nolint:noctx // ended by a signal
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	serving := make(chan string, 1)
	followed := make(chan struct{})
	go follow(stderr, &g.log, serving, followed)
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		killer := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
		defer killer.Stop()
		<-followed
		if err := cmd.Wait(); err != nil {
			t.Errorf("the gateway ended with %v", err)
		}
		if t.Failed() {
			t.Logf("the gateway said:\n%s", g.log.tail(4000))
		}
	})
	select {
	case g.url = <-serving:
	case <-followed:
		t.Fatalf("the gateway did not start\n%s", g.log.tail(4000))
	case <-time.After(patience):
		t.Fatalf("the gateway did not serve\n%s", g.log.tail(4000))
	}
}

func gatewayConfig(dir string, agents []agent, issuer string) string {
	var fleet strings.Builder
	for _, a := range agents {
		fmt.Fprintf(&fleet, "  - {id: %s, card: {url: %q, bindings: [JSONRPC, HTTP+JSON, GRPC]}, endpoints: [%s]}\n", a.id, a.card, strings.Join(a.endpoints, ", "))
	}
	return fmt.Sprintf(`server:
  id: interop
  address: "127.0.0.1:0"
  statusAddress: "127.0.0.1:0"
  publicURL: "http://127.0.0.1"
  dataDir: %q
  limits: {delay: 1h}
  timeouts: {heartbeat: 10ms}
authn:
  oidc: [{issuer: %q, audiences: [%q]}]
  apiKeys: {file: keys.yaml}
policy:
  rules: [{name: interop, effect: allow, agents: ["*"], scopes: [a2a.invoke]}]
push: {mode: passthrough}
streams: {resubscribe: 0s}
agents:
%s`, dir, issuer, audience, fleet.String())
}

// follow keeps the log and notices the line that says where the gateway is.
func follow(stderr io.Reader, log *lockedBuffer, serving chan<- string, done chan<- struct{}) {
	defer close(done)
	in := bufio.NewScanner(stderr)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		_, _ = log.Write(append(in.Bytes(), '\n'))
		var line struct {
			Msg string `json:"msg"`
			URL string `json:"url"`
		}
		if json.Unmarshal(in.Bytes(), &line) == nil && line.Msg == "serving" {
			select {
			case serving <- line.URL:
			default:
			}
		}
	}
}
