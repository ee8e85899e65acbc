package interop_test

import (
	"bufio"
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json/jsontext"
)

// signers are the SDKs that sign and verify cards: programs of interop that are asked in
// lines of JSON, as js/cards.mjs says.
var signers = []struct {
	name    string
	command []string
	needs   []string
	version string // A2A-Version with which it asks for a card; "" for none
	raw     bool   // also verify the document as it is, not as the SDK's resolver reads it
}{
	{"js 1.3.0", []string{"node", "js/cards.mjs"}, []string{"node", "js/node_modules/a2a-v1/package.json"}, "1.0", false},
	{"js 1.3.0, as it is", []string{"node", "js/cards.mjs"}, []string{"node", "js/node_modules/a2a-v1/package.json"}, "1.0", true},
	{"js 1.3.0, mixed", []string{"node", "js/cards.mjs"}, []string{"node", "js/node_modules/a2a-v1/package.json"}, "", true},
	{"js 1.3.0, of 0.3", []string{"node", "js/cards.mjs"}, []string{"node", "js/node_modules/a2a-v1/package.json"}, "0.3", true},
	{"python 1.3.0", []string{"python/.venv-v1/bin/python", "python/cards_v1.py"}, []string{"python/.venv-v1/bin/python"}, "1.0", true},
	{"python 1.3.0, mixed", []string{"python/.venv-v1/bin/python", "python/cards_v1.py"}, []string{"python/.venv-v1/bin/python"}, "", true},
	{"python 1.3.0, of 0.3", []string{"python/.venv-v1/bin/python", "python/cards_v1.py"}, []string{"python/.venv-v1/bin/python"}, "0.3", true},
	{"python 0.3.26, mixed", []string{"python/.venv-v03/bin/python", "python/cards_v03.py"}, []string{"python/.venv-v03/bin/python"}, "", false},
	{"python 0.3.26", []string{"python/.venv-v03/bin/python", "python/cards_v03.py"}, []string{"python/.venv-v03/bin/python"}, "0.3", false},
}

// TestCards has the SDKs verify the cards that the gateway signs, by the keys that it
// publishes: before and after the next key has taken over, and with one word changed. The
// Go SDK verifies nothing; goVerifies does what a program on it would.
func TestCards(t *testing.T) {
	if os.Getenv("A2A_GATEWAY_TEST_INTEROP") == "" {
		t.Skip("run by `make interop`")
	}
	current, next := writtenKey(t, false), writtenKey(t, true)
	g := cardGateway(t, current, next)
	changed := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write(bytes.Replace(fetched(t, g.url+r.URL.Path, r.Header.Get("A2A-Version")),
			[]byte("Tells"), []byte("Knows"), 1))
	}))
	t.Cleanup(changed.Close)
	verifyAll(t, g.url, changed.URL)
	first := signingKid(t, g.url)
	swap(t, current, next)
	deadline := time.Now().Add(patience)
	for signingKid(t, g.url) == first {
		if time.Now().After(deadline) {
			t.Fatal("the next key did not take over")
		}
		time.Sleep(100 * time.Millisecond)
	}
	verifyAll(t, g.url, changed.URL)
}

func verifyAll(t *testing.T, good, changed string) {
	t.Helper()
	goVerifies(t, good)
	for _, s := range signers {
		if lacking := missing(s.needs); lacking != "" {
			if requireAll() {
				t.Fatalf("%s needs %s; run interop/setup", s.name, lacking)
			}
			t.Logf("%s is left out: it needs %s; run interop/setup", s.name, lacking)
			continue
		}
		// All questions at once: what is slow about a program is starting it.
		var questions []any
		for _, agent := range []string{"plain", "rich"} {
			for _, base := range []string{good, changed} {
				questions = append(questions, map[string]any{
					"verify": base + "/agents/" + agent + "/.well-known/agent-card.json",
					"jwks":   good + "/.well-known/jwks.json", "version": s.version, "raw": s.raw,
				})
			}
		}
		for i, got := range asked(t, s.command, questions) {
			refused := strings.Contains(strings.ToLower(got), "signature")
			if i%2 == 0 && got != "" || i%2 == 1 && !refused {
				t.Errorf("%s: %v: got %q", s.name, questions[i], got)
			}
		}
	}
}

// asked is what a program answers to each question: the error, or nothing.
func asked(t *testing.T, command []string, questions []any) []string {
	t.Helper()
	var lines bytes.Buffer
	for _, q := range questions {
		if err := json.NewEncoder(&lines).Encode(q); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Stdin = &lines
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v, %s", command, err, stderr.String())
	}
	var answers []string
	for line := range bytes.Lines(out) {
		var answer struct {
			OK    bool   `json:"ok"`
			Error string `json:"error"`
		}
		if json.Unmarshal(line, &answer) != nil || answer.OK == (answer.Error != "") {
			t.Fatalf("%s: %s, %s", command, line, stderr.String())
		}
		answers = append(answers, answer.Error)
	}
	if len(answers) != len(questions) {
		t.Fatalf("%s: %d answers to %d questions, %s", command, len(answers), len(questions), stderr.String())
	}
	return answers
}

// goVerifies takes the card's bytes, as received less the signatures, in canonical form.
func goVerifies(t *testing.T, base string) {
	t.Helper()
	var set jose.JSONWebKeySet
	if err := json.Unmarshal(fetched(t, base+"/.well-known/jwks.json", ""), &set); err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{"", "1.0", "0.3"} {
		var card map[string]json.RawMessage
		if err := json.Unmarshal(fetched(t, base+"/agents/rich/.well-known/agent-card.json", version), &card); err != nil {
			t.Fatal(err)
		}
		var signatures []struct{ Protected, Signature string }
		if err := json.Unmarshal(card["signatures"], &signatures); err != nil {
			t.Fatal(err)
		}
		delete(card, "signatures")
		rest, err := json.Marshal(card)
		payload := jsontext.Value(rest)
		if err == nil {
			err = payload.Canonicalize()
		}
		if err != nil {
			t.Fatal(err)
		}
		by := map[string]bool{}
		for _, s := range signatures {
			jws, err := jose.ParseDetached(s.Protected+".."+s.Signature, payload,
				[]jose.SignatureAlgorithm{jose.ES256, jose.EdDSA})
			if err != nil {
				t.Fatal(err)
			}
			for _, k := range set.Key(jws.Signatures[0].Header.KeyID) {
				if jws.DetachedVerify(payload, k) == nil {
					by[k.Algorithm] = true
				}
			}
		}
		if !by["ES256"] || !by["EdDSA"] {
			t.Errorf("%s: verified with %v, want both keys", version, by)
		}
	}
}

func fetched(t *testing.T, url, version string) []byte {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if version != "" {
		r.Header.Set("A2A-Version", version)
	}
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Body.Close()
	body, err := io.ReadAll(bufio.NewReader(w.Body))
	if err != nil || w.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", url, w.Status, err)
	}
	return body
}

// signingKid is the key that signs first.
func signingKid(t *testing.T, base string) string {
	t.Helper()
	var card struct {
		Signatures []struct{ Protected string }
	}
	if err := json.Unmarshal(fetched(t, base+"/agents/plain/.well-known/agent-card.json", "1.0"), &card); err != nil {
		t.Fatal(err)
	}
	return card.Signatures[0].Protected
}

func writtenKey(t *testing.T, edwards bool) string {
	t.Helper()
	var private any
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if edwards {
		_, private, err = ed25519.GenerateKey(rand.Reader)
	}
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	path := filepath.Join(t.TempDir(), "key.pem")
	if err == nil {
		err = os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// swap has two files change their contents.
func swap(t *testing.T, a, b string) {
	t.Helper()
	for _, step := range [][2]string{{a, a + ".old"}, {b, a}, {a + ".old", b}} {
		if err := os.Rename(step[0], step[1]); err != nil {
			t.Fatal(err)
		}
	}
}

// richCard has what canonical forms differ in: see card/signature.
const richCard = `{"name":"Zürich € 😀","description":"Tells \"time\"\u2028.","version":"1.0","x-unknown":{"a":[]},
 "supportedInterfaces":[{"url":"%[1]s/","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
 "provider":{"organization":"Ämter","url":""},"capabilities":{"streaming":false,"extensions":[
  {"uri":"https://e.test/x","required":false,"params":{"€":1,"😀":2,"דּ":3,"z":1e21,"y":1E-7,"w":1.0,"empty":{},"none":null}}]},
 "securitySchemes":{"b":{"httpAuthSecurityScheme":{"scheme":"Bearer"}}},
 "defaultInputModes":["text/plain"],"defaultOutputModes":[],
 "skills":[{"id":"s","name":"S","description":"","tags":[],"examples":[]}]}`

const plainCard = `{"name":"Clock","description":"Tells the time.","version":"1.0","capabilities":{},
 "supportedInterfaces":[{"url":"%[1]s/","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
 "defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],
 "skills":[{"id":"s","name":"S","description":"Tells it.","tags":["time"]}]}`

// cardGateway serves two agents' cards to everybody.
func cardGateway(t *testing.T, signing ...string) *gateway {
	t.Helper()
	var agents *httptest.Server
	agents = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		card := plainCard
		if r.URL.Path == "/rich" {
			card = richCard
		}
		_, _ = fmt.Fprintf(w, card, agents.URL)
	}))
	t.Cleanup(agents.Close)
	dir := t.TempDir()
	g := &gateway{binary: buildGateway(t), dir: dir}
	file := filepath.Join(dir, "config.yaml")
	config := fmt.Sprintf(`server: {address: "127.0.0.1:0", statusAddress: "127.0.0.1:0", publicURL: "http://127.0.0.1", dataDir: %q, limits: {delay: 1h}}
admin: {address: "127.0.0.1:0"}
authn:
  anonymous: true
  apiKeys: {file: keys.yaml}
policy:
  rules: [{name: all, effect: allow, agents: ["*"]}]
keys: {signing: [%s]}
agents:
  - {id: plain, card: "%[3]s/plain"}
  - {id: rich, card: "%[3]s/rich"}
`, dir, strings.Join(signing, ", "), agents.URL)
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	g.serve(t, file)
	return g
}
