package console

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"
)

// TestBrowserDemo does what a newcomer does: starts the demonstration, opens the console with
// the token that is printed, and finds it alive. What it looks for is in
// internal/console/ui/test/demo.mjs; readme.png among its screenshots is the one in README.md.
func TestBrowserDemo(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	at, token := demonstration(t)
	chromium, _ := exec.LookPath("chromium")
	node(t, []string{"CONSOLE=" + at, "TOKEN=" + token, "CHROMIUM=" + chromium}, "test/demo.mjs")
}

// demonstration runs `a2a-gateway demo`, and reads where its console is.
func demonstration(t *testing.T) (at, token string) {
	t.Helper()
	program := os.Getenv("A2A_GATEWAY_TEST_PROGRAM")
	if program == "" {
		program = filepath.Join(t.TempDir(), "a2a-gateway")
		if out, err := exec.CommandContext(t.Context(), "go", "build", "-C", "../..", "-buildvcs=false", "-o", program, "./cmd/a2a-gateway").CombinedOutput(); err != nil {
			t.Fatalf("build: %v\n%s", err, out)
		}
	}
	cmd := exec.Command(program, "demo", "--address", "127.0.0.1:0") //nolint:noctx // it is told to end
	printed, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the demonstration: %v", err)
		}
	})
	late := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	place := regexp.MustCompile(`^The console is at (\S+)/ui/, for this token: (\S+)$`)
	lines := bufio.NewScanner(printed)
	for lines.Scan() {
		if found := place.FindStringSubmatch(lines.Text()); found != nil {
			go func() { _, _ = io.Copy(io.Discard, printed) }() // it has more to say
			return found[1], found[2]
		}
	}
	t.Fatal("it does not say where its console is")
	return "", ""
}
