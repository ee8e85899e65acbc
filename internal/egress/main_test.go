package egress

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

func TestMain(m *testing.M) {
	testenv.Overlap()
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait"))
}
