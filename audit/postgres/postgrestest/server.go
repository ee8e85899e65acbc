// Package postgrestest runs PostgreSQL for tests: a server with an empty database, in a directory of its own.
//
// It owns finding the programs, whom they run as and when the server answers. It does not own what is in the
// database. Where PostgreSQL is missing, a test is skipped (testenv.Missing).
package postgrestest

import (
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

// Server is a PostgreSQL on 127.0.0.1. Whoever connects as postgres is its superuser.
type Server struct {
	dir, port string
	as        *syscall.Credential // whom it runs as; nil for whoever the test does
	cmd       *exec.Cmd
}

// Need skips a test where there is no PostgreSQL.
func Need(t testing.TB) {
	t.Helper()
	program(t, "initdb")
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

// New makes a database in a directory that is there and empty, and starts the server. End is for who calls it.
// PostgreSQL does not run as root; root runs it as somebody else, who has to get to the directory.
func New(t testing.TB, dir, port string) *Server {
	t.Helper()
	s := &Server{dir: dir, port: port}
	if os.Getuid() == 0 {
		s.as = somebody(t)
		for d := dir; d != filepath.Clean(os.TempDir()) && d != "/"; d = filepath.Dir(d) {
			if err := os.Chmod(d, 0o755); err != nil {
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
	s.Start(t)
	return s
}

// somebody is a user who is not root.
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

func (s *Server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = s.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.as}
	return cmd
}

// Start starts a server that has ended, and waits until it answers.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	s.cmd = s.command(program(t, "postgres"), "-D", filepath.Join(s.dir, "data"), "-p", s.port,
		"-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "max_connections=50")
	if err := s.cmd.Start(); err != nil {
		s.cmd = nil
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		conn, err := pgx.Connect(t.Context(), s.URL())
		if err == nil {
			_ = conn.Close(t.Context())
			return
		}
	}
	t.Fatal("PostgreSQL does not start")
}

// Running reports whether it was started and has not been ended.
func (s *Server) Running() bool { return s.cmd != nil }

// End ends it at once, as it would be when its machine is gone.
func (s *Server) End() {
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Signal(syscall.SIGQUIT) // the children go, too
	_ = s.cmd.Wait()
	s.cmd = nil
}

// URL is that of its database.
func (s *Server) URL() string {
	return "postgres://postgres@127.0.0.1:" + s.port + "/postgres?sslmode=disable"
}
