package discovery

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

func TestCanonical(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"10.0.0.7":              "10.0.0.7",
		"10.0.0.7:09001":        "10.0.0.7:9001",
		"Node-8.Example.":       "node-8.example",
		"node_8:80":             "node_8:80",
		"fd00::7":               "[fd00::7]",
		"[FD00:0::7]":           "[fd00::7]",
		"[fd00::7]:9001":        "[fd00::7]:9001",
		"::ffff:10.0.0.7":       "10.0.0.7",
		"":                      "",
		"http://node":           "",
		"node:0":                "",
		"node:65536":            "",
		"node:http":             "",
		"a..b":                  "",
		"[node]":                "",
		"node/8":                "",
		"node:1:2":              "",
		"no de":                 "",
		"[fd00::7]9001":         "",
		strings.Repeat("a", 64): "",
	} {
		got, err := Canonical(in)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("Canonical(%q) = %q, %v; want %q", in, got, err, want)
		}
	}
}

// FuzzCanonical makes sure that a canonical spelling is its own.
func FuzzCanonical(f *testing.F) {
	for _, seed := range []string{"10.0.0.7:80", "[fd00::7]:9001", "fd00::7", "node-8.", "::ffff:10.0.0.7", "a:b:c"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		once, err := Canonical(in)
		if err != nil {
			return
		}
		if twice, err := Canonical(once); err != nil || twice != once {
			t.Errorf("Canonical(%q) = %q, and of that %q, %v", in, once, twice, err)
		}
	})
}

func TestValidate(t *testing.T) {
	t.Parallel()
	for key, c := range map[string]Config{
		"":                             {Static: []string{"a"}, DNS: &DNS{Name: "a", Type: "SRV"}},
		"instances.static[1]":          {Static: []string{"a", "b c"}},
		"instances.dns.name":           {DNS: &DNS{}},
		"instances.dns.type":           {DNS: &DNS{Name: "a", Type: "MX"}},
		"instances.dns.port":           {DNS: &DNS{Name: "a", Type: "SRV", Port: 1}},
		"instances.kubernetes.service": {Kubernetes: &Kubernetes{}},
	} {
		err := c.Validate()
		if (err == nil) != (key == "") || err != nil && !strings.HasPrefix(err.Error(), key+": ") {
			t.Errorf("want an error at %q, got %v", key, err)
		}
	}
}

func TestStatic(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sources, err := New(Config{Static: []string{"Node:80", "fd00::7"}}, Options{})
		if err != nil || len(sources) != 1 {
			t.Fatal(sources, err)
		}
		var got []string
		go sources[0].Run(t.Context(), func(found []string) { got = found })
		synctest.Wait()
		if want := []string{"node:80", "[fd00::7]"}; !slices.Equal(got, want) {
			t.Errorf("found %v, want %v", got, want)
		}
	})
}
