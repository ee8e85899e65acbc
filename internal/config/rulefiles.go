package config

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/a2a-gateway/a2a-gateway/policy"
)

// ruleDocument is the whole of a file with rules.
type ruleDocument struct {
	Rules []policy.Rule `yaml:"rules"`
}

// manyFiles keeps a pattern that went wrong from reading a disk.
const manyFiles = 1000

// readRules adds the rules of the files that policy.files names, in the order of the
// patterns and then of the names, to those of the main file.
func (c *Config) readRules(s *sources, dir string, lookup func(string) (string, bool)) error {
	paths, err := s.filesOf(c.Policy.Files, dir, "rules", "policy", "files")
	if err != nil {
		return err
	}
	sums := make([]fileSum, 0, len(paths))
	var errs []error
	for _, path := range paths {
		data, err := readFile(path)
		if err != nil {
			errs = append(errs, fmt.Errorf("read rules: %w", err))
			continue
		}
		sums = append(sums, fileSum{path, sha256.Sum256(data)})
		doc, rules, err := parseRules(path, data, lookup)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		f := &source{name: path, doc: doc, first: len(c.Policy.Rules), count: len(rules)}
		errs = append(errs, s.add(f, rules, c.Policy.Rules))
		c.Policy.Rules = append(c.Policy.Rules, rules...)
	}
	if len(c.Policy.Files) > 0 {
		c.Sum = sumOf(c.Sum, sums)
	}
	return errors.Join(errs...)
}

// parseRules reads one file with rules, as strictly as the configuration itself.
func parseRules(name string, data []byte, lookup func(string) (string, bool)) (*yaml.Node, []policy.Rule, error) {
	doc, err := document(name, data)
	if err != nil {
		return nil, nil, err
	}
	if err := expand(name, doc, lookup); err != nil {
		return nil, nil, err
	}
	var d ruleDocument
	s := checkShape(name, filepath.Dir(name), doc.Content[0], reflect.TypeFor[ruleDocument]())
	if err := doc.Load(&d, yaml.WithKnownFields()); err != nil {
		s.errs = append(s.errs, located(name, err, s))
	}
	if len(s.errs) == 0 && child(doc.Content[0], "rules") == nil {
		s.errs = append(s.errs, problemAt(name, doc.Content[0], "want the key rules, with a list of rules"))
	}
	return doc, d.Rules, errors.Join(s.errs...)
}

// filesOf lists the files with a kind of thing that the patterns at a place of the main file
// name, each once.
func (s *sources) filesOf(patterns []string, dir, kind string, place ...string) ([]string, error) {
	var all []string
	var errs []error
	for i, pattern := range patterns {
		wrong := func(format string, args ...any) {
			where := append(slices.Clip(place), fmt.Sprint(i))
			n := find(s.main.doc, where)
			errs = append(errs, problemAt(s.main.name, n, spell(where)+": "+format, args...))
		}
		found, err := matches(dir, pattern)
		switch {
		case err != nil:
			wrong("%q is no pattern for files: %w", pattern, err)
		case len(found) == 0 && !strings.Contains(pattern, "*"):
			wrong("there is no file %q; a pattern with a * may name none", pattern)
		case slices.ContainsFunc(found, s.isMain):
			wrong("%q names this file too; files with %s have one key, %s", pattern, kind, kind)
		case len(all)+len(found) > manyFiles:
			wrong("%q names more than %d files", pattern, manyFiles)
		default:
			for _, path := range found {
				if !slices.Contains(all, path) {
					all = append(all, path)
				}
			}
		}
	}
	return all, errors.Join(errs...)
}

func (s *sources) isMain(path string) bool {
	return filepath.Clean(path) == filepath.Clean(s.main.name)
}

// matches lists the files that a pattern names, in order. As in a shell, * stands for no
// name that begins with a dot: volumes of Kubernetes have links of such names to what
// they hold.
func matches(dir, pattern string) ([]string, error) {
	var found []string
	switch path := pattern; {
	case pattern == "":
		return nil, filepath.ErrBadPattern
	case !strings.ContainsAny(pattern, `*?[\`):
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		found = []string{path}
	default:
		if !filepath.IsAbs(path) && dir != "" {
			path = literal.Replace(dir) + string(filepath.Separator) + path
		}
		var err error
		if found, err = filepath.Glob(path); err != nil {
			return nil, err
		}
	}
	hidden := strings.HasPrefix(filepath.Base(pattern), ".")
	return slices.DeleteFunc(found, func(path string) bool {
		info, err := os.Stat(path)
		return err != nil || !info.Mode().IsRegular() || !hidden && strings.HasPrefix(filepath.Base(path), ".")
	}), nil
}

// literal makes patterns of directories that are meant as they are.
var literal = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)

// readFile reads a file of no more than sizeLimit bytes. Of one with more the beginning
// comes with the error.
func readFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err // os errors name the path
	}
	defer func() { _ = file.Close() }() // only read from
	var buf bytes.Buffer
	if err := readLimited(&buf, file); err != nil {
		return buf.Bytes(), fmt.Errorf("%s: %w", path, err)
	}
	return buf.Bytes(), nil
}

// fileSum is the SHA-256 of a file with rules or agents; zero where it cannot be read.
type fileSum struct {
	path string
	sum  [32]byte
}

// sumOf tells configurations of several files apart.
func sumOf(main [32]byte, files []fileSum) [32]byte {
	h := sha256.New()
	h.Write(main[:])
	for _, f := range files {
		fmt.Fprintf(h, "%d:%s", len(f.path), f.path)
		h.Write(f.sum[:])
	}
	return [32]byte(h.Sum(nil))
}
