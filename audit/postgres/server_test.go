//go:build !minimal

package postgres_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"github.com/a2a-gateway/a2a-gateway/audit/postgres"
	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

// shared is one server for all tests that do no harm to it; each has tables of its own.
var (
	shared   sync.Mutex
	sharedAt *server
	tables   atomic.Int64
)

func TestMain(m *testing.M) {
	testenv.Clear()
	if dir := os.Getenv(victimDir); dir != "" {
		os.Exit(victim(dir, os.Getenv(victimURL)))
	}
	testenv.Overlap()
	code := m.Run()
	if sharedAt != nil {
		sharedAt.end()
		_ = os.RemoveAll(sharedAt.dir)
	}
	// open leaves the log of what it opens, as the process does that is killed.
	written := goleak.IgnoreTopFunction("github.com/a2a-gateway/a2a-gateway/telemetry.(*sink).run")
	if err := goleak.Find(written); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// server is a PostgreSQL in a directory of its own.
type server struct {
	dir, port string
	as        *syscall.Credential // whom it runs as; nil for whoever the test does
	cmd       *exec.Cmd
}

// program finds a program of PostgreSQL's, or skips.
func program(t testing.TB, name string) string {
	t.Helper()
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	if found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name); len(found) > 0 { // where Debian has it
		return found[len(found)-1]
	}
	testenv.Missing(t, "%s of PostgreSQL is needed", name)
	return ""
}

// ours starts a server that the test may harm.
func ours(t testing.TB) *server {
	t.Helper()
	s := create(t, t.TempDir())
	t.Cleanup(s.end)
	return s
}

// anybodys is the shared one.
func anybodys(t testing.TB) *server {
	t.Helper()
	program(t, "initdb")
	shared.Lock()
	defer shared.Unlock()
	if sharedAt == nil {
		dir, err := os.MkdirTemp("", "postgres") //nolint:usetesting // it outlives the test
		if err != nil {
			t.Fatal(err)
		}
		sharedAt = create(t, dir)
	}
	return sharedAt
}

// create makes a database. PostgreSQL does not run as root; root runs it as somebody else.
func create(t testing.TB, dir string) *server {
	t.Helper()
	s := &server{dir: dir, port: freePort(t)}
	if os.Getuid() == 0 {
		s.as = somebody(t)
		for d := dir; d != filepath.Clean(os.TempDir()) && d != "/"; d = filepath.Dir(d) {
			if err := os.Chmod(d, 0o755); err != nil { // the server has to get there
				t.Fatal(err)
			}
		}
		if err := os.Chown(dir, int(s.as.Uid), int(s.as.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	out, err := s.command(program(t, "initdb"), "-D", filepath.Join(dir, "data"), "-A", "trust", "-U", "postgres", "-N", "-E", "UTF8", "--no-locale").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s.start(t)
	return s
}

func somebody(t testing.TB) *syscall.Credential {
	t.Helper()
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		gid, failed := strconv.ParseUint(u.Gid, 10, 32)
		if err == nil && failed == nil {
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		}
	}
	t.Fatal("there is nobody but root to run PostgreSQL as")
	return nil
}

func (s *server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = s.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.as}
	return cmd
}

func (s *server) start(t testing.TB) {
	t.Helper()
	s.cmd = s.command(program(t, "postgres"), "-D", filepath.Join(s.dir, "data"), "-p", s.port,
		"-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "max_connections=50")
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		conn, err := pgx.Connect(t.Context(), s.url())
		if err == nil {
			_ = conn.Close(t.Context())
			return
		}
	}
	t.Fatal("PostgreSQL does not start")
}

// end ends it at once, as it would be when its machine is gone.
func (s *server) end() {
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Signal(syscall.SIGQUIT) // the children go, too
	_ = s.cmd.Wait()
	s.cmd = nil
}

func (s *server) url() string {
	return "postgres://postgres@127.0.0.1:" + s.port + "/postgres?sslmode=disable"
}

func freePort(t testing.TB) string {
	t.Helper()
	_, port, err := net.SplitHostPort(gatewaytest.FreeAddress())
	if err != nil {
		t.Fatal("no port is free")
	}
	return port
}

// config is that of a table nobody else has.
func (s *server) config() postgres.Config {
	return postgres.Config{URL: secret.New(s.url()), Table: fmt.Sprintf("audit_%d", tables.Add(1))}
}

// ask runs a query of one row.
func ask[T any](t testing.TB, s *server, query string, args ...any) (value T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.url())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if err := conn.QueryRow(ctx, query, args...).Scan(&value); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return value
}
