package frameworks_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// buildGateway gives the file name of the program.
func buildGateway(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "a2a-gateway")
	//nolint:noctx // the test has its own timeout
	build := exec.Command("go", "build", "-C", "../..", "-buildvcs=false", "-o", binary, "./cmd/a2a-gateway")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the gateway: %v\n%s", err, out)
	}
	return binary
}

// gateway is a running one, and a key for it.
type gateway struct {
	url, key string
	log      lockedBuffer
}

// base is below which an agent's card is, with the slash that all clients resolve.
func (g *gateway) base(id string) string { return g.url + "/agents/" + id + "/" }

// entry is an agent in the gateway's configuration.
type entry struct{ id, card, set string }

// startGateway runs a gateway in front of agents until the test ends.
func startGateway(t *testing.T, binary string, agents ...entry) *gateway {
	t.Helper()
	dir := t.TempDir()
	//nolint:noctx // the test has its own timeout
	key, err := exec.Command(binary, "keys", "create", "--file", filepath.Join(dir, "keys.yaml"), "--id", "caller").Output()
	if err != nil {
		t.Fatalf("make a key: %v", err)
	}
	g := &gateway{key: strings.TrimSpace(string(key))}
	file := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(file, []byte(configuration(dir, agents)), 0o600); err != nil {
		t.Fatal(err)
	}
	g.serve(t, binary, file)
	return g
}

func configuration(dir string, agents []entry) string {
	var text strings.Builder
	fmt.Fprintf(&text, `server:
  id: frameworks
  address: "127.0.0.1:0"
  statusAddress: "127.0.0.1:0"
  publicURL: "http://127.0.0.1"
  dataDir: %q
authn: {apiKeys: {file: keys.yaml, bearer: true}}
policy: {rules: [{name: whoever-has-a-key, effect: allow, agents: ["*"]}]}
agents:
`, dir)
	for _, a := range agents {
		fmt.Fprintf(&text, "  - id: %s\n    card: %q\n", a.id, a.card)
		for line := range strings.Lines(a.set) {
			text.WriteString("    " + line)
		}
		text.WriteString("\n")
	}
	return text.String()
}

// serve runs the gateway until the test ends.
func (g *gateway) serve(t *testing.T, binary, file string) {
	t.Helper()
	cmd := exec.Command(binary, "serve", "-c", file) //nolint:noctx // ended by a signal
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
		end(cmd, followed)
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
