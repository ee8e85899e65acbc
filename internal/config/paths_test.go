package config

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLoadResolvesPaths makes sure that a file means the same from whichever
// directory the gateway is started.
func TestLoadResolvesPaths(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const file = `server:
  publicURL: https://localhost:8443
  dataDir: data
  tls: {certificates: [{cert: tls/a.crt, key: /abs/a.key}]}
authn: {apiKeys: {file: keys.yaml}}
agents:
  - id: billing
    card: https://127.0.0.1/card.json
    credentials:
      - {header: X-Key, value: &secret {file: secrets/key}}
      - {header: X-Same, value: *secret}
      - header: Authorization
        oauth2: {tokenURL: "https://id.example.com/t", clientID: g, clientSecret: {file: secrets/key}}
    tls: {ca: ca.pem}
`
	write(t, filepath.Join(dir, "config.yaml"), file)
	write(t, filepath.Join(dir, "secrets", "key"), canary+"\n")
	c, err := Load(filepath.Join(dir, "config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	a := c.Agents[0]
	for i, got := range []string{a.Credentials[0].Value.Reveal(), a.Credentials[1].Value.Reveal(),
		a.Credentials[2].OAuth2.ClientSecret.Reveal()} {
		if got != canary {
			t.Errorf("secret %d is %q", i, got)
		}
	}
	pair := c.Server.TLS.Certificates[0]
	got := []string{c.Server.DataDir, pair.Cert, pair.Key, c.Authn.APIKeys.File, a.TLS.CA, c.Telemetry.Audit.Dir}
	want := []string{filepath.Join(dir, "data"), filepath.Join(dir, "tls/a.crt"), "/abs/a.key",
		filepath.Join(dir, "keys.yaml"), filepath.Join(dir, "ca.pem"), filepath.Join(dir, "data/audit")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
}

// pathKeys are the keys that name files and directories.
var pathKeys = []string{"ca", "cert", "certificate", "clientCA", "dataDir", "dir", "file", "sealing", "signing", "tokenFile"}

// pathKeysOf are more of them, in these sections only.
var pathKeysOf = []string{
	"server.tls.certificates.key", "admin.tls.certificates.key", "agents.tls.key", "policy.authorizers.tls.key", "policy.guards.service.tls.key", "state.redis.tls.key",
	"telemetry.audit.sinks.kafka.tls.key", "telemetry.audit.sinks.otlp.tls.key", "agents.card.trust.signature.keys",
	"agents.load.instances.kubernetes.token", "fleet.kubernetes.token", "state.sqlite.path",
}

// TestResolvesEveryPath gives every text of a configuration a value, and wants those made
// absolute that are paths by their keys, and no others.
func TestResolvesEveryPath(t *testing.T) {
	t.Parallel()
	const relative = "./below"
	var c Config
	texts := map[string]reflect.Value{}
	fill(reflect.ValueOf(&c).Elem(), "", relative, texts)
	dir := t.TempDir()
	c.resolve(dir)
	resolved := 0
	for at, v := range texts {
		is := slices.Contains(pathKeys, at[strings.LastIndexByte(at, '.')+1:]) || slices.Contains(pathKeysOf, at)
		switch got := v.String(); {
		case is && got == filepath.Join(dir, relative):
			resolved++
		case is:
			t.Errorf("%s is a path, and stays %s", at, got)
		case got != relative && at != "extensions.specification": // of which some are URIs
			t.Errorf("%s is no path by its key, and becomes %s", at, got)
		}
	}
	if resolved < 35 {
		t.Errorf("%d paths were found", resolved)
	}
}

// fill gives a value and all below it something to hold, and notes the texts by their keys.
func fill(v reflect.Value, at, text string, texts map[string]reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if v.SetString(text); texts[at] == (reflect.Value{}) {
			texts[at] = v
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), at, text, texts)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), at, text, texts)
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			key, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			switch {
			case !f.IsExported() || key == "-":
			case strings.Contains(options, "inline"):
				fill(v.Field(i), at, text, texts)
			case key != "":
				fill(v.Field(i), strings.TrimPrefix(at+"."+key, "."), text, texts)
			}
		}
	}
}

// TestLoadResolvesPathsOnce loads by a relative path, below which a path that is resolved
// twice leads somewhere else.
func TestLoadResolvesPathsOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "config.yaml"), `server: {publicURL: http://localhost:8080, dataDir: data}
authn: {anonymous: true}
policy:
  authorizers:
    - {name: pdp, kind: authzen, url: "https://pdp.example", tls: {ca: pdp.pem, certificate: c.pem, key: c.key}}
agents:
  - {id: billing, card: "https://127.0.0.1/card.json"}
state:
  sqlite: {path: state/a.db}
  redis: {addresses: [localhost:6379], tls: {ca: redis.pem}}
keys: {signing: [sign.pem], sealing: [seal.key], dir: keys}
`)
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	rel, err := filepath.Rel(here, dir)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Load(filepath.Join(rel, "config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	pdp := c.Policy.Authorizers[0].TLS
	got := []string{c.Server.DataDir, pdp.CA, pdp.Certificate, pdp.Key, c.State.SQLite.Path, c.State.Redis.TLS.CA,
		c.Keys.Signing[0], c.Keys.Sealing[0], c.Keys.Dir, c.Telemetry.Audit.Dir}
	var want []string
	for _, path := range []string{"data", "pdp.pem", "c.pem", "c.key", "state/a.db", "redis.pem",
		"sign.pem", "seal.key", "keys", "data/audit"} {
		want = append(want, filepath.Join(rel, path))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
}

// TestCheckOpensFilesOfSinks: what a gateway would not start with is found before.
func TestCheckOpensFilesOfSinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "config.yaml"), `server: {publicURL: http://localhost:8080, dataDir: data}
authn: {anonymous: true}
agents:
  - {id: billing, card: "https://127.0.0.1/card.json"}
telemetry:
  audit:
    sinks:
      - kafka: {brokers: ["kafka.example:9093"], topic: audit, tls: {ca: kafka-ca.pem}}
      - otlp: {endpoint: "https://collector.example:4318", tls: {certificate: otlp.pem, key: otlp.key}}
      - {name: copy, otlp: {endpoint: "https://collector.example:4318"}}
`)
	write(t, filepath.Join(dir, "kafka-ca.pem"), "none")
	c, err := Load(filepath.Join(dir, "config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Check()
	want := []string{
		"telemetry.audit.sinks[0]: kafka.tls.ca: " + filepath.Join(dir, "kafka-ca.pem") + " has no certificate in PEM form",
		"telemetry.audit.sinks[1]: otlp.tls.certificate: open " + filepath.Join(dir, "otlp.pem") + ": no such file or directory",
	}
	if err == nil || err.Error() != strings.Join(want, "\n") {
		t.Errorf("found %v", err)
	}
}

// TestFileTags holds the tag to what its walk can do: texts and lists of them, with words that it
// knows.
func TestFileTags(t *testing.T) {
	t.Parallel()
	met, tagged := map[reflect.Type]bool{}, 0
	var walk func(reflect.Type)
	walk = func(of reflect.Type) {
		for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice || of.Kind() == reflect.Map {
			of = of.Elem()
		}
		if of.Kind() != reflect.Struct || met[of] {
			return
		}
		met[of] = true
		for f := range of.Fields() {
			tag := f.Tag.Get("file")
			if tag == "" {
				walk(f.Type)
				continue
			}
			tagged++
			if !slices.Contains([]string{readFiles, readOrURL, writeFiles}, tag) {
				t.Errorf("%s.%s: the tag file says %q", of, f.Name, tag)
			}
			if f.Type != reflect.TypeFor[string]() && f.Type != reflect.TypeFor[[]string]() || !f.IsExported() {
				t.Errorf("%s.%s: a %s has the tag file", of, f.Name, f.Type)
			}
		}
	}
	walk(reflect.TypeFor[Config]())
	if tagged < 38 {
		t.Errorf("only %d fields name files", tagged)
	}
}
