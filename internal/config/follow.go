package config

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Sources are the files that Load reads a configuration from: the one, and those with
// rules that it names. They tell when there is something else to load.
type Sources struct {
	path     string
	main     [32]byte // of the file when patterns were read from it
	patterns []string
}

// NewSources names the file; it is read by Sum.
func NewSources(path string) *Sources { return &Sources{path: path} }

// Sum is Config.Sum of what Load would read now, valid or not. It is false when there
// is no such file, or nothing in it: in the moment of its replacement, a file may be
// missing, or be truncated. A file with rules that is gone makes another sum.
func (s *Sources) Sum() ([32]byte, bool) {
	data, _ := readFile(s.path) // what is too long is told apart by its beginning
	if len(data) == 0 {
		return [32]byte{}, false
	}
	if main := sha256.Sum256(data); main != s.main {
		s.main, s.patterns = main, patternsIn(data)
	}
	if len(s.patterns) == 0 {
		return s.main, true
	}
	var sums []fileSum
	for _, pattern := range s.patterns {
		found, _ := matches(filepath.Dir(s.path), pattern) // one that is wrong names no files
		for _, path := range found {
			if slices.ContainsFunc(sums, func(f fileSum) bool { return f.path == path }) || len(sums) > manyRuleFiles {
				continue
			}
			f := fileSum{path: path}
			if data, err := readFile(path); err == nil {
				f.sum = sha256.Sum256(data)
			}
			sums = append(sums, f)
		}
	}
	return sumOf(s.main, sums), true
}

// Dirs are the directories in which a change may mean another Sum than the last one.
// They need not exist.
func (s *Sources) Dirs() []string {
	dirs := []string{filepath.Dir(s.path)}
	add := func(dir string) {
		if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	for _, pattern := range s.patterns {
		path, base := pattern, filepath.Dir(s.path)
		if filepath.IsAbs(path) {
			base = ""
		}
		for {
			up := filepath.Dir(path)
			if !strings.ContainsAny(up, `*?[\`) {
				add(filepath.Join(base, up))
				break
			}
			found, _ := filepath.Glob(filepath.Join(literal.Replace(base), up))
			for _, dir := range found {
				if info, err := os.Stat(dir); err == nil && info.IsDir() {
					add(dir)
				}
			}
			path = up
		}
	}
	return dirs
}

// patternsIn finds policy.files in a configuration that may have anything wrong with it.
func patternsIn(data []byte) []string {
	doc, err := document("", data)
	if err != nil || expand("", doc, os.LookupEnv) != nil {
		return nil
	}
	section := child(doc.Content[0], "policy")
	if section == nil {
		return nil
	}
	list := child(section, "files")
	if list == nil || target(list).Kind != yaml.SequenceNode {
		return nil
	}
	var patterns []string
	for _, n := range target(list).Content {
		if n = target(n); n.Kind == yaml.ScalarNode {
			patterns = append(patterns, n.Value)
		}
	}
	return patterns
}
