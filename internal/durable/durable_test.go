package durable

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

// TestReplace: the new file is there with its content and mode, and nothing beside it.
func TestReplace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	if err := os.WriteFile(path, []byte("a longer one that everybody may read"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"first", "", "second"} {
		if err := Replace(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != text {
			t.Errorf("got %q, %v, want %q", got, err, text)
		}
	}
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 1 {
		t.Errorf("left behind: %v, %v", list, err)
	}
}

// TestReplaceFails: the old file stays, and no other comes.
func TestReplaceFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	taken := filepath.Join(dir, "taken")
	if err := os.MkdirAll(filepath.Join(taken, "by a directory"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{taken, filepath.Join(dir, "nowhere", "file")} {
		if Replace(path, []byte("new")) == nil {
			t.Errorf("%s was replaced", path)
		}
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 1 {
		t.Errorf("left behind: %v, %v", list, err)
	}
}

// TestReplaceIsOneStep: whoever reads meanwhile reads a whole file.
func TestReplaceIsOneStep(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	texts := [][]byte{bytes.Repeat([]byte("a"), 100_000), bytes.Repeat([]byte("b"), 50_000)}
	if err := Replace(path, texts[0]); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for _, text := range texts {
		wg.Go(func() {
			for range 20 {
				if err := Replace(path, text); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 200 {
		got, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(got, texts[0]) && !bytes.Equal(got, texts[1]) {
			t.Fatalf("%d bytes, %v", len(got), err)
		}
	}
	wg.Wait()
}

func TestWriteTellsOfErrors(t *testing.T) {
	t.Parallel()
	f, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	if err := Write(f, []byte("x")); err != nil {
		t.Fatal(err)
	}
	if Write(f, []byte("x")) == nil {
		t.Error("a closed file was written")
	}
}

// TestRewrite: a file keeps whom its permissions let in, and a new one lets nobody in.
func TestRewrite(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	if err := Rewrite(path, []byte("new")); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []os.FileMode{0o600, 0o640, 0o644, 0o440} {
		before, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if err := Rewrite(path, []byte(mode.String())); err != nil {
			t.Fatal(err)
		}
		after, err := os.Stat(path)
		if err != nil || after.Mode().Perm() != mode || os.SameFile(before, after) {
			t.Errorf("%v, %v, want another file of mode %v", after.Mode(), err, mode)
		}
	}
	if Rewrite(filepath.Join(path, "file"), nil) == nil {
		t.Error("a file below a file was written")
	}
}
