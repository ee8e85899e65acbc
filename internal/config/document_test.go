package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
)

type list struct {
	Items []item `yaml:"items"`
}

type item struct {
	Name string `yaml:"name"`
	Open bool   `yaml:"open"`
}

// TestReadDocument: what is wrong comes with its place, all of it.
func TestReadDocument(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"good":     {"items:\n  - {name: '${X}', open: true}\n", ""},
		"unknown":  {"items:\n  - {nam: a}\n", `:2:6: items[0]: unknown key "nam", did you mean "name"?`},
		"kind":     {"items:\n  - {open: maybe}\n", `:2:12: items[0].open: want true or false`},
		"twice":    {"items:\n  - name: a\n    name: b\n", `:3:5: items[0]: key "name" is set on line 2 already`},
		"empty":    {"", "the file is empty"},
		"no value": {"items:\n", "items: has no value"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "list.yaml")
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			var l list
			d, err := config.ReadDocument(path, &l)
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("got %v, want %q in it", err, c.want)
				}
				return
			}
			if err != nil || l.Items[0] != (item{"${X}", true}) {
				t.Fatalf("got %v, %v", l, err)
			}
			if got := d.Line(keypath.Of("items", 0)); got != 2 {
				t.Errorf("line %d, want 2", got)
			}
			got := d.Wrong(errors.New("it is closed"), keypath.Of("items", 0, "open")).Error()
			if want := path + ":2:26: items[0].open: it is closed"; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
