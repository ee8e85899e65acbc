package e2e

import (
	"bufio"
	"io"
	"net"
	"os/exec"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
)

// redis is a redis-server on a port of its own, which remembers all that it has
// acknowledged.
type redis struct {
	dir, address string
	cmd          *exec.Cmd
	read         chan struct{} // closed when all it said was read
}

func startRedis(t *testing.T) *redis {
	t.Helper()
	need(t, "redis-server")
	r := &redis{dir: t.TempDir()}
	for range 5 { // somebody else may take the port meanwhile
		if r.address = gatewaytest.FreeAddress(); r.launch(t) {
			t.Cleanup(r.end)
			return r
		}
	}
	t.Fatal("redis-server did not start")
	return nil
}

// start runs the server again where it was.
func (r *redis) start(t *testing.T) {
	t.Helper()
	if !r.launch(t) {
		t.Fatal("redis-server did not start again")
	}
}

// launch waits until the server takes connections, or has given up.
func (r *redis) launch(t *testing.T) bool {
	t.Helper()
	_, port, _ := net.SplitHostPort(r.address)
	r.cmd = exec.Command("redis-server", "--bind", "127.0.0.1", "--port", port, "--dir", r.dir, "--save", "",
		"--appendonly", "yes", "--appendfsync", "always")
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ready, read := make(chan bool, 1), make(chan struct{})
	r.read = read
	go func() {
		defer close(read)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if strings.Contains(lines.Text(), "Ready to accept connections") {
				ready <- true
				_, _ = io.Copy(io.Discard, out)
				return
			}
		}
		ready <- false
	}()
	if <-ready {
		return true
	}
	r.end()
	return false
}

// end kills the server.
func (r *redis) end() {
	_ = r.cmd.Process.Kill()
	<-r.read
	_ = r.cmd.Wait()
}
