package server

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"
)

// load reads a section as internal/config does.
func load(t *testing.T, text string) (Config, error) {
	t.Helper()
	var file struct {
		Server Config `yaml:"server"`
	}
	dec := yaml.NewDecoder(strings.NewReader(text))
	dec.KnownFields(true)
	err := dec.Decode(&file)
	return file.Server, err
}

func TestConfigDefaults(t *testing.T) {
	t.Setenv("STATE_DIRECTORY", "/var/lib/gw:/other")
	c, err := load(t, `server: {address: "127.0.0.1:8080", publicURL: "http://localhost:8080"}`)
	if err != nil {
		t.Fatal(err)
	}
	c.Defaults()
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	if c.ID != "localhost:8080" || c.StatusAddress != ":9902" || !*c.H2C || c.DataDir != "/var/lib/gw" {
		t.Errorf("got %+v", c)
	}
	derived := []string{"LameDuck", "Memory", "SoftMemory", "Descriptors"} // 0, or what the process has
	for _, section := range []any{c.Limits, c.Timeouts} {
		v := reflect.ValueOf(section)
		for i := range v.NumField() {
			if name := v.Type().Field(i).Name; v.Field(i).IsZero() && !slices.Contains(derived, name) {
				t.Errorf("%s has no default", v.Type().Field(i).Name)
			}
		}
	}
	before := c
	if c.Defaults(); !reflect.DeepEqual(before, c) {
		t.Error("defaults change what has them")
	}
}

func TestConfigAddressDefaults(t *testing.T) {
	t.Parallel()
	plain, secure := Config{}, Config{TLS: &TLS{}}
	plain.Defaults()
	secure.Defaults()
	if plain.Address != ":8080" || *plain.H2C || secure.Address != ":8443" || secure.TLS.MinVersion != "1.3" {
		t.Errorf("plain %+v, secure %+v", plain, secure)
	}
}

func TestConfigYAML(t *testing.T) {
	t.Parallel()
	c, err := load(t, `
server:
  id: gw
  address: ":8443"
  statusAddress: "127.0.0.1:9902"
  publicURL: https://gw.example.com
  hosts: [gw.internal, "gw.internal:8443"]
  dataDir: /data
  tls:
    certificates: [{cert: a.crt, key: a.key}]
    minVersion: 1.2
  trustedProxies: [10.0.0.0/8, "fd00::/8"]
  limits: {body: 8MiB, bodyRate: 512, jsonDepth: 32, streams: 5}
  timeouts: {header: 3s, drain: 1m30s}
`)
	if err != nil {
		t.Fatal(err)
	}
	c.Defaults()
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	if c.Limits.Body != 8<<20 || c.Timeouts.Drain.Std() != 90*time.Second ||
		c.TLS.MinVersion != "1.2" || *c.H2C {
		t.Errorf("got %+v", c)
	}
}

func TestConfigValidate(t *testing.T) {
	t.Parallel()
	const tls = `, tls: {certificates: [{cert: a, key: b}]}`
	tests := []struct{ name, in, want string }{
		{"no URL", `{}`, `or "http://localhost:8080" to serve plaintext`},
		{"no URL, tls", `{address: ":1"` + tls + `}`, `such as "https://gateway.example.com"`},
		{"https without tls", `{publicURL: "https://a"}`, `write "tls: {certificates: [{cert: FILE, key: FILE}]}"`},
		{"plaintext with tls", `{publicURL: "https://a", plaintext: true` + tls + `}`, "server.plaintext: is true but"},
		{"http with tls", `{publicURL: "http://a"` + tls + `}`, "write an https:// URL"},
		{"no scheme", `{publicURL: "localhost:8080"}`, "must start with https:// or http://"},
		{"other scheme", `{publicURL: "ftp://a"}`, "must start with https:// or http://"},
		{"path in another spelling", `{publicURL: "http://a/b%2Fc"}`, "a path that can be written in several ways"},
		{"dots", `{publicURL: "http://a/b/../c"}`, "a path that can be written in several ways"},
		{"empty segment", `{publicURL: "http://a/b//c"}`, "a path that can be written in several ways"},
		{"base path", `{publicURL: "http://a/b", basePath: "b"}`, "server.basePath"},
		{"base path with a slash", `{publicURL: "http://a/b", basePath: "/b/"}`, "server.basePath"},
		{"base path with dots", `{publicURL: "http://a/b", basePath: "/."}`, "server.basePath"},
		{"query", `{publicURL: "http://a?"}`, "without query or fragment"},
		{"user", `{publicURL: "http://u:hunter2@a"}`, "must not hold a user name"},
		{"no host", `{publicURL: "http://"}`, "names no valid host"},
		{"address", `{publicURL: "http://a", address: "8080"}`, `write for instance ":8080"`},
		{"port", `{publicURL: "http://a", address: ":http"}`, "no port between 0 and 65535"},
		{"port too large", `{publicURL: "http://a", address: ":65536"}`, "no port between 0 and 65535"},
		{"address host", `{publicURL: "http://a", address: "a b:1"}`, "names no valid host"},
		{"status address", `{publicURL: "http://a", statusAddress: "x"}`, "server.statusAddress"},
		{"host with scheme", `{publicURL: "http://a", hosts: [b, "https://c"]}`, `server.hosts[1]: "https://c"`},
		{"h2c with tls", `{publicURL: "https://a", h2c: true` + tls + `}`, "server.h2c"},
		{"no certificates", `{publicURL: "https://a", tls: {}}`, "server.tls.certificates: is empty"},
		{"half a certificate", `{publicURL: "https://a", tls: {certificates: [{cert: a}]}}`,
			"needs both cert and key"},
		{"old TLS", `{publicURL: "https://a", tls: {minVersion: 1.1, certificates: [{cert: a, key: b}]}}`,
			`is "1.1", want`},
		{"everyone", `{publicURL: "http://a", trustedProxies: [0.0.0.0/0]}`, "server.trustAnyProxy: true"},
		{"everyone v6", `{publicURL: "http://a", trustedProxies: ["::/0"]}`, "server.trustAnyProxy: true"},
		{"everyone with bits", `{publicURL: "http://a", trustedProxies: [1.2.3.4/0]}`,
			"server.trustAnyProxy: true"},
		{"mapped", `{publicURL: "http://a", trustedProxies: ["::ffff:0.0.0.0/96"]}`, "write it as IPv4"},
		{"bits", `{publicURL: "http://a", trustedProxies: [10.1.0.0/8]}`, "write 10.0.0.0/8"},
		{"negative", `{publicURL: "http://a", limits: {fields: -1}}`, "server.limits.fields: must not be negative"},
		{"id", `{publicURL: "http://a", id: "a b"}`, "server.id"},
	}
	for _, tt := range tests {
		c, err := load(t, "server: "+tt.in)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		c.Defaults()
		err = c.Validate()
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: error %v, want %q", tt.name, err, tt.want)
		}
	}
}

func TestL04_TrustingEveryoneNeedsTheFlag(t *testing.T) {
	t.Parallel()
	for _, flag := range []bool{false, true} {
		c := plaintext()
		c.TrustedProxies, c.TrustAnyProxy = networks("0.0.0.0/0", "::/0"), flag
		c.Defaults()
		if err := c.Validate(); (err == nil) != flag {
			t.Errorf("flag %v: %v", flag, err)
		}
	}
}

func TestDataDir(t *testing.T) {
	t.Parallel()
	tests := []struct {
		env  map[string]string
		want string
	}{
		{map[string]string{"STATE_DIRECTORY": "/a", "XDG_STATE_HOME": "/b", "HOME": "/c"}, "/a"},
		{map[string]string{"XDG_STATE_HOME": "/b", "HOME": "/c"}, "/b/a2a-gateway"},
		{map[string]string{"XDG_STATE_HOME": "relative", "HOME": "/c"}, "/c/.local/state/a2a-gateway"},
		{nil, ""},
	}
	for _, tt := range tests {
		if got := dataDir(func(name string) string { return tt.env[name] }); got != filepath.FromSlash(tt.want) {
			t.Errorf("%v: %q, want %q", tt.env, got, tt.want)
		}
	}
}

func TestLoopback(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"127.0.0.1:1", "127.9.9.9:1", "localhost:1", "[::1]:1", "[::ffff:127.0.0.1]:1",
	} {
		if !(&Config{Address: address}).Loopback() {
			t.Errorf("%q is not loopback", address)
		}
	}
	for _, address := range []string{
		":1", "0.0.0.0:1", "[::]:1", "10.0.0.1:1", "localhost.example:1", "",
	} {
		if (&Config{Address: address}).Loopback() {
			t.Errorf("%q is loopback", address)
		}
	}
}
