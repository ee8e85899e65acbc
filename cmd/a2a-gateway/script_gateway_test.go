package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/rogpeppe/go-internal/testscript"
)

// process is a running `a2a-gateway serve` or `demo`.
type process struct {
	w       *world
	cmd     *exec.Cmd
	config  string // path of the file it serves
	url     string
	status  string
	ready   chan struct{}
	exited  chan struct{}
	exit    error
	ended   bool // by the script
	printed lines

	mu  sync.Mutex
	log bytes.Buffer
}

// cmdGateway starts `a2a-gateway serve` on a configuration file and waits until
// it serves. It sets $GW and $STATUS. The gateway is ended with SIGTERM after
// the script and must then exit with 0.
func cmdGateway(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	if len(args) != 1 {
		ts.Fatalf("usage: gateway CONFIG")
	}
	w := worldOf(ts)
	path := ts.MkAbs(args[0])
	p := w.start(ts, path, "serve", "-c", path)
	w.name(ts, "GW", p.url)
	w.name(ts, "STATUS", p.status)
	w.address.Store(p.url)
	ts.Setenv("GW_HOST", strings.TrimPrefix(p.url, "http://"))
}

// cmdDemo runs `a2a-gateway demo` on free ports and puts what it prints into a
// file: demo FILE.
func cmdDemo(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	w := worldOf(ts)
	p := w.start(ts, "", "demo", "--address", "127.0.0.1:0", "--traffic=false")
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(p.printed.String()), 0o600))
	w.name(ts, "GW", p.url)
}

func (w *world) start(ts *testscript.TestScript, config string, args ...string) *process {
	if w.gateway != nil && !w.gateway.ended {
		ts.Fatalf("a gateway runs already")
	}
	p := &process{w: w, config: config, ready: make(chan struct{}), exited: make(chan struct{})}
	p.cmd = exec.Command("a2a-gateway", args...) //nolint:noctx // ended by signals, which is what is tested
	p.cmd.Dir, p.cmd.Env = w.dir, environment(ts, config)
	p.cmd.Stdout = &p.printed
	stderr, err := p.cmd.StderrPipe()
	ts.Check(err)
	ts.Check(p.cmd.Start())
	w.gateway = p
	go p.follow(stderr)
	if config == "" {
		p.awaitDemo(ts)
		return p
	}
	select {
	case <-p.ready:
	case <-p.exited:
		ts.Fatalf("the gateway did not start: %v\n%s", p.exit, p.logged())
	case <-time.After(patience):
		ts.Fatalf("the gateway did not say that it serves\n%s", p.logged())
	}
	return p
}

var gatewayAt = regexp.MustCompile(`The gateway is at (\S+) `)

// awaitDemo waits for the last of the printed lines.
func (p *process) awaitDemo(ts *testscript.TestScript) {
	ok := eventually(patience, func() bool { return strings.Contains(p.printed.String(), `"method":"tools/list"`) })
	if at := gatewayAt.FindStringSubmatch(p.printed.String()); ok && at != nil {
		p.url = at[1]
		return
	}
	ts.Fatalf("the demonstration did not start\n%s%s", p.printed.String(), p.logged())
}

// environment has what every process needs and the variables that the
// configuration refers to.
func environment(ts *testscript.TestScript, config string) []string {
	env := []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + ts.Getenv("WORK")}
	for _, name := range []string{"HOME", "XDG_STATE_HOME"} {
		env = append(env, name+"="+ts.Getenv(name))
	}
	for _, name := range handedOn {
		if value := ts.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	if dir := os.Getenv("GOCOVERDIR"); dir != "" {
		env = append(env, "GOCOVERDIR="+dir)
	}
	if config == "" {
		return env
	}
	data, err := os.ReadFile(config)
	ts.Check(err)
	for _, ref := range braced.FindAllString(string(data), -1) {
		name := ref[2 : len(ref)-1]
		if value := ts.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// handedOn are variables that no file names and that say where calls might go.
var handedOn = []string{
	"http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy",
	"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "OTEL_BSP_SCHEDULE_DELAY",
	"OTEL_METRIC_EXPORT_INTERVAL",
}

// follow keeps the log and notices the line that says where the gateway is.
func (p *process) follow(stderr io.Reader) {
	in := bufio.NewScanner(stderr)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		p.mu.Lock()
		p.log.Write(in.Bytes())
		p.log.WriteByte('\n')
		p.mu.Unlock()
		var line struct {
			Msg    string `json:"msg"`
			URL    string `json:"url"`
			Status string `json:"status_url"`
		}
		if json.Unmarshal(in.Bytes(), &line) == nil && line.Msg == "serving" && p.url == "" {
			p.url, p.status = line.URL, line.Status
			close(p.ready)
		}
	}
	p.exit = p.cmd.Wait()
	close(p.exited)
}

func (p *process) logged() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

// finish ends the gateway after the script: SIGTERM, and exit code 0. Its log has neither a
// defect nor the token of its data directory.
func (p *process) finish() {
	if p.ended {
		return
	}
	p.w.client.idle()
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.exited:
	case <-time.After(patience):
		_ = p.cmd.Process.Kill()
		<-p.exited
		p.w.t.Errorf("the gateway did not end after SIGTERM\n%s", p.logged())
		return
	}
	if p.exit != nil {
		p.w.t.Errorf("the gateway ended with %v\n%s", p.exit, p.logged())
	}
	if log := p.logged(); strings.Contains(log, "panicked") || strings.Contains(log, "DATA RACE") {
		p.w.t.Errorf("the gateway's log has a defect\n%s", log)
	}
	// A script that names another directory has none here.
	token, err := os.ReadFile(filepath.Join(p.w.dir, "data", "admin.token"))
	if secret := strings.TrimSpace(string(token)); err == nil && secret != "" && strings.Contains(p.logged(), secret) {
		p.w.t.Errorf("the token for the admin listener is in the log")
	}
}

// cmdReload puts FILE in the place of the configuration in force and waits until the
// gateway has noticed and counted the reload: reload FILE. Where the file is the same as
// before there is nothing to notice, and it sends SIGHUP. Never does it do both, as the
// gateway may then load the file once or twice. It fails, and so has to be negated, when
// the gateway refused the file.
func cmdReload(ts *testscript.TestScript, neg bool, args []string) {
	w := worldOf(ts)
	p := w.gateway
	ok := scrape(ts, p, "config_reloads_total", `result="ok"`)
	failed := scrape(ts, p, "config_reloads_total", `result="error"`)
	data, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	before, err := os.ReadFile(p.config)
	ts.Check(err)
	if bytes.Equal(data, before) {
		ts.Check(p.cmd.Process.Signal(syscall.SIGHUP))
	} else {
		next := p.config + ".next"
		ts.Check(os.WriteFile(next, data, 0o600))
		ts.Check(os.Rename(next, p.config)) // all of it at once
	}
	refused := false
	if !eventually(patience, func() bool {
		refused = scrape(ts, p, "config_reloads_total", `result="error"`) > failed
		return refused || scrape(ts, p, "config_reloads_total", `result="ok"`) > ok
	}) {
		ts.Fatalf("the gateway did not reload")
	}
	if refused != neg {
		ts.Fatalf("reload refused: %v\n%s", refused, p.logged())
	}
}

// cmdUpgrade sends SIGUSR2 and waits until the program at the gateway's path, which is the
// same one here, serves in its place.
func cmdUpgrade(ts *testscript.TestScript, neg bool, _ []string) {
	noNeg(ts, neg)
	p := worldOf(ts).gateway
	serving := func() int { return strings.Count(p.logged(), `"msg":"serving"`) }
	before := serving()
	ts.Check(p.cmd.Process.Signal(syscall.SIGUSR2))
	if !eventually(patience, func() bool { return serving() > before }) {
		ts.Fatalf("no other program serves\n%s", p.logged())
	}
}

// cmdDrain sends SIGTERM. Without a word it returns once /readyz says that the
// gateway drains; "drain end" waits for the end and prints the exit code.
func cmdDrain(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	p := worldOf(ts).gateway
	if !p.ended {
		p.ended = true
		ts.Check(p.cmd.Process.Signal(syscall.SIGTERM))
	}
	if len(args) == 0 {
		if !eventually(patience, func() bool {
			resp, err := http.Get(p.status + "/readyz") //nolint:noctx // a probe of our own
			if err != nil {
				return true
			}
			defer resp.Body.Close() // only the status counts
			return resp.StatusCode == http.StatusServiceUnavailable
		}) {
			ts.Fatalf("the gateway stays ready")
		}
		return
	}
	p.w.client.idle()
	select {
	case <-p.exited:
	case <-time.After(patience):
		_ = p.cmd.Process.Kill()
		ts.Fatalf("the gateway did not end\n%s", p.logged())
	}
	var exit *exec.ExitError
	code := 0
	if errors.As(p.exit, &exit) {
		code = exit.ExitCode()
	}
	_, _ = fmt.Fprintf(ts.Stdout(), "exit %d\n", code)
}

// lines is a buffer that a process writes and a script reads.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements io.Writer.
func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// String gives what has been written so far.
func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
