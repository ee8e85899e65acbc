package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/demo"
)

// TestFirstAgent does what README.md says of a first agent, but for serving, which
// first_agent.txtar does: the commands work, and write what stands below them.
func TestFirstAgent(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(readme), "## Your first agent\n")
	if !ok {
		t.Fatal("README.md has no first agent")
	}
	const usual = "http://127.0.0.1:9001"
	agent, err := demo.Agent10(demo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = agent.Close(t.Context()) })
	t.Chdir(t.TempDir())
	commands := strings.Split(strings.TrimSpace(block(t, section, "sh")), "\n")
	if len(commands) != 2 || commands[1] != "a2a-gateway serve -c config.yaml" {
		t.Fatalf("commands %q", commands)
	}
	for _, line := range append(commands[:1:1], "a2a-gateway validate -c config.yaml --online") {
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
	if want := block(t, section, "yaml"); config.String() != want {
		t.Errorf("init wrote\n%s\nREADME.md has\n%s", config.String(), want)
	}
}

// block is the first one of a language.
func block(t *testing.T, text, language string) string {
	t.Helper()
	_, rest, _ := strings.Cut(text, "```"+language+"\n")
	code, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatalf("there is no block of %s", language)
	}
	return code
}
