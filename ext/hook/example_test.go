package hook_test

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/ext/hook"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

// TestDocumentedService runs the service that docs/extensions/README.md shows.
func TestDocumentedService(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		testenv.Missing(t, "python3 is not installed")
	}
	h, err := hook.New(hook.Config{
		URL: secret.URL("http://127.0.0.1:" + start(t, python, documented(t))), Phases: []hook.Phase{hook.Request},
		Timeout: 30e9,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	const consent = `"metadata":{"https://acme.example/extensions/consent/v1":{"purpose":"tax"}}`
	tests := []struct{ name, in, want, denied string }{
		{"pass", `{"message" : {` + consent + `,"parts":[{"text":"hi"},{"data":{"n":1.0}}]}}`,
			`{"message" : {` + consent + `,"parts":[{"text":"hi"},{"data":{"n":1.0}}]}}`, ""},
		{"mutate", `{"message":{` + consent + `,"parts":[{"text":"from DE12345678901234567890, please"}]}}`,
			`[{"text":"from [account], please"}]`, ""},
		{"deny", `{"message":{"parts":[]}}`, "", "say what the user consented to"},
	}
	for _, tt := range tests {
		doc, err := h.Call(t.Context(), hook.Callout{Phase: hook.Request, Document: []byte(tt.in)})
		denied := new(hook.Denied)
		if tt.denied == "" && (err != nil || !strings.Contains(string(doc), tt.want)) {
			t.Errorf("%s: %s, %v", tt.name, doc, err)
		}
		if tt.denied != "" && (!errors.As(err, &denied) || denied.Message != tt.denied) {
			t.Errorf("%s: %s, %v", tt.name, doc, err)
		}
	}
}

// documented is the service in docs/extensions/README.md.
func documented(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/extensions/README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(page), "\n```python\n")
	block, _, closed := strings.Cut(rest, "```\n")
	if !found || !closed || len(block) < 100 {
		t.Fatal("docs/extensions/README.md has no service")
	}
	return block
}

// start runs a script that prints its port.
func start(t *testing.T, python, script string) (port string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), python, "-c", script)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // ended by the signal
	})
	port, err = bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(port)
}
