package verb

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestUnread: a configuration in the working directory is named where nobody has named one and the usual place
// has none.
func TestUnread(t *testing.T) {
	usual := filepath.Join(t.TempDir(), "usual.yaml")
	t.Setenv("A2A_GATEWAY_CONFIG", usual)
	t.Chdir(t.TempDir())
	said := func(path string) string { return Unread(path, errors.New("not read")).Error() }
	if got := said(usual); got != "not read" {
		t.Errorf("no configuration here: %q", got)
	}
	if err := os.WriteFile("config.yaml", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := said(usual); got != "not read; config.yaml is here: -c config.yaml" {
		t.Errorf("a configuration here: %q", got)
	}
	if got := said("other.yaml"); got != "not read" {
		t.Errorf("a configuration was named: %q", got)
	}
	if err := os.WriteFile(usual, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := said(usual); got != "not read" {
		t.Errorf("the usual configuration is there: %q", got)
	}
}
