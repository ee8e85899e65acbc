package house_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPackagesWithoutDetector: CI runs every test under the race detector, and once more without it
// where tests do less under it or read how often they are to kill. A package with such tests is named
// in .ci/run.
func TestPackagesWithoutDetector(t *testing.T) {
	t.Parallel()
	script, err := os.ReadFile(".ci/run")
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`(?m)^without="(.*)"$`).FindSubmatch(script)
	if list == nil {
		t.Fatal(".ci/run names no packages")
	}
	differs := regexp.MustCompile(`//go:build !?race|RaceEnabled|gatewaytest\.Sampled|testenv\.Alone|A2A_GATEWAY_TEST_(KILLS|RECORDS)`)
	found := 0
	err = filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (path == "e2e" || path == "interop" || path == "bench" || d.Name() == "node_modules" || d.Name() == ".git"):
			return filepath.SkipDir
		case !strings.HasSuffix(path, "_test.go") || path == "internal/house/race_test.go":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil || !differs.Match(text) {
			return err
		}
		found++
		dir := "./" + filepath.ToSlash(filepath.Dir(path))
		for _, pattern := range strings.Fields(string(list[1])) {
			if below, ok := strings.CutSuffix(pattern, "/..."); dir == pattern || ok && (dir == below || strings.HasPrefix(dir, below+"/")) {
				return nil
			}
		}
		t.Errorf("%s does more without the detector, and .ci/run does not have %s run without it", path, dir)
		return nil
	})
	if err != nil || found < 5 {
		t.Fatal(found, err)
	}
}
