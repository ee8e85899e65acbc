package e2e

import (
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/audit/postgres/postgrestest"
)

// newPostgres makes a database and starts it. It ends with the test.
func newPostgres(t *testing.T) *postgrestest.Server {
	t.Helper()
	_, port, _ := strings.Cut(vacant(t), ":")
	p := postgrestest.New(t, t.TempDir(), port)
	t.Cleanup(p.End)
	return p
}
