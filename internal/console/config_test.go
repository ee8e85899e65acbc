package console

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

func TestValidate(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		c    Config
		want string // "" for nothing
	}{
		"usual":               {Config{Address: "127.0.0.1:9901"}, ""},
		"any port":            {Config{Address: "localhost:0"}, ""},
		"IPv6":                {Config{Address: "[::1]:9901"}, ""},
		"off":                 {Config{Address: "off"}, ""},
		"everywhere":          {Config{Address: ":9901"}, "address: other machines reach"},
		"everywhere, by 0":    {Config{Address: "0.0.0.0:9901"}, "address: other machines reach"},
		"elsewhere":           {Config{Address: "10.0.0.1:9901"}, "address: other machines reach"},
		"elsewhere, IPv4 in6": {Config{Address: "[::ffff:10.0.0.1]:9901"}, "address: other machines reach"},
		"loopback, IPv4 in 6": {Config{Address: "[::ffff:127.0.0.1]:9901"}, ""},
		"written out":         {Config{Address: ":9901", Plaintext: true}, ""},
		"a name":              {Config{Address: "admin.example:9901", Plaintext: true}, "address: the host of"},
		"no port":             {Config{Address: "127.0.0.1"}, "address: "},
		"a word as port":      {Config{Address: "127.0.0.1:http"}, "address: "},
		"host":                {Config{Address: "off", Hosts: []string{"a.example", "http://b"}}, `hosts[1]: "http://b" is not`},
		"short token":         {Config{Address: "off", Token: secret.New("canary")}, "token: has 6 characters"},
		"token with spaces":   {Config{Address: "off", Token: secret.New("canary canary canary")}, "token: must be printable"},
		"token":               {Config{Address: "off", Token: secret.New("canary-canary-canary")}, ""},
	} {
		err := tt.c.Validate()
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case tt.want != "" && (err == nil || !strings.HasPrefix(err.Error(), tt.want) || strings.Contains(err.Error(), "canary")):
			t.Errorf("%s: %v, want %s", name, err, tt.want)
		}
	}
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]string{
		":9902": usualAddress, "127.0.0.1:9999": usualAddress, "127.0.0.1:0": freeAddress, "off": freeAddress,
	} {
		var c Config
		if c.Defaults(status); c.Address != want {
			t.Errorf("%s: %s, want %s", status, c.Address, want)
		}
	}
}

// TestFiles: the token is made once, for the owner alone, and stays; the address is there
// while the listener is.
func TestFiles(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new")
	open := func() *Console {
		t.Helper()
		s, err := Open(Config{Address: "127.0.0.1:0"}, Options{Dir: dir, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := open()
	first, err := ReadToken(filepath.Join(dir, TokenFile))
	if err != nil || len(first.Reveal()) < 50 || !s.access.token.Equal(first) {
		t.Errorf("%v, %d characters", err, len(first.Reveal()))
	}
	for _, name := range []string{TokenFile, AddressFile} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	if at, err := ReadAddress(filepath.Join(dir, AddressFile)); err != nil || "http://"+at != s.URL() {
		t.Errorf("%s, %v, want %s", at, err, s.URL())
	}
	s.Close()
	if _, err := ReadAddress(filepath.Join(dir, AddressFile)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the address is still there: %v", err)
	}
	s = open()
	defer s.Close()
	if !s.access.token.Equal(first) {
		t.Error("the token is another after a restart")
	}
}

// TestOpenFails names what is wrong and shows nothing of it.
func TestOpenFails(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		token string
		mode  os.FileMode
		want  string
	}{
		"open to all":   {"canary-canary-canary", 0o644, "every user can read it"},
		"empty":         {"", 0o600, "holds no token"},
		"too short":     {"canary", 0o600, "holds no token"},
		"not one token": {"canary-canary\ncanary-canary", 0o600, "holds no token"},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, TokenFile)
		if err := errors.Join(os.WriteFile(path, []byte(tt.token), 0o600), os.Chmod(path, tt.mode)); err != nil {
			t.Fatal(err)
		}
		_, err := Open(Config{Address: "127.0.0.1:0"}, Options{Dir: dir, Log: slog.New(slog.DiscardHandler)})
		if err == nil || !strings.HasPrefix(err.Error(), "token: ") || !strings.Contains(err.Error(), tt.want) ||
			strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v, want %s", name, err, tt.want)
		}
	}
}

// Off is a console that is not there.
func TestOff(t *testing.T) {
	t.Parallel()
	s, err := Open(Config{Address: "off"}, Options{})
	if err != nil || s.URL() != "" {
		t.Fatal(s, err)
	}
	s.Start()
	s.Close()
}
