package proxytest

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

// Main runs the tests of a package, and fails when goroutines are left over at their end: a
// gateway that is closed stops all that it began. net/http alone may let a connection that it
// refused linger for half a second.
func Main(m *testing.M) {
	testenv.Overlap()
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait"))
}
