package interop_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// builds is a directory for the programs that tests build. TestMain makes and removes it.
var builds string

func TestMain(m *testing.M) { os.Exit(runAll(m)) }

func runAll(m *testing.M) int {
	var err error
	if builds, err = os.MkdirTemp("", "a2a-gateway-interop-"); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(builds) }()
	return m.Run()
}

// Programs are built once for all tests, when the first of them asks: linking the gateway takes
// longer than most of the tests.
var (
	gatewayProgram  = built("a2a-gateway", "../cmd/a2a-gateway", os.Environ())
	unscopedProgram = built("unscoped", "unscoped", append(os.Environ(), "GOWORK=off", "GOFLAGS="), "-mod=readonly")
)

// built builds the program in a directory, and gives its file name.
func built(name, dir string, env []string, flags ...string) func() (string, error) {
	return sync.OnceValues(func() (string, error) {
		path := filepath.Join(builds, name)
		//nolint:noctx // the test has its own timeout
		cmd := exec.Command("go", append(append([]string{"build", "-buildvcs=false"}, flags...), "-o", path, ".")...)
		cmd.Dir, cmd.Env = dir, env
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("%w\n%s", err, out)
		}
		return path, nil
	})
}
