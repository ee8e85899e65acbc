package e2e

import (
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
)

// postgres is a PostgreSQL in a directory of its own.
type postgres struct {
	dir, address string
	as           *syscall.Credential // whom it runs as; nil for whoever the test does
	cmd          *exec.Cmd
}

// postgresProgram finds a program of PostgreSQL's, or skips.
func postgresProgram(t *testing.T, name string) string {
	t.Helper()
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	if found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name); len(found) > 0 { // where Debian has it
		return found[len(found)-1]
	}
	need(t, name)
	return ""
}

// newPostgres makes a database and starts it. It ends with the test.
func newPostgres(t *testing.T) *postgres {
	t.Helper()
	p := &postgres{dir: t.TempDir(), address: vacant(t)}
	if os.Getuid() == 0 { // it does not run as root
		p.as = nobody(t)
		for d := p.dir; d != filepath.Clean(os.TempDir()) && d != "/"; d = filepath.Dir(d) {
			if err := os.Chmod(d, 0o755); err != nil { // the server has to get there
				t.Fatal(err)
			}
		}
		if err := os.Chown(p.dir, int(p.as.Uid), int(p.as.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	out, err := p.command(postgresProgram(t, "initdb"), "-D", filepath.Join(p.dir, "data"), "-A", "trust", "-U", "postgres", "-N", "-E", "UTF8", "--no-locale").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Cleanup(p.end)
	p.start(t)
	return p
}

// nobody is somebody who is not root.
func nobody(t *testing.T) *syscall.Credential {
	t.Helper()
	u, err := user.Lookup("postgres")
	if err != nil {
		u, err = user.Lookup("nobody")
	}
	if err != nil {
		t.Fatal(err)
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	gid, failed := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil || failed != nil {
		t.Fatal(err, failed)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

func (p *postgres) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = p.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: p.as}
	return cmd
}

func (p *postgres) start(t *testing.T) {
	t.Helper()
	_, port, _ := strings.Cut(p.address, ":")
	p.cmd = p.command(postgresProgram(t, "postgres"), "-D", filepath.Join(p.dir, "data"), "-p", port,
		"-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "max_connections=20")
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	within(t, "PostgreSQL starts", func() bool {
		conn, err := pgx.Connect(t.Context(), p.url())
		if err == nil {
			_ = conn.Close(t.Context())
		}
		return err == nil
	})
}

// end ends it at once, as it would be when its machine is gone.
func (p *postgres) end() {
	if p.cmd == nil {
		return
	}
	_ = p.cmd.Process.Signal(syscall.SIGQUIT) // the children go, too
	_ = p.cmd.Wait()
	p.cmd = nil
}

func (p *postgres) url() string {
	return "postgres://postgres@" + p.address + "/postgres?sslmode=disable"
}
