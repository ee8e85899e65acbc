package house_test

import (
	"bufio"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

// TestLinkerLeavesMethodsOut: nothing in the program calls methods by names that are not known when
// it is linked, as text/template does. Where something does, the linker keeps every exported method
// of every type: the program was 16 MB larger for one page of HTML.
func TestLinkerLeavesMethodsOut(t *testing.T) {
	t.Parallel()
	testenv.Long(t, "it links the program")
	// Go shows what a linker has said again for every later program of the same package main, whatever its flags for
	// the linker: this one is compiled as no other is.
	cmd := exec.CommandContext(t.Context(), "go", "build", "-tags", "grpcnotrace", "-ldflags=-dumpdep", "-gcflags=./cmd/a2a-gateway=-N",
		"-o", filepath.Join(t.TempDir(), "a2a-gateway"), "./cmd/a2a-gateway")
	out, err := cmd.StderrPipe() // which references there are, a line each
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	seen := 0
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		seen++
		from, _, _ := strings.Cut(lines.Text(), " -> ")
		if name, ok := strings.CutSuffix(from, " <ReflectMethod>"); ok {
			t.Errorf("%s has the linker keep all methods", name)
		}
	}
	if err := cmd.Wait(); err != nil || lines.Err() != nil {
		t.Fatal(err, lines.Err())
	}
	if seen < 1000 {
		t.Errorf("only %d references were read", seen)
	}
}
