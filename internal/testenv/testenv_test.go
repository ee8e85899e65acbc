package testenv

import (
	"os"
	"testing"
	"time"
)

func TestClear(t *testing.T) {
	local := time.Local
	defer func() { time.Local = local }()
	for _, name := range []string{
		"OTEL_SERVICE_NAME", "PGHOST", "XDG_STATE_HOME", "A2A_GATEWAY_CONFIG", "LISTEN_FDS", "STATE_DIRECTORY", "GIT_DIR", "LC_ALL",
	} {
		t.Setenv(name, "x")
	}
	kept := []string{"A2A_GATEWAY_TEST_REQUIRE_ALL", "A2A_GATEWAY_BENCH_RECORDS", "GOPROXY", "GOFLAGS", "HOME", "TMPDIR", "HTTPS_PROXY", "SSL_CERT_FILE"}
	for _, name := range kept {
		t.Setenv(name, "x")
	}
	t.Setenv("TZ", "Asia/Kathmandu")
	Clear()
	for _, name := range kept {
		if os.Getenv(name) != "x" {
			t.Errorf("%s is gone", name)
		}
	}
	for _, name := range []string{"OTEL_SERVICE_NAME", "PGHOST", "XDG_STATE_HOME", "A2A_GATEWAY_CONFIG", "LISTEN_FDS", "STATE_DIRECTORY", "GIT_DIR", "LC_ALL"} {
		if value, is := os.LookupEnv(name); is {
			t.Errorf("%s is %q still", name, value)
		}
	}
	if name, _ := time.Now().Zone(); name != "UTC" {
		t.Errorf("the local time is %s", name)
	}
}
