package interop_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience bounds waits for programs; nothing is measured with it.
const patience = 60 * time.Second

// requireAll turns skips into failures, for machines that should have all.
func requireAll() bool { return os.Getenv("A2A_GATEWAY_TEST_REQUIRE_ALL") == "1" }

// missing gives the first file or command that is not there.
func missing(needs []string) string {
	for _, need := range needs {
		var err error
		if strings.Contains(need, "/") {
			_, err = os.Stat(need)
		} else {
			_, err = exec.LookPath(need)
		}
		if err != nil {
			return need
		}
	}
	return ""
}

// program is a running server that told its address.
type program struct {
	URL string `json:"url"`
}

// startProgram runs a server until the test ends. Closing its standard input
// ends it; if not, its process is killed.
func startProgram(t *testing.T, env []string, command ...string) program {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...) //nolint:noctx // ended by its standard input
	cmd.Env = append(os.Environ(), env...)
	var log lockedBuffer
	cmd.Stderr = &log
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	first := make(chan []byte, 1)
	go func() {
		in := bufio.NewReader(stdout)
		line, _ := in.ReadBytes('\n')
		first <- line
		_, _ = io.Copy(io.Discard, in)
	}()
	t.Cleanup(func() {
		_ = stdin.Close()
		end(cmd)
		if t.Failed() {
			t.Logf("%s said:\n%s", strings.Join(command, " "), log.tail(2000))
		}
	})
	select {
	case line := <-first:
		var p program
		if err := json.Unmarshal(line, &p); err != nil {
			t.Fatalf("%s printed %q: %v\n%s", command, line, err, log.tail(2000))
		}
		return p
	case <-time.After(patience):
		t.Fatalf("%s did not start\n%s", command, log.tail(2000))
	}
	return program{}
}

// end waits for a program that was asked to end, and kills it if it does not.
func end(cmd *exec.Cmd) {
	killer := time.AfterFunc(5*time.Second, func() { _ = cmd.Process.Kill() })
	defer killer.Stop()
	_ = cmd.Wait()
}

// runProgram runs a client to its end and gives what it printed.
func runProgram(t *testing.T, env []string, command ...string) []byte {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...) //nolint:noctx // bounded below
	cmd.Env = append(os.Environ(), env...)
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	killer := time.AfterFunc(2*patience, func() { _ = cmd.Process.Kill() })
	defer killer.Stop()
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%s: %v\n%s\nafter:\n%s", strings.Join(command, " "), err, log.Bytes(), out.Bytes())
	}
	return out.Bytes()
}

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

// startGateway builds the gateway, starts it in front of the agents, by id, and
// gives their base URLs behind it.
func startGateway(t *testing.T, agents map[string]string, issuer string) func(id string) string {
	t.Helper()
	dir := t.TempDir()
	binary := filepath.Join(dir, "a2a-gateway")
	//nolint:noctx // the test has its own timeout
	build := exec.Command("go", "build", "-o", binary, "../cmd/a2a-gateway")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the gateway: %v\n%s", err, out)
	}
	file := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(file, []byte(gatewayConfig(dir, agents, issuer)), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, "serve", "-c", file) //nolint:noctx // ended by a signal
	var log lockedBuffer
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	serving := make(chan string, 1)
	followed := make(chan struct{})
	go follow(stderr, &log, serving, followed)
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		killer := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
		defer killer.Stop()
		<-followed
		if err := cmd.Wait(); err != nil {
			t.Errorf("the gateway ended with %v", err)
		}
		if t.Failed() {
			t.Logf("the gateway said:\n%s", log.tail(4000))
		}
	})
	select {
	case at := <-serving:
		return func(id string) string { return at + "/agents/" + id }
	case <-followed:
		t.Fatalf("the gateway did not start\n%s", log.tail(4000))
	case <-time.After(patience):
		t.Fatalf("the gateway did not serve\n%s", log.tail(4000))
	}
	return nil
}

func gatewayConfig(dir string, agents map[string]string, issuer string) string {
	var fleet strings.Builder
	for id, origin := range agents {
		fmt.Fprintf(&fleet, "  - {id: %s, card: %q}\n", id, origin+"/.well-known/agent-card.json")
	}
	return fmt.Sprintf(`server:
  id: interop
  address: "127.0.0.1:0"
  statusAddress: "127.0.0.1:0"
  publicURL: "http://127.0.0.1"
  dataDir: %q
authn:
  oidc: [{issuer: %q, audiences: [%q]}]
policy:
  rules: [{name: interop, effect: allow, agents: ["*"], scopes: [a2a.invoke]}]
push: {mode: passthrough}
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

// lockedBuffer is a log that is written and read at the same time.
type lockedBuffer struct {
	mu  sync.Mutex // guards buf
	buf bytes.Buffer
}

// Write implements io.Writer.
func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) tail(n int) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.buf.String()
	return all[max(0, len(all)-n):]
}
