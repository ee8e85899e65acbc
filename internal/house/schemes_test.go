package house_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/authn/schemes"
)

// schemesNamed are the files of the product that name a scheme of authentication, or read its
// section of the configuration, outside of its own package and the registration of it, and why.
// What holds for all schemes belongs into schemes.Registration: a file that is not here may
// walk the registrations, and name none of them.
var schemesNamed = map[string]string{
	"authn/jwt/confirmation.go":                   "a token is bound to a certificate (RFC 8705)",
	"card/security.go":                            "kinds of OpenAPI, which have the names that cards give them",
	"internal/cli/democmd/demo.go":                "the demonstration makes a key",
	"internal/cli/initfile/agent.go":              "the issuer of a first configuration is asked for its keys",
	"internal/cli/initfile/init.go":               "a first configuration has a key, or an issuer",
	"internal/cli/keyscmd/keys.go":                "the verbs that make and revoke API keys",
	"internal/cli/keyscmd/list.go":                "likewise",
	"internal/cli/keyscmd/revoke.go":              "likewise",
	"internal/cli/validatecmd/online_services.go": "issuers are reached over the network",
	"internal/config/doubts.go":                   "names of issuers",
	"internal/config/identity.go":                 "names of issuers, and agents that are called with a token of the caller's",
	"internal/console/access.go":                  "how people log in at the console",
	"internal/console/oidc.go":                    "likewise",
	"internal/configlint/linter.go":               "API keys are the operator's own, whether they are taken or not",
	"internal/gateway/labels.go":                  "issuers are values of a label",
	"internal/operator/callers.go":                "the console's screen of credentials shows the parts of each",
	"internal/operator/try.go":                    "the form for calls has a field for a key",
	"internal/revocation/keys.go":                 "revoked API keys are told to replicas",
	"proxy/upstream/credentials/exchanger.go":     "only tokens can be exchanged",
	"telemetry/metrics/label.go":                  "docs/metrics.md is written without authn, and compared below",
}

// TestSchemesHaveOneRegistration adds up where schemes are named: to add one is to touch its
// package and its registration.
func TestSchemesHaveOneRegistration(t *testing.T) {
	t.Parallel()
	found := make(map[string][]string)
	forEachFile(t, func(path string, _ *ast.File) {
		path = filepath.ToSlash(path)
		pkg := filepath.ToSlash(filepath.Dir(path))
		if strings.HasSuffix(path, "_test.go") || isTestOnly(pkg) || pkg == "authn/schemes" {
			return
		}
		if names := schemesIn(t, path, pkg); len(names) > 0 {
			found[path] = names
		}
	})
	for _, path := range slices.Sorted(maps.Keys(found)) {
		if schemesNamed[path] == "" {
			t.Errorf("%s names %s: is it something for schemes.Registration?", path, strings.Join(found[path], ", "))
		}
	}
	for path := range schemesNamed {
		if found[path] == nil {
			t.Errorf("%s names no scheme any more", path)
		}
	}
}

// beside are the packages below authn that are no scheme: proofs of possession (dpop) are part of
// tokens, credential has the names of headers, and failures counts what any scheme refuses.
var beside = []string{"credential", "dpop", "failures", "schemes"}

// schemesIn lists the schemes that a file names: by importing their packages, by their
// sections of the configuration, or in a string that is a name, an issuer or a method of
// theirs and nothing else.
func schemesIn(t *testing.T, path, pkg string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	words := make(map[string]bool)
	for _, r := range schemes.All() {
		words[r.Name], words[r.Issuer] = true, r.Issuer != ""
		for _, method := range r.Methods {
			words[method] = true
		}
	}
	named := make(map[string]bool)
	for _, spec := range file.Imports {
		if name, ok := strings.CutPrefix(unquote(t, spec.Path.Value), module+"/authn/"); ok && !slices.Contains(beside, name) && pkg != "authn/"+name {
			named[name] = true
		}
	}
	sections := map[string]bool{"OIDC": true, "APIKeys": true, "MTLS": true}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.SelectorExpr); ok && x.Sel.Name == "Authn" && sections[n.Sel.Name] {
				named["authn."+n.Sel.Name] = true
			}
		case *ast.BasicLit:
			if s, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING && words[s] && !strings.HasPrefix(pkg, "authn/") {
				named[s] = true
			}
		}
		return true
	})
	return slices.Sorted(maps.Keys(named))
}

// TestMetricsKnowTheSchemes compares the label provider, as docs/metrics.md has it, with the
// issuers that schemes are registered with.
func TestMetricsKnowTheSchemes(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	want := "| `provider` | issuers of `authn.oidc`, " + strings.Join(schemes.Issuers(nil), ", ") + ", unknown, "
	if !strings.Contains(string(text), want) {
		t.Errorf("docs/metrics.md does not have %q", want)
	}
}
