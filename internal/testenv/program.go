package testenv

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// Missing skips a test for want of something that is not part of Go, and says of what. Where every test
// has to run (A2A_GATEWAY_TEST_REQUIRE_ALL, as in CI), the test fails instead.
func Missing(t testing.TB, format string, args ...any) {
	t.Helper()
	why := fmt.Sprintf(format, args...)
	if os.Getenv("A2A_GATEWAY_TEST_REQUIRE_ALL") != "" {
		t.Fatal("required: " + why)
	}
	t.Skip(why)
}

// Program is where a program is that a test needs beside Go, which comes with another. Without it the
// test is skipped as by Missing.
func Program(t testing.TB, name, from string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		Missing(t, "%s is not installed (it comes with %s)", name, from)
	}
	return path
}
