//go:build !minimal

package postgres_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"github.com/a2a-gateway/a2a-gateway/audit/postgres"
	"github.com/a2a-gateway/a2a-gateway/audit/postgres/postgrestest"
	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

// shared is one server for all tests that do no harm to it; each has tables of its own.
var (
	shared    sync.Mutex
	sharedAt  *server
	sharedDir string
	tables    atomic.Int64
)

func TestMain(m *testing.M) {
	testenv.Clear()
	if dir := os.Getenv(victimDir); dir != "" {
		os.Exit(victim(dir, os.Getenv(victimURL)))
	}
	testenv.Overlap()
	code := m.Run()
	if sharedAt != nil {
		sharedAt.End()
		_ = os.RemoveAll(sharedDir)
	}
	// open leaves the log of what it opens, as the process does that is killed.
	written := goleak.IgnoreTopFunction("github.com/a2a-gateway/a2a-gateway/telemetry.(*sink).run")
	if err := goleak.Find(written); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// server is a PostgreSQL with tables of many tests.
type server struct{ *postgrestest.Server }

// ours starts a server that the test may harm.
func ours(t testing.TB) *server {
	t.Helper()
	s := &server{postgrestest.New(t, t.TempDir(), freePort(t))}
	t.Cleanup(s.End)
	return s
}

// anybodys is the shared one.
func anybodys(t testing.TB) *server {
	t.Helper()
	postgrestest.Need(t)
	shared.Lock()
	defer shared.Unlock()
	if sharedAt == nil {
		dir, err := os.MkdirTemp("", "postgres") //nolint:usetesting // it outlives the test
		if err != nil {
			t.Fatal(err)
		}
		sharedDir = dir
		sharedAt = &server{postgrestest.New(t, dir, freePort(t))}
	}
	return sharedAt
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
	return postgres.Config{URL: secret.New(s.URL()), Table: fmt.Sprintf("audit_%d", tables.Add(1))}
}

// ask runs a query of one row.
func ask[T any](t testing.TB, s *server, query string, args ...any) (value T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if err := conn.QueryRow(ctx, query, args...).Scan(&value); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return value
}
