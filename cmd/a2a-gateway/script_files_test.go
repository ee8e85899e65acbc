package main

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"
)

// cmdCode runs a program that has to end with an exit code: code N PROGRAM
// [args]. testscript's own exec knows zero and not zero only.
func cmdCode(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	if len(args) < 2 {
		ts.Fatalf("usage: code N PROGRAM [args]")
	}
	code, err := 0, ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	stdout, stderr := ts.ReadFile("stdout"), ts.ReadFile("stderr")
	w := worldOf(ts)
	_, _ = io.WriteString(ts.Stdout(), w.steady(stdout))
	_, _ = io.WriteString(ts.Stderr(), w.steady(stderr))
	if fmt.Sprint(code) != args[0] {
		ts.Fatalf("exit code %d, not %s", code, args[0])
	}
}

// cmdSchema judges a YAML file by a JSON Schema: schema SCHEMA FILE. Negated, the
// file has to be refused, and stderr says why.
func cmdSchema(ts *testscript.TestScript, neg bool, args []string) {
	schema, err := jsonschema.UnmarshalJSON(strings.NewReader(readFile(ts, args[0])))
	ts.Check(err)
	c := jsonschema.NewCompiler()
	ts.Check(c.AddResource("schema.json", schema))
	compiled, err := c.Compile("schema.json")
	ts.Check(err)
	var document any
	ts.Check(yaml.Load([]byte(readFile(ts, args[1])), &document))
	err = compiled.Validate(document)
	if neg == (err == nil) {
		ts.Fatalf("judged wrong: %v", err)
	}
	if err != nil {
		_, _ = fmt.Fprintln(ts.Stderr(), err)
	}
}

// cmdPaste runs the commands that `demo` printed, as if they had been pasted into
// a shell: paste FILE. The heading before the first comment is no command.
func cmdPaste(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	_, commands, ok := strings.Cut(readFile(ts, args[0]), "\n\n")
	if !ok {
		ts.Fatalf("nothing to paste")
	}
	// What each section promises stands above what it answers.
	var script strings.Builder
	for line := range strings.Lines(commands) {
		if strings.HasPrefix(line, "#") {
			_, _ = fmt.Fprintf(&script, "echo; echo %s\n", quote(strings.TrimSpace(line)))
		}
		script.WriteString(line)
		if ends(line) {
			script.WriteString("echo\n")
		}
	}
	cmd := exec.Command("sh") //nolint:noctx // ends when the commands have
	cmd.Stdin = strings.NewReader(script.String())
	out, err := cmd.CombinedOutput()
	w := worldOf(ts)
	_, _ = io.WriteString(ts.Stdout(), w.steady(withoutVolatile(string(out))))
	ts.Check(err)
}

// ends reports whether a command that prints something is complete with this line.
func ends(line string) bool {
	line = strings.TrimSpace(line)
	printing := strings.HasPrefix(line, "curl ") || strings.HasPrefix(line, "-d ")
	return printing && !strings.HasSuffix(line, "\\")
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// withoutVolatile leaves out heartbeats and the headers that vary.
func withoutVolatile(s string) string {
	var out strings.Builder
	for line := range strings.Lines(strings.ReplaceAll(s, "\r", "")) {
		switch name, _, _ := strings.Cut(line, ":"); name {
		case "Date", "Content-Length", "X-Request-Id", "":
			continue
		}
		out.WriteString(line)
	}
	return out.String()
}
