package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/ext/provided"
	"github.com/a2a-gateway/a2a-gateway/ext/schema"
	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
)

// checkAgent holds an agent's extensions and skills against the registry. Errors are at keys below
// the agent, wherever it stands: agents of the API and of Kubernetes are checked by it too.
func checkAgent(book *ext.Book, a *agents.Config) []error {
	errs := []error{keypath.At(book.Check(&a.Extensions), "extensions")}
	for i, uri := range a.Extensions.Provide {
		if _, ok := provided.Providers()[uri]; !ok {
			err := fmt.Errorf("the gateway does not implement %q", uri)
			errs = append(errs, keypath.At(keypath.Point(err, i), "extensions", "provide"))
		}
	}
	for i, s := range a.Skills {
		skill := keypath.Of("skills", i)
		switch s.Schemas {
		case "", ext.Off, ext.Report, ext.Enforce:
		default:
			errs = append(errs, keypath.At(fmt.Errorf("%q is none of off, report, enforce", s.Schemas), skill, "schemas"))
		}
		// Schemas are compiled for their errors alone: the gateway compiles them when it takes the
		// agent over.
		_, input := schema.Compile(s.Input)
		_, output := schema.Compile(s.Output)
		errs = append(errs, keypath.At(input, skill, "input"), keypath.At(output, skill, "output"))
	}
	return errs
}

// checkRules holds what rules say of extensions against the registry, whose book knows nothing
// where the registry is wrong: then there is nothing to hold them against.
// Rules are checked by package policy for their form; only here the registry is at hand, which
// says what extensions there are and what they require of one another.
func (c *Config) checkRules(book *ext.Book) []error {
	var errs []error
	for i, r := range c.Policy.Rules {
		if r.Extensions == nil {
			continue
		}
		e := ext.Config{
			Allow: r.Extensions.Allow, Deny: r.Extensions.Deny,
			Require: r.Extensions.Require, Inject: r.Extensions.Inject,
		}
		err := errors.Join(e.Validate(), book.Check(&e))
		errs = append(errs, keypath.At(err, "policy", "rules", i, "extensions"))
	}
	return errs
}

// bringsMethods reports whether rules could name methods that only a compiled
// registry knows. Without any, rules can be checked although the registry is wrong.
func (c *Config) bringsMethods() bool {
	return slices.ContainsFunc(c.Extensions, func(e ext.Entry) bool { return len(e.Methods) > 0 })
}

// isFile reports whether a specification is a file and no URL.
func isFile(specification string) bool {
	return specification != "" && !strings.Contains(specification, "://")
}

// checkSpecifications compares the files that specifications are in with their digests.
// What is not there is only a warning as long as no digest vouches for it.
func (c *Config) checkSpecifications() (warnings []string, errs []error) {
	for i, e := range c.Extensions {
		if !isFile(e.Specification) {
			continue
		}
		where := fmt.Sprintf("extensions[%d]", i)
		sum, err := digest(e.Specification)
		switch {
		// A specification is read by people, and a gateway may run where its file is not
		// installed.
		case err != nil && e.Digest == "":
			warnings = append(warnings, fmt.Sprintf("%s.specification: %v", where, err))
		case err != nil:
			errs = append(errs, fmt.Errorf("%s.specification: %w", where, err))
		case e.Digest != "" && e.Digest != sum:
			errs = append(errs, fmt.Errorf("%s.digest: %s has changed: its digest is %s", where, e.Specification, sum))
		}
	}
	return warnings, errs
}

// digest is that of a file, as Entry.Digest has it: "sha256:" and hexadecimal. A specification is
// a text for people; one of more than sizeLimit is another file.
func digest(path string) (string, error) {
	f, err := os.Open(path) //nolint:gosec // the operator's path
	if err != nil {
		return "", err // os errors name the path
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	// One byte more than the limit tells a file that is too large from one that just fits.
	n, err := io.Copy(h, io.LimitReader(f, sizeLimit+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("read %s: %w", path, err)
	case n > sizeLimit: // the digest so far would be that of another file
		return "", fmt.Errorf("read %s: larger than %d bytes", path, sizeLimit)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), nil
}
