package main

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit/vault"
	"github.com/a2a-gateway/a2a-gateway/internal/keys"
)

// TestAuditContent: what was captured is shown, listed and erased.
func TestAuditContent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "config.yaml")
	text := "server: {address: \"127.0.0.1:0\", publicURL: \"http://localhost:8080\", dataDir: " + strconv.Quote(dir) + "}\nauthn: {anonymous: true}\n" +
		"agents: [{id: a, card: \"http://127.0.0.1:9/card\"}]\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ring, err := keys.Open(keys.Config{Dir: filepath.Join(dir, "keys")}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(ring.Close)
	if err := os.MkdirAll(filepath.Join(dir, "audit"), 0o700); err != nil {
		t.Fatal(err)
	}
	v, err := vault.Open(filepath.Join(dir, "audit"), ring, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = v.Close() })
	got, err := v.Put(&vault.Item{Subject: "alice", RequestID: "r1", Request: &vault.Body{Text: "hello"}}, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"content", "--id", got.ID}, 0, "hello"},
		{[]string{"content", "--request", "r1"}, 0, got.Digest},
		{[]string{"content", "--request", "r2"}, 1, "no content of this call"},
		{[]string{"content"}, 2, "--request"},
		{[]string{"find-subject", "alice"}, 0, got.ID},
		{[]string{"erase", "alice", "--issuer", "other"}, 0, "content of 0 calls"},
		{[]string{"erase", "alice"}, 0, "content of 1 call,"},
		{[]string{"erase", "alice"}, 0, "content of 0 calls"},
		{[]string{"content", "--id", got.ID}, 1, "erased"},
		{[]string{"erase", ""}, 2, "SUBJECT"},
		{[]string{"erase", "alice", "--admin", "127.0.0.1:9"}, 1, "admin.token"},
	} {
		var out bytes.Buffer
		code := run(t.Context(), append([]string{"audit", "-c", file}, step.args...), &out, &out)
		if code != step.code || !strings.Contains(out.String(), step.want) {
			t.Errorf("%q: %d, %s", step.args, code, out.String())
		}
	}
}
