package gateway_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/gateway"
)

// costProcess is a gateway in a process of its own, so that what is counted of that process is the
// gateway's alone: neither the client's, nor the agent's, which are in the test's. It is the test
// binary over again, whose TestMain serves the file that costFile names.
type costProcess struct {
	t   testing.TB
	url string
	in  *os.File
	out *bufio.Reader
}

const costFile = "A2A_GATEWAY_TEST_COSTS"

// cost is what a process has taken so far.
type cost struct {
	Allocations uint64 // of the heap, how many
	Bytes       uint64 // and how much
	Live        int64  // bytes of heap and stacks
	Goroutines  int
}

// costRest asks for a cost after everything has been collected that nobody uses.
const costRest = "rest"

// serveCosts is the process's main. It answers each line that it reads with a cost, and ends with
// the last.
func serveCosts(path string) error {
	cfg, err := config.Load(path)
	if err != nil {
		return err
	}
	g, err := gateway.New(context.Background(), cfg, gateway.Options{Version: "test"})
	if err != nil {
		return err
	}
	g.Start()
	_, _ = fmt.Fprintln(os.Stdout, g.URL())
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		if in.Text() == costRest {
			for range 3 { // what is in pools is let go of by the second
				runtime.GC()
			}
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		said, err := json.Marshal(cost{m.Mallocs, m.TotalAlloc, int64(m.HeapAlloc + m.StackInuse), runtime.NumGoroutine()})
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintf(os.Stdout, "%s\n", said)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // nothing is left that anybody waits for
	_ = g.Shutdown(ctx)
	return nil
}

// startCosts runs the process until the test ends.
func startCosts(w *costWorld, yaml string) *costProcess {
	w.t.Helper()
	return beginCosts(w, yaml, (*exec.Cmd).Start, func(cmd *exec.Cmd) { _ = cmd.Wait() })
}

// beginCosts is startCosts with what starts the command, and what waits for its end.
func beginCosts(w *costWorld, yaml string, begin func(*exec.Cmd) error, end func(*exec.Cmd)) *costProcess {
	w.t.Helper()
	w.write(yaml)
	cmd := exec.Command(os.Args[0])
	// Nothing is collected unless it is asked for: when that happens depends on the machine, and what
	// is in pools would have to be made once more. Pools are for each processor.
	cmd.Env = append(os.Environ(), costFile+"="+w.path, "GOGC=off", "GOMAXPROCS=2")
	var files []*os.File
	pipe := func(r, s *os.File, err error) (*os.File, *os.File) {
		if err != nil {
			w.t.Fatal(err)
		}
		files = append(files, r, s)
		return r, s
	}
	theirs, in := pipe(os.Pipe())
	out, written := pipe(os.Pipe())
	// Not beside the keys, where the gateway would hear of every line.
	log, err := os.Create(filepath.Join(w.t.TempDir(), "log"))
	if err != nil {
		w.t.Fatal(err)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs, written, log
	err = begin(cmd)
	for _, f := range []io.Closer{theirs, written, log} {
		_ = f.Close()
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		_ = in.Close()
		end(cmd)
		_ = out.Close()
		if said, err := os.ReadFile(log.Name()); err == nil && w.t.Failed() {
			w.t.Logf("at last the gateway says %s", said[max(0, len(said)-2<<10):])
		}
	})
	p := &costProcess{t: w.t, in: in, out: bufio.NewReader(out)}
	p.url = p.line()
	return p
}

// line is what the process says next.
func (p *costProcess) line() string {
	p.t.Helper()
	line, err := p.out.ReadString('\n')
	if err != nil {
		p.t.Fatalf("the gateway's process ends: %v", err)
	}
	return strings.TrimSuffix(line, "\n")
}

// ask says what the process has taken: "" as it is, or costRest.
func (p *costProcess) ask(how string) (c cost) {
	p.t.Helper()
	if _, err := fmt.Fprintln(p.in, how); err != nil {
		p.t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(p.line()), &c); err != nil {
		p.t.Fatal(err)
	}
	return c
}
