package frameworks_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience bounds waits for programs; nothing is measured with it.
const patience = 90 * time.Second

// startAgent runs a framework's agent until the test ends, and gives its base URL.
// Closing its standard input ends it; if not, its process is killed.
func startAgent(t *testing.T, f framework) string {
	t.Helper()
	cmd := f.command(f.program.agent)
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
	said := make(chan string, 1)
	read := make(chan struct{})
	go func() {
		defer close(read)
		in := bufio.NewReader(io.TeeReader(stdout, &log))
		for {
			line, err := in.ReadBytes('\n')
			var first struct {
				URL string `json:"url"`
			}
			if json.Unmarshal(line, &first) == nil && first.URL != "" {
				said <- first.URL
				break
			}
			if err != nil {
				close(said)
				break
			}
		}
		_, _ = io.Copy(io.Discard, in)
	}()
	t.Cleanup(func() {
		_ = stdin.Close()
		end(cmd, read)
		if t.Failed() {
			t.Logf("the agent of %s said:\n%s", f.id, log.tail(4000))
		}
	})
	select {
	case url, ok := <-said:
		if !ok {
			t.Fatalf("the agent of %s did not start\n%s", f.id, log.tail(4000))
		}
		return url
	case <-time.After(patience):
		t.Fatalf("the agent of %s did not say where it is\n%s", f.id, log.tail(4000))
	}
	return ""
}

// end waits for a program that was asked to end, once all that it printed is read, and
// kills it if it does not.
func end(cmd *exec.Cmd, read <-chan struct{}) {
	killer := time.AfterFunc(5*time.Second, func() { _ = cmd.Process.Kill() })
	defer killer.Stop()
	<-read
	_ = cmd.Wait()
}

// step is one thing that was tried, and what came of it.
type step struct {
	Name string `json:"step"`
	OK   bool   `json:"ok"`
	Said string `json:"said"`
}

// runClient has a framework's client do its steps at an agent.
func runClient(t *testing.T, f framework, url, key string, env ...string) []step {
	t.Helper()
	cmd := f.command(f.program.client, append(env, "A2A_URL="+url, "A2A_KEY="+key)...)
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	killer := time.AfterFunc(2*patience, func() {
		if cmd.Process != nil {
			_ = cmd.Process.Kill()
		}
	})
	defer killer.Stop()
	err := cmd.Run()
	var steps []step
	for line := range strings.Lines(out.String()) {
		var s step
		if json.Unmarshal([]byte(line), &s) == nil && s.Name != "" {
			steps = append(steps, s)
		}
	}
	// One that was killed or broke off would leave out steps, and what is left out is not compared.
	if err != nil || len(steps) == 0 {
		t.Fatalf("the client of %s ended after %d steps: %v\n%s\n%s", f.id, len(steps), err, out.String(), log.String())
	}
	return steps
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
