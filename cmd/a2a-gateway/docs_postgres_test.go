package main

import (
	"context"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

// startPostgres has a PostgreSQL with an empty database at a port, until the test ends. A page about audit
// records takes a database for granted, as its readers do.
func startPostgres(t *testing.T, port string) {
	t.Helper()
	initdb, server := postgresProgram(t, "initdb"), postgresProgram(t, "postgres")
	// Beside the temporary directories of tests, which nobody but their owner may enter.
	dir, err := os.MkdirTemp("", "a2a-gateway-postgres-") //nolint:usetesting // another user owns it, and the path of a test is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	as := postgresUser(t)
	if as != nil {
		if err := os.Chown(dir, int(as.Uid), int(as.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	command := func(name string, args ...string) *exec.Cmd {
		cmd := exec.CommandContext(context.WithoutCancel(t.Context()), name, args...)
		cmd.Dir, cmd.SysProcAttr = dir, &syscall.SysProcAttr{Credential: as}
		return cmd
	}
	data := filepath.Join(dir, "data")
	if out, err := command(initdb, "-D", data, "-A", "trust", "-U", "postgres", "-N", "-E", "UTF8", "--no-locale").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := command(server, "-D", data, "-p", port, "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "max_connections=20")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGQUIT) // its children go, too
		_ = cmd.Wait()                          // it ends by the signal
	})
	answers := func() bool {
		conn, err := pgx.Connect(t.Context(), "postgres://postgres@127.0.0.1:"+port+"/postgres?sslmode=disable")
		if err == nil {
			_ = conn.Close(t.Context())
		}
		return err == nil
	}
	if !eventually(patience, answers) {
		t.Fatal("PostgreSQL does not answer")
	}
}

// postgresProgram finds a program of PostgreSQL's, or skips.
func postgresProgram(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err == nil {
		return path
	}
	if found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name); len(found) > 0 { // where Debian has it
		return found[len(found)-1]
	}
	testenv.Missing(t, "the page needs a database, and so %s: %v", name, err)
	return ""
}

// postgresUser is whom the server runs as where the test does as root, whom it refuses; nil for the test's own.
func postgresUser(t *testing.T) *syscall.Credential {
	t.Helper()
	if os.Getuid() != 0 {
		return nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		u, err = user.Lookup("nobody")
	}
	if err != nil {
		t.Fatal(err)
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}
