package e2e

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
)

// TestSBOM: the list of what the binary is made of names every module in it, as the go
// command reads them, and is the same the second time.
func TestSBOM(t *testing.T) {
	t.Parallel()
	path := must(binary())
	program := t.TempDir() + "/sbom"
	if out, err := exec.Command("go", "build", "-C", "..", "-buildvcs=false", "-o", program, "./deploy/sbom").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	list := func() []byte {
		out, err := exec.Command(program, path).Output()
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	text := list()
	if !bytes.Equal(text, list()) {
		t.Error("another list the second time")
	}
	var bom struct {
		BOMFormat, SpecVersion string
		Metadata               struct{ Component struct{ Name string } }
		Components             []struct{ Name, Version, PURL string }
		Dependencies           []struct{ DependsOn []string }
	}
	if err := json.Unmarshal(text, &bom); err != nil {
		t.Fatal(err)
	}
	if bom.BOMFormat != "CycloneDX" || bom.SpecVersion != "1.6" || !strings.HasSuffix(bom.Metadata.Component.Name, "/a2a-gateway") {
		t.Errorf("%s %s of %q", bom.BOMFormat, bom.SpecVersion, bom.Metadata.Component.Name)
	}
	listed := map[string]string{}
	for _, c := range bom.Components {
		listed[c.Name] = c.Version
		if !strings.HasPrefix(c.PURL, "pkg:golang/") || !strings.Contains(c.PURL, "@") {
			t.Errorf("%s has the purl %q", c.Name, c.PURL)
		}
	}
	out, err := exec.Command("go", "version", "-m", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	modules := 0
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		if len(words) < 3 || words[0] != "dep" {
			continue
		}
		modules++
		if got, ok := listed[words[1]]; !ok || got != words[2] {
			t.Errorf("%s %s is listed as %q", words[1], words[2], got)
		}
	}
	if modules < 50 || len(bom.Components) != modules+1 || len(bom.Dependencies) != 1 ||
		len(bom.Dependencies[0].DependsOn) != modules+1 || listed["std"] == "" {
		t.Errorf("%d modules, %d of them listed with Go's own", modules, len(bom.Components))
	}
}
