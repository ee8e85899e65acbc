package house_test

import (
	"fmt"
	"os"
	"testing"
)

// TestMain takes the tests to the root of the module, from which all their paths are.
func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		fmt.Fprintln(os.Stderr, "go to the root of the module:", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}
