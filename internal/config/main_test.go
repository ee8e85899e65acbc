package config

import (
	"os"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

// TestMain has pgx find no PG… variables, which it adds to the addresses of databases.
func TestMain(m *testing.M) {
	testenv.Clear()
	os.Exit(m.Run())
}
