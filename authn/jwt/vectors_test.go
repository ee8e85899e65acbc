package jwt

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/jws"
)

// The test vectors of Project Wycheproof, by the version they are pinned to and the sum
// of that version.
const (
	wycheproof    = "github.com/C2SP/wycheproof@v0.0.0-20250901140545-b51abcfb8daf"
	wycheproofSum = "h1:5BKKVVVj676FUWirLcouEEL6GCYR9X0opkMlEUck8FY="
)

// vectorGroup is one key, or key set, with what was made for it.
type vectorGroup struct {
	Comment string
	Private json.RawMessage
	Public  json.RawMessage // absent for symmetric keys
	Tests   []vector
}

type vector struct {
	ID      int `json:"tcId"`
	Comment string
	JWS     json.RawMessage // a string, or an object in JSON serialization
	JWE     json.RawMessage
	Result  string
}

// vectors downloads the module, which is in nobody's go.mod, as it is only data.
func vectors(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module vectors\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", wycheproof)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	out, err := cmd.Output()
	var module struct{ Dir, Sum, Error string }
	_ = json.Unmarshal(out, &module)
	if err == nil && module.Dir == "" {
		err = errors.New(module.Error)
	}
	switch {
	case err != nil && os.Getenv("A2A_GATEWAY_TEST_REQUIRE_ALL") != "":
		t.Fatalf("download %s: %v %s", wycheproof, err, module.Error)
	case err != nil:
		t.Skipf("%s cannot be had: %v %s", wycheproof, err, module.Error)
	case module.Sum != wycheproofSum:
		t.Fatalf("%s has the sum %s", wycheproof, module.Sum)
	}
	return filepath.Join(module.Dir, "testvectors_v1")
}

// accepts runs a token through what stands between a request and its claims: the form,
// the key set, the choice of the key and the signature.
func accepts(keySet []byte, raw string) error {
	set, err := authn.Signatures.Set(keySet)
	if err != nil {
		return err
	}
	t, err := dissect(raw)
	if err != nil {
		return err
	}
	alg, _ := authn.Signatures.Lookup(t.alg)
	candidates, err := (&keys{list: set.Keys}).find(t.kid, alg)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(candidates, func(k *jws.Key) bool { return alg.Verify(k.Public, []byte(t.signed), t.signature) == nil }) {
		return errors.New("no key verifies it")
	}
	if err := libraryReads(set.Keys, raw); err != nil {
		return fmt.Errorf("%w: %w", errLooser, err)
	}
	return nil
}

// errLooser is of a token that passed here and not at go-oidc.
var errLooser = errors.New("accepted here, refused by go-oidc")

// set is the group's key set as an issuer would publish it.
func (g *vectorGroup) set() []byte {
	doc := g.Public
	if doc == nil {
		doc = g.Private
	}
	var s struct{ Keys []json.RawMessage }
	if json.Unmarshal(doc, &s) == nil && s.Keys != nil {
		return doc
	}
	return []byte(`{"keys":[` + string(doc) + `]}`)
}

// stricter lists good tokens that are refused all the same, by number.
func stricter(id int) bool {
	switch id {
	case 259, 264, 268, 272, 320, 325: // an empty payload, which holds no claims
		return true
	case 346, 347, 350, 351: // the key is published for another algorithm
		return true
	}
	return false
}

// No token that must be refused is accepted. Good ones are, unless they rest on what is
// not done here at all: symmetric keys.
func TestL25_WycheproofVectors(t *testing.T) {
	t.Parallel()
	dir := vectors(t)
	for _, file := range []struct {
		name          string
		good, symm    int // symm: good but for their symmetric key
		bad, stricter int
	}{
		{"json_web_signature_test.json", 26, 10, 355, 10},
		{"json_web_key_test.json", 1, 4, 21, 0},
		{"json_web_crypto_test.json", 2, 4, 77, 0},
	} {
		t.Run(file.name, func(t *testing.T) {
			t.Parallel()
			doc, err := os.ReadFile(filepath.Join(dir, file.name))
			if err != nil {
				t.Fatal(err)
			}
			var all struct{ TestGroups []vectorGroup }
			if err := json.Unmarshal(doc, &all); err != nil {
				t.Fatal(err)
			}
			count := map[string]int{}
			for i := range all.TestGroups {
				g := &all.TestGroups[i]
				for _, v := range g.Tests {
					count[g.outcome(t, &v)]++
				}
			}
			want := map[string]int{"good": file.good, "symmetric": file.symm, "bad": file.bad}
			if file.stricter > 0 {
				want["stricter"] = file.stricter
			}
			if d := cmp.Diff(want, count); d != "" {
				t.Error(d)
			}
		})
	}
}

// outcome judges one vector and says of which kind it is.
func (g *vectorGroup) outcome(t *testing.T, v *vector) string {
	t.Helper()
	err := accepts(g.set(), v.text())
	switch label := fmt.Sprintf("%s %d %s", g.Comment, v.ID, v.Comment); {
	case errors.Is(err, errLooser):
		t.Errorf("%s: %v", label, err)
	case v.Result == "invalid" && err == nil:
		t.Errorf("%s: accepted", label)
	case v.Result == "invalid":
		return "bad"
	case err == nil:
		return "good"
	case g.Public == nil:
		return "symmetric"
	case !stricter(v.ID):
		t.Errorf("%s: refused: %v", label, err)
	}
	return "stricter"
}

// text is the token as a caller would send it.
func (v *vector) text() string {
	raw := v.JWS
	if raw == nil {
		raw = v.JWE
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return string(raw)
	}
	return s
}
