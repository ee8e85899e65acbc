// Package testenv keeps what a machine has in its environment from deciding whether tests
// pass: proxies, the settings of other programs that the gateway or its tests' tools read,
// and the time zone. It also has the word of every test that `go test -short` leaves out. It
// is for tests alone, and imports nothing of ours.
package testenv

import (
	"os"
	"strings"
	"time"
)

// local is what no proxy is to be asked for: loopback, and names that are nobody's (RFC 2606).
const local = "localhost,127.0.0.1,::1,.localhost,.test,.example,.example.com,.invalid"

// Clear unsets the variables that change what the gateway, or a program that tests run,
// does, and makes UTC the local time. Proxies stay, for modules that a test downloads, but
// serve no call of a test. So does what tests are told themselves: PATH, HOME, Go's own
// variables, those of certificates and A2A_GATEWAY_TEST_….
//
// It is to be called before anything else runs, as it changes the process.
func Clear() {
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); foreign(name) {
			_ = os.Unsetenv(name)
		}
	}
	// curl and Python ask a proxy for loopback addresses too.
	_, _ = os.Setenv("NO_PROXY", local), os.Setenv("no_proxy", local)
	// Agents of the Go SDK write their times in local time.
	time.Local = time.UTC
	_ = os.Setenv("TZ", "UTC")
}

// foreign reports whether a variable is a setting that no test means to have.
func foreign(name string) bool {
	if strings.HasPrefix(name, "A2A_GATEWAY_") {
		return !strings.HasPrefix(name, "A2A_GATEWAY_TEST_") && !strings.HasPrefix(name, "A2A_GATEWAY_BENCH_")
	}
	for _, prefix := range []string{
		"OTEL_", "PG", "XDG_", "KUBERNETES_SERVICE_", "LISTEN_", // sockets that systemd hands over
		"LC_",
	} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	switch name {
	case "STATE_DIRECTORY", "RUNTIME_DIRECTORY", "CONFIGURATION_DIRECTORY", "CREDENTIALS_DIRECTORY", "NOTIFY_SOCKET", "WATCHDOG_USEC",
		"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", // of a hook that runs the tests
		"LANG", "LANGUAGE", "CDPATH", "POSIXLY_CORRECT", "PYTHONPATH", "PYTHONHOME", "NODE_OPTIONS", "JAVA_TOOL_OPTIONS":
		return true
	}
	return false
}
