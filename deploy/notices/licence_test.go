package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

// programs are what modules are linked into: the gateway, and what only tests and
// measurements build and nobody is given.
var programs = []struct {
	dir      string
	patterns []string
	least    int // modules
}{
	{"../..", []string{"./cmd/a2a-gateway"}, 50},
	{"../../bench/caddy", []string{"."}, 50},
	{"../../e2e/collector", []string{"."}, 50},
	{"../../e2e/pebble", []string{"tool"}, 5},
}

// TestLicences: every module that is linked into a program goes with Apache-2.0.
func TestLicences(t *testing.T) {
	t.Parallel()
	for _, p := range programs {
		t.Run(strings.TrimPrefix(p.dir, "../../"), func(t *testing.T) {
			given := p.dir == "../.." // to others, so that what is excepted elsewhere is not there
			if !given {
				testenv.Long(t, "the modules of another program are listed")
			}
			t.Parallel()
			modules, err := linked(p.dir, p.patterns...)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range modules {
				if m.dir == "" {
					t.Skipf("%s %s is not in the module cache: go mod download -C %s", m.path, m.version, p.dir)
				}
				terms, err := read(m.dir)
				if err != nil || !terms.compatible(m.path) || given && strings.HasPrefix(excepted[m.path], "MPL") {
					t.Errorf("%s %s is under %q, %v", m.path, m.version, terms.kinds, err)
				}
			}
			if len(modules) < p.least {
				t.Errorf("only %d modules: is the test looking at the right program?", len(modules))
			}
		})
	}
}

// TestNotices: the texts of all that is linked are there, each once.
func TestNotices(t *testing.T) {
	testenv.Long(t, "the licences of all modules are read")
	t.Parallel()
	var text bytes.Buffer
	if err := run(&text, []string{"../../cmd/a2a-gateway"}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"github.com/coreos/go-oidc/v3 v", "github.com/go-chi/chi/v5 v", ": MIT\n", ": Apache-2.0\n", ": BSD-3-Clause\n",
		"CoreOS Project", // a NOTICE, which Apache-2.0 has passed on (§4d)
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is missing", want)
		}
	}
	if n := strings.Count(text.String(), "TERMS AND CONDITIONS FOR USE, REPRODUCTION"); n == 0 || n > 20 {
		t.Errorf("Apache-2.0 is there %d times", n)
	}
}

// TestClassify: our own licence is known, and what is not known is not compatible.
func TestClassify(t *testing.T) {
	t.Parallel()
	own, err := os.ReadFile("../../LICENSE")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		string(own): "Apache-2.0",
		"Mozilla Public License Version 2.0 … GNU General Public License": "MPL-2.0",
		"GNU AFFERO\n GENERAL PUBLIC LICENSE":                             "AGPL",
		"GNU LESSER GENERAL PUBLIC LICENSE":                               "LGPL",
		"All rights reserved.":                                            "",
	} {
		kinds := classify(text)
		if got := strings.Join(kinds, " "); got != want {
			t.Errorf("%.40q is %q, want %q", text, got, want)
		}
		if (terms{kinds: kinds}).compatible("x") != (want == "Apache-2.0") {
			t.Errorf("%.40q: compatible is wrong", text)
		}
	}
}
