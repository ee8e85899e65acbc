package redis

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

// shared is one server for all tests that do no harm to it; each store has a prefix of
// its own there.
var (
	shared   sync.Mutex
	sharedAt *server
	prefixes atomic.Int64
)

func TestMain(m *testing.M) {
	testenv.Overlap()
	code := m.Run()
	if sharedAt != nil {
		sharedAt.end()
		_ = os.RemoveAll(sharedAt.dir)
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// server is a redis-server process.
type server struct {
	dir, address string
	args         []string
	program      []string // the whole command line, of what is not a plain server
	cmd          *exec.Cmd
	read         chan struct{} // closed when all it said was read
}

// command finds a program of Redis's, or skips.
func command(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	switch {
	case err == nil:
		return path
	case os.Getenv("A2A_GATEWAY_TEST_REQUIRE_ALL") != "":
		t.Fatalf("%s is needed: %v", name, err)
	default:
		t.Skipf("%s is needed: %v", name, err)
	}
	return ""
}

// serve starts a server of the test's own. args are those of redis-server.
func serve(t testing.TB, args ...string) *server {
	t.Helper()
	s := launch(t, t.TempDir(), args...)
	t.Cleanup(s.end)
	return s
}

func launch(t testing.TB, dir string, args ...string) *server {
	t.Helper()
	command(t, "redis-server")
	var err error
	for range 5 { // somebody else may take the port meanwhile
		s := &server{dir: dir, address: freeAddress(t), args: args}
		if err = s.start(); err == nil {
			return s
		}
	}
	t.Fatalf("start redis-server: %v", err)
	return nil
}

// start runs the server and waits until it takes connections.
func (s *server) start() error {
	args := s.program
	if args == nil {
		_, port, _ := net.SplitHostPort(s.address)
		args = append([]string{"--bind", "127.0.0.1", "--dir", s.dir, "--save", ""}, s.args...)
		for i, a := range args {
			args[i] = strings.ReplaceAll(a, "PORT", port)
		}
		if !slices.Contains(args, "--port") {
			args = append(args, "--port", port)
		}
	}
	s.cmd = exec.Command("redis-server", args...)
	s.cmd.Dir = s.dir
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := s.cmd.Start(); err != nil {
		return err
	}
	s.read = make(chan struct{})
	ready := make(chan string, 1)
	go func() {
		defer close(s.read)
		var said strings.Builder
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if strings.Contains(lines.Text(), "Ready to accept connections") || strings.Contains(lines.Text(), "Sentinel ID is") {
				ready <- ""
				_, _ = io.Copy(io.Discard, out)
				return
			}
			said.WriteString(lines.Text() + "\n")
		}
		ready <- said.String()
	}()
	if said := <-ready; said != "" {
		s.end()
		return fmt.Errorf("redis-server said:\n%s", said)
	}
	return nil
}

// end kills the server, as a crash of its machine's power would.
func (s *server) end() {
	_ = s.cmd.Process.Kill()
	<-s.read
	_ = s.cmd.Wait()
}

func (s *server) signal(t testing.TB, sig syscall.Signal) {
	t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
}

// client is a plain one, for what the driver does not do.
func (s *server) client(t testing.TB) *redis.Client {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: s.address, Protocol: 2, DisableIdentity: true})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func freeAddress(t testing.TB) string {
	t.Helper()
	address := gatewaytest.FreeAddress()
	if address == "" {
		t.Fatal("no port is free")
	}
	return address
}

// everybody is the server that tests share.
func everybody(t testing.TB) *server {
	t.Helper()
	command(t, "redis-server")
	shared.Lock()
	defer shared.Unlock()
	if sharedAt == nil {
		dir, err := os.MkdirTemp("", "redis-") //nolint:usetesting // it outlives the test that comes first
		if err != nil {
			t.Fatal(err)
		}
		sharedAt = launch(t, dir, "--appendonly", "no")
	}
	return sharedAt
}

// config is of an empty store. Tests share two processors with others, so that time is
// no concern of theirs unless they say so.
func config(addresses ...string) state.Config {
	return state.Config{Driver: "redis", Redis: state.RedisConfig{
		Addresses: addresses,
		Prefix:    "test-" + strconv.FormatInt(prefixes.Add(1), 10),
		Timeout:   quantity.Duration(20 * time.Second),
	}}
}

func open(t testing.TB, c state.Config) *Store {
	t.Helper()
	return openLogged(t, c, slog.New(slog.DiscardHandler))
}

func openLogged(t testing.TB, c state.Config, log *slog.Logger) *Store {
	t.Helper()
	s, err := Open(context.Background(), c, log, func(int64) {})
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

// fresh is an empty store on the server that tests share.
func fresh(t testing.TB) *Store {
	t.Helper()
	return open(t, config(everybody(t).address))
}

// write makes a file in the directory of a test.
func write(t testing.TB, dir, name string, text []byte) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
