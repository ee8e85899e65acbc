package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheckFiles: a file that a gateway would not start with is found before, by the key that
// names it, and one that it would start with is not.
func TestCheckFiles(t *testing.T) {
	t.Parallel()
	const agent = "agents: [{id: billing, card: \"https://127.0.0.1/card.json\"}]\n"
	signed := func(file string) string {
		return "agents: [{id: billing, card: {url: \"https://127.0.0.1/card.json\", trust: {signature: {keys: [" + file + "]}}}}]\n"
	}
	missing := func(dir, name string) string {
		return "open " + filepath.Join(dir, name) + ": no such file or directory"
	}
	for name, c := range map[string]struct {
		sections string
		tls      string // of the public listener; "" for none
		want     string // what the error begins with, where D is the directory; "" for none
		missing  string // the file that it ends with
	}{
		"keys of cards":         {signed("card.pem"), "", "agents[0] (billing): card: trust: signature: keys[0]: ", "card.pem"},
		"what is no key":        {signed("text"), "", "agents[0] (billing): card: trust: signature: keys[0]: read keys: D/text: neither PEM nor a JSON object", ""},
		"signing keys":          {agent + "keys: {signing: [sign.pem]}\n", "", "keys.signing[0]: read key: ", "sign.pem"},
		"what is none":          {agent + "keys: {signing: [text]}\n", "", "keys.signing[0]: read key: D/text: no private key in PEM", ""},
		"sealing keys":          {agent + "keys: {sealing: [good.key, seal.key]}\n", "", "keys.sealing[1]: read key: ", "seal.key"},
		"what seals nothing":    {agent + "keys: {sealing: [text]}\n", "", "keys.sealing[0]: read key: D/text: no key; want 32 bytes", ""},
		"one that was made":     {agent + "keys: {dir: kept}\n", "", "keys.dir: read key: D/kept/sealing.key: no key", ""},
		"good keys":             {agent + "keys: {sealing: [good.key]}\n", "", "", ""},
		"CAs of Redis":          {agent + "state: {driver: redis, redis: {addresses: [\"127.0.0.1:1\"], tls: {ca: redis.pem}}}\nkeys: {dir: shared}\n", "", "state.redis.tls.ca: ", "redis.pem"},
		"of no Redis":           {agent + "state: {redis: {tls: {ca: redis.pem}}}\n", "", "", ""},
		"CAs of clients":        {agent, "{clientAuth: optional, clientCA: [ca.pem], acme: {agreeTerms: true, domains: [gw.example]}}", "server.tls.clientCA[0]: ", "ca.pem"},
		"CAs of an ACME server": {agent, "{acme: {agreeTerms: true, domains: [gw.example], ca: text}}", "server.tls.acme.ca: read D/text: it holds no certificate", ""},
		"certificates of admin": {agent + "admin: {tls: {certificates: [{cert: a.pem, key: a.key}]}}\n", "", "admin.tls.certificates[0]: ", "a.pem"},
		"no admin":              {agent + "admin: {address: \"off\", tls: {certificates: [{cert: a.pem, key: a.key}]}}\n", "", "", ""},
		"CAs of webhooks":       {agent + "push: {ca: hooks.pem}\n", "", "push.ca: ", "hooks.pem"},
		"no webhooks":           {agent + "push: {mode: \"off\", ca: hooks.pem}\n", "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, filepath.Join(dir, "text"), "CANARY")
			write(t, filepath.Join(dir, "good.key"), strings.Repeat("0123456789abcdef", 4)+"\n")
			if err := os.Mkdir(filepath.Join(dir, "kept"), 0o700); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, "kept", "sealing.key"), "CANARY")
			server := `server: {publicURL: "http://localhost:8080", dataDir: data}`
			if c.tls != "" {
				server = `server: {publicURL: "https://gw.example", dataDir: data, tls: ` + c.tls + "}"
			}
			write(t, filepath.Join(dir, "config.yaml"), server+"\nauthn: {anonymous: true}\n"+c.sections)
			cfg, err := Load(filepath.Join(dir, "config.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			want := strings.ReplaceAll(c.want, "D/", dir+"/")
			if c.missing != "" {
				want += missing(dir, c.missing)
			}
			_, err = cfg.Check()
			switch {
			case want == "" && err != nil, want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)):
				t.Errorf("found %v, want %s", err, want)
			case err != nil && strings.Contains(err.Error(), "CANARY"):
				t.Errorf("shows what is in a file: %v", err)
			}
		})
	}
}

// TestRedisAddresses: what the driver would refuse is an error of the file, with its place.
func TestRedisAddresses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ redis, want string }{
		"a host alone":      {"{addresses: [redis.example]}", `state.redis.addresses: "redis.example" is not an address; write host:port`},
		"a URL":             {"{addresses: [\"redis://u:CANARY@redis.example:6379\"]}", `state.redis.addresses: "redis://redis.example:6379" is not an address; write host:port`},
		"none":              {"{}", "state.redis.addresses: there is none"},
		"a user alone":      {"{addresses: [\"127.0.0.1:1\"], username: gw}", "state.redis.password: is needed"},
		"as it should be":   {"{addresses: [\"127.0.0.1:1\"]}", ""},
		"a cluster's third": {"{addresses: [\"127.0.0.1:1\", \"127.0.0.1:2\"], database: 3}", "state.redis.database: a cluster has only 0"},
	} {
		_, err := Parse("config.yaml", []byte(`server: {publicURL: "http://gw.example"}
authn: {anonymous: true}
agents: [{id: billing, card: "https://billing.example/card.json"}]
state: {driver: redis, redis: `+c.redis+"}\n"), environment)
		switch {
		case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v", name, err)
		case err != nil && strings.Contains(err.Error(), "CANARY"), err != nil && !strings.HasPrefix(err.Error(), "config.yaml:4:"):
			t.Errorf("%s: %v", name, err)
		}
		if _, err := Parse("config.yaml", []byte(`server: {publicURL: "http://gw.example"}
authn: {anonymous: true}
agents: [{id: billing, card: "https://billing.example/card.json"}]
state: {driver: memory, redis: `+c.redis+"}\n"), environment); err != nil {
			t.Errorf("%s: of another driver: %v", name, err)
		}
	}
}

// TestUnsharedKeys: keys that each replica would make for itself are warned of.
func TestUnsharedKeys(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		state, keys string
		warned      bool
	}{
		"Redis":              {"redis", "", true},
		"a file":             {"sqlite", "", false},
		"a directory":        {"redis", "keys: {dir: shared}", false},
		"files":              {"redis", "keys: {signing: [a], sealing: [b]}", false},
		"files that sign":    {"redis", "keys: {signing: [a]}", true},
		"files in a mapping": {"redis", "keys: {sealing: [b], dir: shared}", false},
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "config.yaml"), `server: {publicURL: "http://gw.example", dataDir: data}
authn: {anonymous: true}
agents: [{id: billing, card: "https://billing.example/card.json"}]
state: {driver: `+c.state+`, redis: {addresses: ["127.0.0.1:1"]}}
`+c.keys+"\n")
		cfg, err := Load(filepath.Join(dir, "config.yaml"))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := strings.Join(cfg.Doubts(), "\n"); strings.Contains(got, "keys: gateways can share") != c.warned {
			t.Errorf("%s: %q", name, got)
		}
	}
}
