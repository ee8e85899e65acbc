package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/demo"
)

// TestRecipeProviders takes the claims that docs/recipes/identity-providers.md shows of each
// provider to an issuer here, and asks with the configuration of the page who has such a token:
// the answer is what the page says.
func TestRecipeProviders(t *testing.T) {
	t.Parallel()
	sections := map[string]map[string]fence{}
	for _, b := range blocksOf(t, "../../docs/recipes/identity-providers.md") {
		if sections[b.section] == nil {
			sections[b.section] = map[string]fence{}
		}
		sections[b.section][b.lang] = b
	}
	if len(sections) < 4 {
		t.Errorf("%d providers: is the test looking in the right place?", len(sections))
	}
	agent, err := demo.Agent10(demo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = agent.Close(t.Context()) })
	issuer, err := demo.NewIssuer(demo.IssuerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = issuer.Close(t.Context()) })
	for name, blocks := range sections {
		var claims map[string]any
		if err := json.Unmarshal([]byte(blocks["json"].text), &claims); err != nil {
			t.Fatalf("%s: claims: %v", name, err)
		}
		theirs, _ := claims["iss"].(string)
		subject, _ := claims["sub"].(string)
		claims["iss"] = issuer.URL
		for _, ours := range []string{"client_id", "scope", "groups"} { // the issuer here adds them, the provider does not
			if _, ok := claims[ours]; !ok {
				claims[ours] = nil
			}
		}
		token, err := issuer.Issue(subject, demo.IssueOptions{Type: "JWT", Claims: claims})
		if err != nil {
			t.Fatal(err)
		}
		here := strings.NewReplacer(theirs+"\n", issuer.URL+"\n", "http://127.0.0.1:9001", agent.URL)
		r := &reader{t: t, dir: t.TempDir(), ports: map[string]string{}}
		r.write("config.yaml", here.Replace(blocks["yaml"].text))
		if err := os.WriteFile(filepath.Join(r.dir, "token"), []byte(token), 0o600); err != nil {
			t.Fatal(err)
		}
		r.run(blocks["text"], "a2a-gateway token -c config.yaml --agent billing <token", "0")
		r.compare(blocks["text"], here.Replace(blocks["text"].text))
	}
}
