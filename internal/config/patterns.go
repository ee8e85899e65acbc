package config

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
)

// manyFiles is how many files a list of patterns may name. It keeps a pattern that went wrong, such
// as /**, from reading a disk.
const manyFiles = 1000

// filesOf lists the files that the patterns of a list in the main file name, each once, in the order
// of the patterns. A path without a * has to be there: whoever wrote it down means that file, and
// would miss its rules or agents without knowing.
func (s *sources) filesOf(l *list, patterns []string, dir string) ([]string, error) {
	var all []string
	var errs []error
	for i, pattern := range patterns {
		// Errors stand where the main file has the pattern: the files themselves have no mistake.
		wrong := func(format string, args ...any) {
			where := keypath.Of(l.patterns, i)
			n := find(s.main.doc, where)
			errs = append(errs, problemAt(s.main.name, n, where.String()+": "+format, args...))
		}
		found, err := matches(dir, pattern)
		switch {
		case err != nil:
			wrong("%q is no pattern for files: %w", pattern, err)
		case len(found) == 0 && !strings.Contains(pattern, "*"):
			wrong("there is no file %q; a pattern with a * may name none", pattern)
		case slices.ContainsFunc(found, s.isMain):
			wrong("%q names this file too; files with %[2]s have one key, %[2]s", pattern, l.key())
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

// isMain reports whether a path is that of the main file. Read as a file of rules it would be
// refused for all of its other keys, which says less than that a pattern is too wide.
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
	// A pattern that begins with a dot itself asks for such names.
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
	file, err := os.Open(path) //nolint:gosec // the operator's path
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

// fileSum is the SHA-256 of a file with rules or agents; zero where it cannot be read. Its path
// counts as well: the order of files is the order of what is in them.
type fileSum struct {
	path string
	sum  [32]byte
}

// sumOf tells configurations of several files apart. The length of a path stands before it, so that
// no other list of files is written alike.
func sumOf(main [32]byte, files []fileSum) [32]byte {
	h := sha256.New()
	h.Write(main[:])
	for _, f := range files {
		fmt.Fprintf(h, "%d:%s", len(f.path), f.path)
		h.Write(f.sum[:])
	}
	return [32]byte(h.Sum(nil))
}
