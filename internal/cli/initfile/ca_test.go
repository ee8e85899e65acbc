package initfile

import (
	"path/filepath"
	"testing"
)

// TestCAFor: a relative path of the command line is one from where it stands, in the file one
// from where the file is.
func TestCAFor(t *testing.T) {
	t.Parallel()
	dir, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ ca, config, want string }{
		{"", "config.yaml", ""},
		{"ca.pem", "config.yaml", "ca.pem"},
		{"/etc/ca.pem", "config.yaml", "/etc/ca.pem"},
		{"sub/ca.pem", "sub/config.yaml", "ca.pem"},
		{"ca.pem", "sub/config.yaml", filepath.Join(dir, "ca.pem")},
	} {
		if got, err := caFor(tt.ca, tt.config); err != nil || got != tt.want {
			t.Errorf("%s for %s: %q, %v; want %q", tt.ca, tt.config, got, err, tt.want)
		}
	}
}
