package sink

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

func TestMain(m *testing.M) {
	testenv.Clear() // pgx adds PG… variables to the addresses of databases
	testenv.Overlap()
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait"))
}
