package democmd

import (
	"errors"
	"strings"
	"syscall"
	"testing"
)

// TestDemoListeners: all listeners of the demonstration move with --address, and what is no
// address is refused.
func TestDemoListeners(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"127.0.0.1:8080": "127.0.0.1:8080 127.0.0.1:9902 127.0.0.1:9901 http://127.0.0.1:8080",
		"127.0.0.1":      "127.0.0.1:8080 127.0.0.1:9902 127.0.0.1:9901 http://127.0.0.1:8080",
		"127.0.0.2":      "127.0.0.2:8080 127.0.0.2:9902 127.0.0.2:9901 http://127.0.0.2:8080",
		"127.0.0.1:8090": "127.0.0.1:8090 127.0.0.1:0 127.0.0.1:0 http://127.0.0.1:8090",
		"127.0.0.1:0":    "127.0.0.1:0 127.0.0.1:0 127.0.0.1:0 http://127.0.0.1:8080",
		"localhost:8090": "localhost:8090 127.0.0.1:0 127.0.0.1:0 http://localhost:8090",
		"[::1]:8090":     "[::1]:8090 [::1]:0 [::1]:0 http://[::1]:8090",
		":8090":          ":8090 127.0.0.1:0 127.0.0.1:0 http://127.0.0.1:8090",
		"0.0.0.0":        "0.0.0.0:8080 127.0.0.1:9902 127.0.0.1:9901 http://127.0.0.1:8080",
		"[::]:8090":      "[::]:8090 127.0.0.1:0 127.0.0.1:0 http://127.0.0.1:8090",
		"10.0.0.5:8080":  "10.0.0.5:8080 127.0.0.1:9902 127.0.0.1:9901 http://10.0.0.5:8080",
		"":               "neither a host nor host:port",
		"127.0.0.1:http": `"http" is not a port`,
		"127.0.0.1:-1":   `"-1" is not a port`,
		"127.0.0.1:1:2":  "neither a host nor host:port",
	} {
		var l listeners
		got := ""
		if err := l.listenAt(address); err != nil {
			got = err.Error()
		} else {
			got = strings.Join([]string{l.Address, l.StatusAddress, l.AdminAddress, l.PublicURL}, " ")
		}
		if got != want && (strings.Contains(want, "//") || !strings.Contains(got, want)) {
			t.Errorf("%q: %s, want %s", address, got, want)
		}
	}
	if err := taken(syscall.EADDRINUSE); !strings.Contains(err.Error(), "--address") {
		t.Error(err)
	}
	if other := errors.New("other"); taken(other) != other {
		t.Error("another error is changed")
	}
}
