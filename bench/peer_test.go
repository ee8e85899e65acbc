package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

// described writes a description.
func described(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "peer.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// floorDescribed is the floor as a file describes it, in two processes: one that does nothing but wait for the other.
const floorDescribed = `
about: the floor, described by a file
command: [sh, "{{.Dir}}/bin/start", role, floor, "{{.Address}}", "http://{{.Agent}}"]
environment: {FLOOR: "{{.Bench}}"}
files:
  bin/start: '"$FLOOR" "$@" {{if not .Plain}}"{{.Cert}}" "{{.Key}}"{{end}}; exit'
version: [echo, floor version 1.2.3-x of today]
url: "{{.Scheme}}://{{.Address}}/"
ready: "{{.Scheme}}://{{.Address}}/.well-known/agent-card.json"
within: 20s
credential: {header: X-API-Key, value: "{{.Token}}"}
prepare:
  - {method: GET, url: "{{.Scheme}}://{{.Address}}/.well-known/agent-card.json", headers: {X-Port: "{{freePort \"a\"}}"}}
cannot: [http2]
`

// TestPeer runs what a file describes beside the floor that this program has.
func TestPeer(t *testing.T) {
	testenv.Long(t, "a proxy is put under load")
	t.Parallel()
	s, err := readPeer("described="+described(t, floorDescribed), subjects)
	if err != nil {
		t.Fatal(err)
	}
	o := small()
	o.peers = []subject{s}
	o.subjects = []string{direct.name, floor.name, s.name}
	o.workloads = []string{unary.name, unaryH2.name, idlePlain.name}
	rec, err := run(t.Context(), o, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{unary.name, idlePlain.name} {
		peer, base := rec.row(name, s.name), rec.row(name, floor.name)
		if peer == nil || base == nil {
			t.Errorf("%s: %v, %v", name, peer, base)
			continue
		}
		// The shell has no more than 3 MiB: without its child nearly all would be missing.
		if got, want := median(peer.Figures["rss"]), median(base.Figures["rss"]); got < want/2 {
			t.Errorf("%s: %.1f MiB, while the floor has %.1f: children are not counted", name, got, want)
		}
	}
	if row := rec.row(unaryH2.name, s.name); row != nil {
		t.Errorf("it is called over HTTP/2: %v", row)
	}
	if got := rec.Versions[s.name]; got != "1.2.3-x" {
		t.Errorf("version %q", got)
	}
	var out bytes.Buffer
	if err := rec.text(&out); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "described"); n < 3 { // its version, and two tables
		t.Errorf("it is not in the tables:\n%s", out.String())
	}
}

// TestPeerMissing: who is not here is left out, and a line says so.
func TestPeerMissing(t *testing.T) {
	t.Parallel()
	s, err := readPeer("gone="+described(t, "about: x\ncommand: [no-such-proxy]\nurl: http://{{.Address}}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	o := small()
	o.peers, o.subjects, o.workloads = []subject{s}, []string{s.name}, []string{unary.name}
	rec, err := run(t.Context(), o, t.Output())
	if err != nil || !strings.Contains(rec.LeftOut[s.name], "no-such-proxy") {
		t.Errorf("%v, %v", rec.LeftOut, err)
	}
}

// TestPeerFails: why a process did not come up is what it said.
func TestPeerFails(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`[sh, -c, "echo the configuration is bad; exit 3"]`: "the configuration is bad",
		`[sleep, "60"]`: "is not ready",
	} {
		s, err := readPeer("ill="+described(t, "about: x\nwithin: 1s\nurl: http://{{.Address}}\ncommand: "+text+"\n"), nil)
		if err != nil {
			t.Fatal(err)
		}
		o := small()
		o.peers, o.subjects, o.workloads = []subject{s}, []string{s.name}, []string{unary.name}
		if _, err := run(t.Context(), o, t.Output()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestDescriptionRefused: each mistake is told with file, line, key and what is wanted.
func TestDescriptionRefused(t *testing.T) {
	t.Parallel()
	const good = "about: x\ncommand: [x]\nurl: http://{{.Address}}\n"
	for _, test := range []struct{ text, want string }{
		{good, ""},
		{good + "comand: [y]\n", "peer.yaml:4:1: unknown key \"comand\", did you mean \"command\"?"},
		{good + "within: soon\n", "peer.yaml:4:9: within"},
		{"command: [x]\nurl: http://{{.Address}}\n", "about: is needed: one line that says"},
		{"about: x\nurl: http://{{.Address}}\n", "command: is needed: the program"},
		{"about: x\ncommand: [x]\n", "url: is needed: where it is called"},
		{"about: x\ncommand: [x]\nurl: \"{{.Address}}/a2a\"\n", `peer.yaml:3:6: url: "127.0.0.1:1234/a2a" is no URL`},
		{"about: x\ncommand: [x]\nurl: http://{{.Addr}}\n", `peer.yaml:3:6: url: template: placeholders:1:9: executing "placeholders" at <.Addr>: map has no entry for key "Addr"; there are {{.Address}}`},
		{good + "files:\n  a.yaml: |\n    x: {{.Cert\n", "peer.yaml:5:11: files"},
		{good + "files: {../a: x}\n", "want a path below the folder"},
		{good + "cannot: [h2]\n", `peer.yaml:4:10: cannot[0]: there is no "h2"; want one of [tls plain http2 streams files]`},
		{good + "credential: {header: \"X Key\", value: x}\n", "peer.yaml:4:13: credential: want a header's name and its value"},
		{good + "prepare: [{method: POST}]\n", "prepare[0]: want a method and a url"},
		{good + "environment: {A: '{{hs256 \"short\" \"{}\"}}'}\n", "environment.A: template: placeholders:1:2: executing"},
	} {
		_, err := readDescription(described(t, test.text))
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v\nwant %q", test.text, err, test.want)
		}
	}
	for flag, want := range map[string]string{"x": "want NAME=FILE", "X=y": "want NAME=FILE", "nginx=y": "already", "x=nowhere.yaml": "nowhere.yaml"} {
		if _, err := readPeer(flag, subjects); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", flag, err)
		}
	}
}

// TestDescriptions: those that come with the benchmark are read and filled in, and what they write as YAML is YAML.
func TestDescriptions(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("peers/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, path := range paths {
		names = append(names, strings.TrimSuffix(filepath.Base(path), ".yaml"))
		d, err := readDescription(path)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, plain := range []bool{false, true} {
			v := sampleValues(plain)
			r := d.rendered(v.rendering())
			all := strings.Join(r.Command, " ") + r.URL
			for _, p := range r.Prepare {
				all += p.URL + p.Body
			}
			for name, value := range r.Environment {
				all += name + "=" + value + "\n"
			}
			for name, content := range r.Files {
				all += content
				var doc any
				if err := yaml.Unmarshal([]byte(content), &doc); strings.HasSuffix(name, "yaml") && err != nil {
					t.Errorf("%s: %s: %v in\n%s", path, name, err, content)
				}
			}
			for _, want := range []string{"1234", "5678"} { // where it listens, and where the agent is
				if !strings.Contains(all, want) {
					t.Errorf("%s: no %s", path, want)
				}
			}
			for _, secure := range []string{"/x/cert.pem", "/x/key.pem"} {
				if got := strings.Contains(all, secure); got == plain && !d.lacks(canTLS) {
					t.Errorf("%s: plain %t, and %s is there: %t", path, plain, secure, got)
				}
			}
		}
	}
	if want := []string{"agentgateway", "contextforge", "envoy", "kong", "litellm", "traefik"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
}
