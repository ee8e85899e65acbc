// Command notices writes down under which licences the modules stand that a program is
// linked from, with their texts: what has to go with the binary wherever it goes. It fails
// where a licence does not go with Apache-2.0.
//
//	go run ./deploy/notices ./cmd/a2a-gateway >NOTICES
package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

func main() {
	if err := run(os.Stdout, os.Args[1:]); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "notices:", err)
		os.Exit(1)
	}
}

func run(to io.Writer, patterns []string) error {
	modules, err := linked(".", patterns...)
	if err != nil {
		return err
	}
	return write(to, modules)
}

// module is one of those that a program is linked from.
type module struct{ path, version, dir string }

// linked lists the modules with packages in what the patterns name, in the tree of the
// module in dir, but for that module itself. Whatever is not in the cache has no dir.
func linked(dir string, patterns ...string) (list []module, err error) {
	const form = "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}{{end}}"
	args := append([]string{"list", "-C", dir, "-e", "-deps", "-f", form}, patterns...)
	cmd := exec.Command("go", args...) //nolint:gosec // the patterns are the caller's own
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list modules: %w", err)
	}
	known := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		parts := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(parts) == 3 && !known[parts[0]] {
			known[parts[0]] = true
			list = append(list, module{parts[0], parts[1], parts[2]})
		}
	}
	return list, nil
}

// write writes a table of the modules, and then every text once, below those that it is for.
func write(to io.Writer, modules []module) error {
	var table bytes.Buffer
	var texts []string
	users := map[string][]string{}
	for _, m := range modules {
		t, err := read(m.dir)
		if err != nil {
			return fmt.Errorf("%s: %w", m.path, err)
		}
		if !t.compatible(m.path) {
			return fmt.Errorf("%s: its licence is %q, which does not go with Apache-2.0", m.path, t.kinds)
		}
		_, _ = fmt.Fprintf(&table, "%s %s: %s\n", m.path, m.version, strings.Join(t.kinds, " and "))
		for _, text := range t.texts {
			if users[text] == nil {
				texts = append(texts, text)
			}
			users[text] = append(users[text], m.path)
		}
	}
	for _, text := range texts {
		_, _ = fmt.Fprintf(&table, "\n%s\n%s\n\n%s\n", strings.Repeat("=", 80), strings.Join(users[text], "\n"), text)
	}
	_, err := table.WriteTo(to)
	return err
}
