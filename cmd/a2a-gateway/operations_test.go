package main

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// TestOperationsCommands: what docs/operations.md has one do for a backup is what
// backup.txtar does, and the commands that it names are there, with their flags.
func TestOperationsCommands(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	script, err := txtar.ParseFile("testdata/backup.txtar")
	if err != nil {
		t.Fatal(err)
	}
	scripts := 0
	for _, file := range script.Files {
		if strings.HasSuffix(file.Name, ".sh") {
			if scripts++; !strings.Contains(page, "```sh\n"+string(file.Data)+"```\n") {
				t.Errorf("the page does not have %s as it is run:\n%s", file.Name, file.Data)
			}
		}
	}
	if shown := strings.Count(page, "```sh\n"); shown != scripts {
		t.Errorf("the page has %d scripts, of which %d are run", shown, scripts)
	}
	commands := regexp.MustCompile("`a2a-gateway\\s([^`]+)`").FindAllStringSubmatch(page, -1)
	for _, m := range commands {
		offered(t, strings.Fields(m[1]))
	}
	if len(commands) < 10 {
		t.Errorf("only %d commands", len(commands))
	}
}

// offered asks a command for its flags.
func offered(t *testing.T, words []string) {
	t.Helper()
	var verbs, flags []string
	for _, word := range words {
		switch {
		case strings.HasPrefix(word, "-"):
			flags = append(flags, word)
		case len(flags) == 0 && word == strings.ToLower(word):
			verbs = append(verbs, word)
		}
	}
	var out, errs bytes.Buffer
	if code := run(t.Context(), append(verbs, "--help"), &out, &errs); code != 0 || !strings.Contains(out.String(), "a2a-gateway "+strings.Join(verbs, " ")) {
		t.Errorf("%q: exit %d\n%s%s", words, code, out.String(), errs.String())
	}
	for _, flag := range flags {
		if !strings.Contains(out.String(), " "+flag+" ") && !strings.Contains(out.String(), " "+flag+",") {
			t.Errorf("%q has no flag %s", verbs, flag)
		}
	}
}
