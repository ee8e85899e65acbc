package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

// TestGoInstall does what docs/installing.md says of Go, from the checkout, and has the program
// that comes of it write what shells, man and editors read. With -trimpath, as make build has it,
// what that compiled is not compiled again.
func TestGoInstall(t *testing.T) {
	testenv.Long(t, "the program is built and installed")
	t.Parallel()
	var blocks []string
	for _, b := range blocksOf(t, "../../docs/installing.md") {
		if b.lang == "sh" && b.info != "no-test" {
			blocks = append(blocks, b.text)
		}
	}
	if len(blocks) != 2 {
		t.Fatalf("%d blocks to run", len(blocks))
	}
	bin, dir := t.TempDir(), t.TempDir()
	for i, text := range blocks {
		cmd := exec.Command("sh", "-euc", text) //nolint:gosec // a page of ours
		cmd.Dir = [...]string{"../..", dir}[i]
		cmd.Env = append(os.Environ(), "GOBIN="+bin, "GOWORK=off", "GOFLAGS=-trimpath", "PATH="+bin+":"+os.Getenv("PATH"))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s%v\n%s", text, err, out)
		}
	}
	program := filepath.Join(bin, "a2a-gateway")
	out, err := exec.Command(program, "version").Output() //nolint:gosec // it was built above
	if err != nil || !strings.HasPrefix(string(out), "a2a-gateway ") || len(strings.Fields(string(out))) != 2 {
		t.Errorf("version: %q, %v", out, err)
	}
	if info, err := exec.Command("go", "version", "-m", program).Output(); err != nil || !strings.Contains(string(info), "CGO_ENABLED=0") { //nolint:gosec // the same
		t.Errorf("it was not built without C: %v\n%s", err, info)
	}
	for name, want := range map[string]string{
		"a2a-gateway.bash": "__complete", "man/a2a-gateway.1": ".TH", "man/a2a-gateway-serve.1": "a2a-gateway serve",
		"man/a2a-gateway.yaml.5": "publicURL", "config.schema.json": "publicURL",
	} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: no %q in %d bytes, %v", name, want, len(text), err)
		}
	}
	if schema, err := os.ReadFile(filepath.Join(dir, "config.schema.json")); err != nil || !json.Valid(schema) {
		t.Errorf("the schema is no JSON: %v", err)
	}
}
