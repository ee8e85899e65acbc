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
// rules or agents that it names. They tell when there is something else to load.
// It is asked again and again by internal/configwatch, and keeps the patterns as long as the main
// file stays the same. It is for one goroutine.
type Sources struct {
	path     string
	main     [32]byte    // of the file when patterns were read from it
	patterns [2][]string // of files with rules, and of those with agents
}

// NewSources names the file; it is read by Sum.
func NewSources(path string) *Sources { return &Sources{path: path} }

// Sum is Config.Sum of what Load would read now, valid or not. It is false when there
// is no such file, or nothing in it: in the moment of its replacement, a file may be
// missing, or be truncated. A further file that is gone makes another sum.
func (s *Sources) Sum() ([32]byte, bool) {
	data, _ := readFile(s.path) // what is too long is told apart by its beginning
	if len(data) == 0 {
		return [32]byte{}, false
	}
	if main := sha256.Sum256(data); main != s.main {
		s.main, s.patterns = main, patternsIn(data)
	}
	sum := s.main
	for _, patterns := range s.patterns {
		if len(patterns) > 0 {
			sum = sumOf(sum, s.sums(patterns))
		}
	}
	return sum, true
}

// sums are those of the files that patterns name. A file that cannot be read has a sum too, that of
// nothing: it becomes another one once it can be.
func (s *Sources) sums(patterns []string) []fileSum {
	var sums []fileSum
	for _, pattern := range patterns {
		found, _ := matches(filepath.Dir(s.path), pattern) // one that is wrong names no files
		for _, path := range found {
			if slices.ContainsFunc(sums, func(f fileSum) bool { return f.path == path }) || len(sums) > manyFiles {
				continue
			}
			f := fileSum{path: path}
			if data, err := readFile(path); err == nil {
				f.sum = sha256.Sum256(data)
			}
			sums = append(sums, f)
		}
	}
	return sums
}

// Dirs are the directories in which a change may mean another Sum than the last one.
// They need not exist: for conf.d/*/rules.yaml they are conf.d, where directories may come, and
// each directory that is there by now. Sum has to have been asked before, which reads the patterns.
//
// Directories and not files are watched: editors and volumes of Kubernetes replace a file by a
// rename, after which a watch on the file itself sees nothing.
func (s *Sources) Dirs() []string {
	dirs := []string{filepath.Dir(s.path)}
	add := func(dir string) {
		if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	for _, pattern := range slices.Concat(s.patterns[0], s.patterns[1]) {
		path, base := pattern, filepath.Dir(s.path)
		if filepath.IsAbs(path) {
			base = ""
		}
		for { // up to the first directory that has no pattern in its name
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

// patternsIn finds policy.files and fleet.files in a configuration that may have anything
// wrong with it: what is wrong may be in a file that it names, and is put right there.
func patternsIn(data []byte) (found [2][]string) {
	// Errors are none of this function's: Load tells of them.
	doc, err := document("", data)
	if err != nil || expand("", doc, os.LookupEnv) != nil {
		return found
	}
	for i, name := range []string{"policy", "fleet"} {
		section := child(doc.Content[0], name)
		if section == nil {
			continue
		}
		list := child(section, "files")
		if list == nil || target(list).Kind != yaml.SequenceNode {
			continue
		}
		for _, n := range target(list).Content {
			if n = target(n); n.Kind == yaml.ScalarNode {
				found[i] = append(found[i], n.Value)
			}
		}
	}
	return found
}
