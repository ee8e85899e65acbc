package e2e

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

// binary is the gateway that A2A_GATEWAY_TEST_PROGRAM names, such as one that is to be
// released, or else one that is built once for all tests.
var binary = sync.OnceValues(func() (string, error) {
	if path := given(); path != "" {
		_, err := os.Stat(path)
		return path, err
	}
	path := filepath.Join(builds, "a2a-gateway")
	cmd := exec.Command("go", "build", "-C", "..", "-buildvcs=false", "-o", path, "./cmd/a2a-gateway")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", errors.New(string(out))
	}
	return path, nil
})

func given() string { return os.Getenv("A2A_GATEWAY_TEST_PROGRAM") }

// builds is a directory for what the tests build. TestMain makes and removes it.
var builds string

func TestMain(m *testing.M) {
	testenv.Clear()
	if testenv.Short("the gateway is built, killed and put under load") {
		return
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	var err error
	if builds, err = os.MkdirTemp("", "a2a-gateway-e2e-"); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(builds) }()
	return m.Run()
}

// need skips a test for want of a program, or fails it where everything must be
// there.
func need(t *testing.T, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			testenv.Missing(t, "%s is not installed", p)
		}
	}
}

// process is a running gateway.
type process struct {
	t    *testing.T
	cmd  *exec.Cmd
	out  *lines
	done chan struct{}
	err  error
}

// start runs the binary and ends it with the test, whatever became of it.
func start(t *testing.T, args ...string) *process {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	return startAt(t, path, args...)
}

// startAt runs a program, which is or becomes the binary.
func startAt(t *testing.T, program string, args ...string) *process {
	t.Helper()
	return launch(t, program, []string{"OTEL_SDK_DISABLED=true"}, args...)
}

// launch runs a program with more in its environment.
func launch(t *testing.T, program string, env []string, args ...string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command(program, args...), out: newLines(), done: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = p.out, p.out
	p.cmd.Env = append(os.Environ(), env...)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.done
		if t.Failed() {
			t.Logf("gateway said:\n%s", p.out.text())
		}
	})
	return p
}

// await returns the first line of output with the mark in it.
func (p *process) await(mark string) string {
	p.t.Helper()
	return p.awaitNth(mark, 1)
}

// awaitNth returns the nth such line.
func (p *process) awaitNth(mark string, n int) string {
	p.t.Helper()
	deadline := time.After(time.Minute)
	for {
		line, more := p.out.find(mark, n)
		if line != "" {
			return line
		}
		select {
		case <-more:
		case <-p.done:
			p.t.Fatalf("gateway ended (%v) before it said %q", p.err, mark)
		case <-deadline:
			p.t.Fatalf("gateway did not say %q", mark)
		}
	}
}

// send sends a signal.
func (p *process) send(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// signal sends a signal and waits for the end; it returns the exit code.
func (p *process) signal(s os.Signal) int {
	p.t.Helper()
	p.send(s)
	select {
	case <-p.done:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(time.Minute):
		p.t.Fatalf("gateway did not end after %v", s)
		return -1
	}
}

// lines collects output and wakes those who wait for more of it.
type lines struct {
	w io.Writer

	mu   sync.Mutex
	all  []string
	more chan struct{}
}

func newLines() *lines {
	r, w := io.Pipe()
	l := &lines{w: w, more: make(chan struct{})}
	go func() {
		s := bufio.NewScanner(r)
		s.Buffer(nil, 1<<20)
		for s.Scan() {
			l.mu.Lock()
			l.all = append(l.all, s.Text())
			close(l.more)
			l.more = make(chan struct{})
			l.mu.Unlock()
		}
	}()
	return l
}

func (l *lines) Write(b []byte) (int, error) { return l.w.Write(b) }

// find returns the nth line with a mark.
func (l *lines) find(mark string, n int) (string, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.all {
		if !strings.Contains(line, mark) {
			continue
		}
		if n--; n == 0 {
			return line, nil
		}
	}
	return "", l.more
}

// forget drops what was said.
func (l *lines) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = nil
}

func (l *lines) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.all, "\n")
}
