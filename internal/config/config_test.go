package config

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite testdata/invalid/*.txt")

// canary stands for every secret in testdata; no error may show it.
const canary = "hunter2"

// environment is what testdata may refer to.
func environment(name string) (string, bool) {
	value, ok := map[string]string{
		"PORT": "8080", "TRUE": "true", "SECRET": "s3cr:et - x", "EMPTY": "", "DEFAULT_KEY": "default",
		"MULTILINE": canary + "\npolicy: {default: allow}",
	}[name]
	return value, ok
}

// TestDefects reads every file of testdata/invalid, each of which holds one
// mistake that its name tells, and compares the error with the .txt beside it.
func TestDefects(t *testing.T) {
	t.Parallel()
	for _, path := range matching(t, "testdata/invalid/*.yaml", 50) {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".yaml"), func(t *testing.T) {
			t.Parallel()
			_, err := Parse(filepath.Base(path), read(t, path), environment)
			if err == nil {
				t.Fatal("accepted")
			}
			got := err.Error() + "\n"
			if strings.Contains(got, canary) {
				t.Errorf("the error shows a secret:\n%s", got)
			}
			golden := strings.TrimSuffix(path, ".yaml") + ".txt"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(read(t, golden)), got); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

// TestDefectsHaveNoLeftovers finds goldens whose file is gone.
func TestDefectsHaveNoLeftovers(t *testing.T) {
	t.Parallel()
	for _, path := range matching(t, "testdata/invalid/*.txt", 50) {
		if _, err := os.Stat(strings.TrimSuffix(path, ".txt") + ".yaml"); err != nil {
			t.Error(err)
		}
	}
}

func TestValidFiles(t *testing.T) {
	t.Parallel()
	for _, path := range matching(t, "testdata/valid/*.yaml", 5) {
		c, err := Parse(filepath.Base(path), read(t, path), environment)
		if err != nil {
			t.Error(err)
			continue
		}
		if err := c.Validate(); err != nil {
			t.Errorf("%s: accepted, but %v", path, err)
		}
	}
}

func TestAnchors(t *testing.T) {
	t.Parallel()
	c := parsed(t, "anchors")
	a, b := c.Agents[0], c.Agents[1]
	if a.ID != "billing" || b.ID != "weather" || a.Card.URL != b.Card.URL || b.Connections != 8 {
		t.Errorf("agents %+v and %+v", a, b)
	}
	if diff := cmp.Diff([]string{"weather.example.com"}, b.Hosts); diff != "" {
		t.Errorf("hosts (-want +got):\n%s", diff)
	}
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	c := parsed(t, "environment")
	a := c.Agents[0]
	if c.Server.Address != "127.0.0.1:8080" || c.Server.PublicURL != "http://localhost:8080" ||
		!*c.Server.H2C || c.Server.Limits.Body != 1<<20 {
		t.Errorf("server %+v", c.Server)
	}
	if want := "literal ${PORT} and no host"; c.Policy.Rules[0].Name != want {
		t.Errorf("name %q, want %q", c.Policy.Rules[0].Name, want)
	}
	if got := a.Credentials[0].Value.Reveal(); got != "s3cr:et - x" {
		t.Errorf("secret %q", got)
	}
	if a.Connections != 8080 || len(c.Agents) != 1 {
		t.Errorf("agents %+v", c.Agents)
	}
}

func TestReplace(t *testing.T) {
	t.Parallel()
	tests := []struct{ in, want, wantErr string }{
		{"", "", ""},
		{"no $ {reference} $X", "no $ {reference} $X", ""},
		{"${PORT}", "8080", ""},
		{"a${PORT}b${PORT}", "a8080b8080", ""},
		{"${EMPTY}", "", ""},
		{"${EMPTY:-d}", "d", ""},
		{"${UNSET:-d}", "d", ""},
		{"${UNSET:-}", "", ""},
		{"${UNSET:-a:-b$}", "a:-b$", ""},
		{"${PORT:-d}", "8080", ""},
		{"$${PORT}", "${PORT}", ""},
		{"$$${PORT}", "$${PORT}", ""},
		{"$${", "${", ""},
		{"$${${PORT}}", "${8080}", ""},
		{"${SECRET}", "s3cr:et - x", ""},
		{"${UNSET}", "", "environment variable UNSET is not set"},
		{"${A}${B}", "", "environment variable A is not set\nenvironment variable B is not set"},
		{"${", "", "begins no reference"},
		{"${}", "", "begins no reference"},
		{"${1}", "", "begins no reference"},
		{"${A-b}", "", "begins no reference"},
		{"${A:-b", "", "begins no reference"},
		{"${ A }", "", "begins no reference"},
	}
	for _, tt := range tests {
		got, err := replace(tt.in, environment)
		switch {
		case tt.wantErr == "" && err != nil:
			t.Errorf("%q: %v", tt.in, err)
		case tt.wantErr != "" && (err == nil || !strings.Contains(err.Error(), tt.wantErr)):
			t.Errorf("%q: error %v, want %q", tt.in, err, tt.wantErr)
		case err == nil && got != tt.want:
			t.Errorf("%q = %q, want %q", tt.in, got, tt.want)
		}
	}
}

// What an unquoted reference stands for is a number or truth value if it looks
// like one, and a text otherwise, also where it looks like null or a list.
func TestExpandedTypes(t *testing.T) {
	t.Parallel()
	const file = `server:
  publicURL: http://localhost:8080
  id: %ID%
authn:
  anonymous: %BOOL%
`
	tests := []struct {
		id, boolean string
		wantID      string
		wantErr     string
	}{
		{"${V}", "true", "null", ""},
		{"${V}", "${T}", "null", ""},
		{"${V}", `"${T}"`, "", "5:14: authn.anonymous: want true or false"},
		{"${V}", "yes", "", "5:14: authn.anonymous: want true or false"},
		{`["${V}"]`, "true", "", "3:7: server.id: want a text, found a list"},
	}
	for _, tt := range tests {
		in := strings.NewReplacer("%ID%", tt.id, "%BOOL%", tt.boolean).Replace(file)
		c, err := Parse("f", []byte(in), func(name string) (string, bool) {
			return map[string]string{"V": "null", "T": "true"}[name], true
		})
		switch {
		case tt.wantErr != "":
			if err == nil || !strings.Contains(err.Error(), tt.wantErr) {
				t.Errorf("%s: error %v, want %q", in, err, tt.wantErr)
			}
		case err != nil:
			t.Errorf("%s: %v", in, err)
		case c.Server.ID != tt.wantID:
			t.Errorf("%s: id %q, want %q", in, c.Server.ID, tt.wantID)
		}
	}
}

func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	large := filepath.Join(dir, "large.yaml")
	write(t, large, "#")
	if err := os.Truncate(large, sizeLimit+1); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ path, want string }{
		{large, "large.yaml: larger than 16777216 bytes"},
		{dir, dir + ": is a directory"},
		{filepath.Join(dir, "none.yaml"), "none.yaml: no such file or directory"},
	}
	for _, tt := range tests {
		_, err := Load(tt.path)
		if err == nil || !strings.HasPrefix(err.Error(), "read configuration: ") ||
			!strings.HasSuffix(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q", tt.path, err, tt.want)
		}
	}
	if _, err := Load(filepath.Join(dir, "none.yaml")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v is not fs.ErrNotExist", err)
	}
}

func TestSumTellsFilesApart(t *testing.T) {
	t.Parallel()
	data := read(t, "testdata/valid/ten-lines.yaml")
	a, errA := Parse("a", data, environment)
	b, errB := Parse("b", append(slices.Clone(data), '\n'), environment)
	if errA != nil || errB != nil || a.Sum == b.Sum || a.Sum == [32]byte{} {
		t.Errorf("%v, %v, %x, %x", errA, errB, a.Sum, b.Sum)
	}
}

func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/valid/*.yaml", "testdata/invalid/*.yaml", examplePath} {
		for _, path := range matching(f, pattern, 1) {
			f.Add(read(f, path))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Parse("fuzz", data, environment)
		if err != nil {
			return
		}
		if err := c.Validate(); err != nil {
			t.Errorf("accepted, but %v", err)
		}
	})
}

func parsed(t *testing.T, name string) *Config {
	t.Helper()
	c, err := Parse(name, read(t, "testdata/valid/"+name+".yaml"), environment)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func matching(t testing.TB, pattern string, least int) []string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) < least {
		t.Fatalf("%s: %d files, %v; want %d at least", pattern, len(paths), err, least)
	}
	return paths
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
