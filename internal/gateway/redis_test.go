package gateway_test

import (
	"bufio"
	"io"
	"net"
	"os/exec"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

// redisServer is a redis-server process that keeps nothing.
type redisServer struct {
	t       testing.TB
	address string
	cmd     *exec.Cmd
	read    chan struct{} // closed when all it said was read
}

func startRedis(t testing.TB) *redisServer {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		testenv.Missing(t, "redis-server is needed: %v", err)
	}
	s := &redisServer{t: t}
	t.Cleanup(s.end)
	for range 5 { // somebody else may take the port meanwhile
		s.address = freeAddress(t)
		if s.start() {
			return s
		}
		s.end()
	}
	t.Fatal("redis-server does not start")
	return nil
}

// start runs the server, and reports whether it takes connections.
func (s *redisServer) start() bool {
	s.t.Helper()
	_, port, _ := net.SplitHostPort(s.address)
	s.cmd = exec.Command("redis-server", "--bind", "127.0.0.1", "--port", port, "--save", "", "--dir", s.t.TempDir())
	out, err := s.cmd.StdoutPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.read = make(chan struct{})
	ready := make(chan bool, 1)
	go func() {
		defer close(s.read)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if strings.Contains(lines.Text(), "Ready to accept connections") {
				ready <- true
				_, _ = io.Copy(io.Discard, out)
				return
			}
		}
		ready <- false
	}()
	return <-ready
}

// end kills the server.
func (s *redisServer) end() {
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Kill()
	<-s.read
	_ = s.cmd.Wait()
	s.cmd = nil
}

// yaml is the section of gateways that share the server.
func (s *redisServer) yaml() string {
	return "state: {driver: redis, redis: {addresses: [\"" + s.address + "\"], timeout: 2s}}\n"
}
