package gatewaytest

import (
	"slices"
	"strings"
	"testing"
)

// Two runs that fail alike are equal too: what the operations are there for must
// happen, on every flavour, and it is the same for everybody but 0.1.
func TestOperationsHappen(t *testing.T) {
	t.Parallel()
	refused := []string{
		"cancel an ended task", "subscribe to an ended task", "message to an ended task", "unknown task",
		"agent hangs up", "push configurations",
		"list", // of a page too large
		// The 1.0 SDK neither reads null nor writes other data than objects over gRPC.
		"data array part", "data null part",
	}
	for _, f := range AllFlavours() {
		for _, sdk := range f.SDKs() {
			t.Run(f.Name+" "+string(sdk), func(t *testing.T) {
				t.Parallel()
				s := open(t, sdk, f, Start(t, f).URL, nil, nil)
				for _, op := range Operations() {
					if op.List && !speaks(f.Version, "1.0") || op.Name == "extended card" && sdk == Hand01 {
						continue
					}
					lines := s.perform(op)
					failed := slices.ContainsFunc(lines, func(line string) bool { return strings.Contains(line, ": error") })
					if len(lines) == 0 || failed && !slices.Contains(refused, op.Name) {
						t.Errorf("%s:\n%s", op.Name, strings.Join(lines, "\n"))
					}
				}
			})
		}
	}
}
