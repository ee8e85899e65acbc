package main

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// TestStrippedSize: a program with names for debuggers is as large as the same without.
func TestStrippedSize(t *testing.T) {
	t.Parallel()
	sizes := map[string]float64{}
	for name, flags := range map[string]string{"whole": "", "stripped": "-s -w"} {
		path := filepath.Join(t.TempDir(), name)
		if said, err := exec.CommandContext(t.Context(), "go", "build", "-o", path, "-ldflags", flags, "./testdata/hello").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, said)
		}
		size, err := strippedSize(path)
		if err != nil {
			t.Fatal(err)
		}
		sizes[name] = size
	}
	// Sections begin at pages, so that a few kilobytes may differ.
	if d := sizes["whole"] - sizes["stripped"]; sizes["stripped"] < 0.1 || d < -0.02 || d > 0.02 {
		t.Errorf("%v MB", sizes)
	}
	if _, err := strippedSize("start_test.go"); err == nil {
		t.Error("a text is taken for a program")
	}
}
