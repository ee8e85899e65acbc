package interop_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience bounds waits for programs; nothing is measured with it.
const patience = 60 * time.Second

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
	TLS string `json:"tls"` // the same over TLS; of the issuer alone
}

// startProgram runs a server until the test ends. Closing its standard input
// ends it; if not, its process is killed.
func startProgram(t *testing.T, env []string, command ...string) program {
	t.Helper()
	var p program
	runProgram(t, &p, env, command...)
	return p
}

// runProgram is the same for a program that says more than a program does; said is what
// its first line is read into.
func runProgram(t *testing.T, said any, env []string, command ...string) {
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
		if err := json.Unmarshal(line, said); err != nil {
			t.Fatalf("%s printed %q: %v\n%s", command, line, err, log.tail(2000))
		}
	case <-time.After(patience):
		t.Fatalf("%s did not start\n%s", command, log.tail(2000))
	}
}

// end waits for a program that was asked to end, and kills it if it does not.
func end(cmd *exec.Cmd) {
	killer := time.AfterFunc(5*time.Second, func() { _ = cmd.Process.Kill() })
	defer killer.Stop()
	_ = cmd.Wait()
}

// worker is a client program that does one run after another, so that it is
// started once: what is slow about it is starting.
type worker struct {
	command []string

	mu    sync.Mutex // held by whoever has a run done
	cmd   *exec.Cmd
	stdin io.WriteCloser
	lines chan []byte // what it prints
	log   lockedBuffer
}

// job is one run, as the program reads it.
type job struct {
	Base       string            `json:"base"`
	Binding    string            `json:"binding"`
	Headers    map[string]string `json:"headers"`
	Extensions []string          `json:"extensions,omitempty"` // activated by the SDK's means
	Only       string            `json:"only,omitempty"`       // the one operation to do
	SignIn     *signIn           `json:"signIn,omitempty"`     // in place of headers, not over gRPC
	// Credentials by the names of the card's schemes, for the SDK's own interceptor.
	Credentials map[string]string `json:"credentials,omitempty"`
}

// signIn is a user whom a client program signs in, again when it is asked to.
type signIn struct {
	Issuer string `json:"issuer"`
	User   string `json:"user"`
}

// run has the program do a run and gives what it printed.
func (w *worker) run(t *testing.T, j job) [][]byte {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cmd == nil {
		w.start(t)
	}
	if err := json.NewEncoder(w.stdin).Encode(j); err != nil {
		w.stop()
		t.Fatalf("%s: %v\n%s", w, err, w.log.tail(4000))
	}
	var lines [][]byte
	patience := time.After(2 * patience)
	for {
		select {
		case line, ok := <-w.lines:
			if !ok {
				w.stop()
				t.Fatalf("%s ended\n%s\nafter:\n%s", w, w.log.tail(4000), bytes.Join(lines, nil))
			}
			if bytes.HasPrefix(line, []byte(`{"done"`)) {
				return lines
			}
			lines = append(lines, line)
		case <-patience:
			w.stop()
			t.Fatalf("%s did not end its run\n%s\nafter:\n%s", w, w.log.tail(4000), bytes.Join(lines, nil))
		}
	}
}

// String is the command line.
func (w *worker) String() string { return strings.Join(w.command, " ") }

func (w *worker) start(t *testing.T) {
	t.Helper()
	w.cmd = exec.Command(w.command[0], w.command[1:]...) //nolint:noctx // ended by its standard input
	w.cmd.Stderr = &w.log
	stdout, err := w.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if w.stdin, err = w.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.lines = make(chan []byte, 64)
	go func(lines chan<- []byte) {
		defer close(lines)
		in := bufio.NewReader(stdout)
		for {
			line, err := in.ReadBytes('\n')
			if err != nil {
				return
			}
			lines <- line
		}
	}(w.lines)
}

// stop ends the program; the next run starts it again.
func (w *worker) stop() {
	if w.cmd == nil {
		return
	}
	_ = w.stdin.Close()
	go func(lines <-chan []byte) {
		for range lines { // what nobody waits for any more
		}
	}(w.lines)
	end(w.cmd)
	w.cmd = nil
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
