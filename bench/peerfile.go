package main

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
)

// description is a file about a reverse proxy or gateway: how it is started and called. All texts
// but About and Cannot may have placeholders, see placeholders.
type description struct {
	About string `yaml:"about"` // one line for people
	// Command starts it. It is left out of the run where there is no such program.
	Command     []string          `yaml:"command"`
	Version     []string          `yaml:"version"` // command that says its version
	Environment map[string]string `yaml:"environment"`
	Files       map[string]string `yaml:"files"` // written below {{.Dir}} before it starts
	URL         string            `yaml:"url"`   // that is called
	// Credential is sent in place of the token that other subjects get.
	Credential *credential `yaml:"credential"`
	// Ready is a URL that answers 2xx when it is ready; "" where it is ready when its port accepts.
	Ready  string            `yaml:"ready"`
	Within quantity.Duration `yaml:"within"` // that it is ready; a minute where it says nothing
	// Prepare are requests before any call, each of which has to be answered 2xx.
	Prepare []preparation `yaml:"prepare"`
	Cannot  []ability     `yaml:"cannot"` // workloads that need one of these leave it out
	// Awake keeps it from being stopped while others are measured, for a master that takes a worker
	// that was stopped for one that hangs, and ends it.
	Awake bool `yaml:"awake"`
}

// credential is a header of every call.
type credential struct {
	Header string `yaml:"header"`
	Value  string `yaml:"value"`
}

// preparation is a request to it, such as one that registers the agent.
type preparation struct {
	Method  string            `yaml:"method"`
	URL     string            `yaml:"url"`
	Headers map[string]string `yaml:"headers"`
	Body    string            `yaml:"body"`
}

// ability is what a workload needs of a subject.
type ability string

const (
	canTLS     ability = "tls"
	canPlain   ability = "plain"
	canHTTP2   ability = "http2"
	canStreams ability = "streams"
	canFiles   ability = "files" // bodies of 1.4 MiB
)

var abilities = []ability{canTLS, canPlain, canHTTP2, canStreams, canFiles}

// readDescription reads a file. The error is all that is wrong with it, each with file, line and key.
func readDescription(path string) (*description, error) {
	d := new(description)
	doc, err := config.ReadDocument(path, d)
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, w := range d.check() {
		errs = append(errs, doc.Wrong(w.err, w.path))
	}
	return d, errors.Join(errs...)
}

// wrong is a mistake in a description.
type wrong struct {
	path keypath.Path
	err  error
}

// headerName is a field name of RFC 9110, section 5.6.2.
var headerName = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

// check finds what would else be found when the program has been started, which may take long.
func (d *description) check() []wrong {
	var wrongs []wrong
	say := func(path keypath.Path, format string, args ...any) {
		wrongs = append(wrongs, wrong{path, fmt.Errorf(format, args...)})
	}
	for key, missing := range map[string]bool{"about": d.About == "", "command": len(d.Command) == 0, "url": d.URL == ""} {
		if missing {
			say(keypath.Of(key), "is needed: %s", wanted[key])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.Files)) {
		if !filepath.IsLocal(name) {
			say(keypath.Of("files", name), "want a path below the folder of the files, such as config.yaml")
		}
	}
	if c := d.Credential; c != nil && (!headerName.MatchString(c.Header) || c.Value == "") {
		say(keypath.Of("credential"), "want a header's name and its value, such as {header: X-API-Key, value: secret}")
	}
	for i, a := range d.Cannot {
		if !slices.Contains(abilities, a) {
			say(keypath.Of("cannot", i), "there is no %q; want one of %v", a, abilities)
		}
	}
	for i, p := range d.Prepare {
		if p.Method == "" || p.URL == "" {
			say(keypath.Of("prepare", i), "want a method and a url")
		}
	}
	if d.Within < 0 {
		say(keypath.Of("within"), "want how long its start may take, such as 1m")
	}
	// Last, since what is missing has been told: each text is filled in once with values of the
	// form that a run has.
	wrongs = append(wrongs, d.trial()...)
	slices.SortFunc(wrongs, func(a, b wrong) int { return strings.Compare(a.path.String(), b.path.String()) })
	return wrongs
}

// wanted says of each key that has to be there what it is.
var wanted = map[string]string{
	"about":   "one line that says what is measured and how it is set up",
	"command": "the program and its arguments, such as [envoy, -c, \"{{.Dir}}/envoy.yaml\"]",
	"url":     "where it is called, such as \"{{.Scheme}}://{{.Address}}/\"",
}

// trial renders a description as a run does, with TLS and without.
func (d *description) trial() []wrong {
	for _, plain := range []bool{false, true} {
		r := sampleValues(plain).rendering()
		d.rendered(r)
		if len(r.wrongs) > 0 {
			return r.wrongs
		}
	}
	return nil
}

// rendered is the description with its placeholders filled in. Mistakes are in r.
func (d *description) rendered(r *rendering) *description {
	out := *d
	out.Command = r.list("command", d.Command)
	out.Version = r.list("version", d.Version)
	out.Environment = r.texts(d.Environment, "environment")
	out.Files = r.texts(d.Files, "files")
	out.URL, out.Ready = r.url(d.URL, "url"), r.url(d.Ready, "ready")
	if d.Credential != nil {
		out.Credential = &credential{d.Credential.Header, r.text(d.Credential.Value, "credential", "value")}
	}
	out.Prepare = nil
	for i, p := range d.Prepare {
		p.URL, p.Body = r.url(p.URL, "prepare", i, "url"), r.text(p.Body, "prepare", i, "body")
		p.Headers = r.texts(p.Headers, "prepare", i, "headers")
		out.Prepare = append(out.Prepare, p)
	}
	return &out
}

// absolute says of a URL what it lacks.
func absolute(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("%q is no URL; want one such as \"{{.Scheme}}://{{.Address}}/\"", text)
	}
	return nil
}
