package main

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/demo"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

const firstAgent = "Your first agent"

// TestFirstAgent does what README.md says of a first agent: its commands are run one after the
// other, up to the call, which is answered as shown.
func TestFirstAgent(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		testenv.Missing(t, "the call is curl: %v", err)
	}
	said := map[bool]string{false: "its card is at", true: "serving"}
	r := newReader(t)
	called := false
	for _, b := range blocksOf(t, "../../README.md") {
		if b.section != firstAgent || b.lang == "yaml" {
			continue
		}
		r.follow(b)
		if b.info == "terminal" { // a reader looks at it before the next command
			r.await(b, "…"+said[strings.Contains(b.text, " serve ")]+"…\n")
		}
		called = called || strings.HasPrefix(b.text, "curl ")
	}
	r.interruptAll()
	if !called {
		t.Error("README.md does not call its first agent")
	}
}

// TestFirstAgentConfiguration: init writes the file that README.md shows, and the file is good.
func TestFirstAgentConfiguration(t *testing.T) {
	var command, want string
	for _, b := range blocksOf(t, "../../README.md") {
		for line := range strings.Lines(b.text) {
			if b.section == firstAgent && strings.HasPrefix(line, "a2a-gateway init ") {
				command = strings.TrimSpace(line)
			}
		}
		if b.section == firstAgent && b.lang == "yaml" {
			want = b.text
		}
	}
	if command == "" || want == "" {
		t.Fatalf("README.md has no command that writes a configuration, %q, or does not show it", command)
	}
	const usual = "http://127.0.0.1:9001"
	agent, err := demo.Agent10(demo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = agent.Close(t.Context()) })
	t.Chdir(t.TempDir())
	for _, line := range []string{command, "a2a-gateway validate -c config.yaml --online"} {
		var out, errs bytes.Buffer
		words := strings.Fields(strings.ReplaceAll(line, usual, agent.URL))
		if code := run(t.Context(), words[1:], &out, &errs); code != 0 || out.Len() == 0 {
			t.Errorf("%s: exit %d\n%s%s", line, code, out.String(), errs.String())
		}
	}
	wrote, err := os.ReadFile("config.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var config strings.Builder
	for line := range strings.Lines(strings.ReplaceAll(string(wrote), agent.URL, usual)) {
		if !strings.HasPrefix(line, "#") {
			config.WriteString(line)
		}
	}
	if config.String() != want {
		t.Errorf("init wrote\n%s\nREADME.md has\n%s", config.String(), want)
	}
}
