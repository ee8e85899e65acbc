package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/a2a-gateway/a2a-gateway/internal/cli"
)

// pages are the documents that are read by users, but for tutorials, which are run whole.
func pages(t *testing.T) (paths []string) {
	t.Helper()
	for _, pattern := range []string{"README.md", "docs/*.md", "docs/extensions/*.md", "docs/performance/*.md", "deploy/*.md", "bench/*.md"} {
		matches, err := filepath.Glob(filepath.Join("../..", pattern))
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, matches...)
	}
	if len(paths) < 20 {
		t.Fatalf("only %d documents: is the test looking in the right place?", len(paths))
	}
	return paths
}

var (
	runBy  = regexp.MustCompile(`^<!-- run by (Test\w+) -->$`)
	notRun = regexp.MustCompile(`^<!-- not run: .{10,} -->$`)
)

// TestShellBlocksAreRun: a block of commands in a document is one that a script has, or names the
// test that runs it, or is marked no-test and says why.
func TestShellBlocksAreRun(t *testing.T) {
	t.Parallel()
	scripts := scriptFiles(t)
	for _, path := range pages(t) {
		for _, b := range blocksOf(t, path) {
			switch by := runBy.FindStringSubmatch(b.before); {
			case b.lang == "bash", b.lang == "shell", b.lang == "console":
				t.Errorf("%v: commands are sh", b)
			case b.lang != "sh":
			case b.info == "no-test" && !notRun.MatchString(b.before):
				t.Errorf("%v: above it has to stand <!-- not run: why -->", b)
			case b.info == "no-test", scripts[b.text]:
			case by == nil:
				t.Errorf("%v: nobody runs it: put it into a script, or say <!-- run by TestName --> above, or mark it no-test", b)
			case !tests(t, by[1], filepath.Base(path)):
				t.Errorf("%v: there is no %s in a file that reads %s", b, by[1], b.page)
			}
		}
	}
}

// scriptFiles are the shell scripts in testdata, by content.
func scriptFiles(t *testing.T) map[string]bool {
	t.Helper()
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for _, path := range archives {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range archive.Files {
			if strings.HasSuffix(file.Name, ".sh") {
				all[string(file.Data)] = true
			}
		}
	}
	return all
}

// tests reports whether there is such a test, in a package that reads the page.
func tests(t *testing.T, name, page string) bool {
	t.Helper()
	has, reads := map[string]bool{}, map[string]bool{}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git" || d.Name() == "bin"):
			return fs.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		source, err := os.ReadFile(path)
		dir := filepath.Dir(path)
		has[dir] = has[dir] || strings.Contains(string(source), "func "+name+"(")
		reads[dir] = reads[dir] || strings.Contains(string(source), "/"+page+`"`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for dir := range has {
		if has[dir] && reads[dir] {
			return true
		}
	}
	return false
}

var (
	inText  = regexp.MustCompile("`a2a-gateway\\s([^`]+)`")
	inBlock = regexp.MustCompile(`(?m)^a2a-gateway ((?:[^\n]*\\\n)*[^\n]*)$`)
)

// TestDocumentedCommandsExist: every verb and flag that a document names is there.
func TestDocumentedCommandsExist(t *testing.T) {
	t.Parallel()
	checked := 0
	for _, path := range pages(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, pattern := range []*regexp.Regexp{inText, inBlock} {
			for _, m := range pattern.FindAllStringSubmatch(string(text), -1) {
				checked++
				if missing := missingIn(m[1]); missing != "" {
					t.Errorf("%s: a2a-gateway %s: there is no %s", filepath.Base(path), m[1], missing)
				}
			}
		}
	}
	if checked < 50 {
		t.Errorf("only %d commands: is the test looking in the right place?", checked)
	}
}

// missingIn names what of a command line there is not.
func missingIn(line string) string {
	line, _, _ = strings.Cut(line, " | ")
	line, _, _ = strings.Cut(line, "#")
	words := strings.Fields(strings.ReplaceAll(line, "\\\n", " "))
	root := cli.Root(version())
	root.InitDefaultCompletionCmd()
	cmd, rest, err := root.Find(words)
	if err != nil || cmd == root {
		return "such verb"
	}
	for _, word := range rest {
		name, _, _ := strings.Cut(word, "=")
		name = strings.TrimRight(name, ".,;:")
		switch {
		case name == "--help", name == "--", name == "-":
		case strings.HasPrefix(name, "--"):
			if cmd.Flag(name[2:]) == nil {
				return "flag " + name
			}
		case strings.HasPrefix(name, "-"):
			if cmd.Flags().ShorthandLookup(name[1:2]) == nil && cmd.InheritedFlags().ShorthandLookup(name[1:2]) == nil {
				return "flag " + name
			}
		}
	}
	return ""
}

// slashless is an agent's base URL that ends without the slash: what relative references
// are resolved by (RFC 3986 §5.2.3) then loses the agent's id.
var slashless = regexp.MustCompile("(?:https?://[^\\s/`\"'<>]+|\\{\\{\\.Gateway\\}\\}|%s)/agents/(?:%s|[\\w{}<>.-]+)(?:/skills/[\\w-]+)?(?:[\\s`\"'),;]|\\.(?:\\s|$)|$)")

// inCard is a line of JSON: endpoints in cards stand as they are, since clients put paths of
// HTTP+JSON behind them.
var inCard = regexp.MustCompile(`^\s*("\w+": ?)?"https?:`)

// TestBaseURLsEndWithSlash: base URLs that people are given end with the slash. SDKs resolve
// `.well-known/agent-card.json` by them.
func TestBaseURLsEndWithSlash(t *testing.T) {
	t.Parallel()
	read := pages(t)
	for _, pattern := range []string{"docs/tutorials/*.md", "docs/integrations/*.md", "docs/recipes/*.md", "deploy/*.yaml", "config.example.yaml", "internal/cli/initfile/*.go", "internal/cli/democmd/text.go"} {
		matches, err := filepath.Glob(filepath.Join("../..", pattern))
		if err != nil {
			t.Fatal(err)
		}
		read = append(read, matches...)
	}
	found := 0
	for _, path := range read {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			found += strings.Count(line, "/agents/billing/")
			if url := slashless.FindString(line); url != "" && !inCard.MatchString(line) {
				t.Errorf("%s:%d: %s lacks the slash at its end", strings.TrimPrefix(path, "../../"), i+1, strings.TrimSpace(url))
			}
		}
	}
	if found < 10 {
		t.Errorf("only %d base URLs: is the test looking in the right place?", found)
	}
}
