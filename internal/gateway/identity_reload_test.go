package gateway_test

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

// TestReloadKeepsTokens: a reload that does not concern an agent leaves the tokens that
// were got for it in use, and so does one that fails; one that changes what is asked for
// has others asked for at once.
func TestReloadKeepsTokens(t *testing.T) {
	t.Parallel()
	f := newFederation(t, jsonrpc10())
	alice := f.speaker(t, f.person("alice", []string{"finance"}, nil), "away", jsonrpc10(), gatewaytest.Go10)
	turn := func() (token string, asked int) {
		t.Helper()
		alice.says("ask", nil)
		return f.away.last().bearer, len(f.other.questions())
	}
	first, _ := turn()
	yaml := f.configuration("")
	for name, changed := range map[string]string{
		"the same":      yaml,
		"another log":   yaml + "telemetry: {logs: {level: warn}}\n",
		"more rules":    strings.Replace(yaml, "rules: [", "rules: [{name: no, effect: deny, subjects: [nobody]}, ", 1),
		"another agent": strings.Replace(yaml, homeAudience, "urn:agents:elsewhere", 1),
		"less patience": strings.Replace(yaml, "publicURL", "timeouts: {drain: 1s}\n  publicURL", 1),
	} {
		if err := f.reload(f.g, changed); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if token, asked := turn(); token != first || asked != 1 {
			t.Errorf("%s: another token after %d questions", name, asked)
		}
	}
	for name, bad := range map[string]string{
		"an unknown grant": strings.Replace(yaml, "clientID: a2a-gateway\n", "clientID: a2a-gateway\n          grant: password\n", 1),
		"two secrets":      strings.Replace(yaml, "assertion: {audience:", "value: x\n        assertion: {audience:", 1),
		"other keys":       yaml + "keys: {algorithm: EdDSA}\n",
	} {
		if err := f.reload(f.g, bad); err == nil {
			t.Fatalf("%s: taken", name)
		}
		if token, asked := turn(); token != first || asked != 1 {
			t.Errorf("%s: another token after %d questions", name, asked)
		}
	}
	if err := f.reload(f.g, strings.Replace(yaml, "finance: [invoices.read]", "finance: [invoices.read, invoices.list]", 1)); err != nil {
		t.Fatal(err)
	}
	if token, asked := turn(); token == first || asked != 2 || f.away.last().who["scope"] != "invoices.list invoices.read" {
		t.Errorf("other permissions: %v after %d questions", f.away.last().who["scope"], asked)
	}
	// Who is nobody any more, is so at once.
	if err := f.reload(f.g, strings.Replace(yaml, "identity: {claim: email}", "identity: {subjects: {dora: dorothea}}", 1)); err != nil {
		t.Fatal(err)
	}
	alice.refused("ask")
}

// keyring is a directory of signing keys, which are all replaced at once, as a mounted
// secret's are.
type keyring struct {
	t    *testing.T
	link string
	made int
}

// set puts the keys in place, the one that signs first.
func (k *keyring) set(signs, spare []byte) {
	k.t.Helper()
	k.made++
	dir := fmt.Sprintf("%s-%d", k.link, k.made)
	if err := os.Mkdir(dir, 0o700); err != nil {
		k.t.Fatal(err)
	}
	for name, key := range map[string][]byte{"signs.pem": signs, "spare.pem": spare} {
		if err := os.WriteFile(filepath.Join(dir, name), key, 0o600); err != nil {
			k.t.Fatal(err)
		}
	}
	if err := os.Symlink(dir, k.link+".new"); err != nil {
		k.t.Fatal(err)
	}
	if err := os.Rename(k.link+".new", k.link); err != nil {
		k.t.Fatal(err)
	}
}

// signingKey makes one.
func signingKey(t *testing.T) []byte {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(newKey(t))
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

// TestSigningKeyRotation changes the gateway's key as an operator does, while it signs:
// the next one is published, then it signs, then the last one goes. The agent reads the
// keys when it meets one that it does not know, and refuses not one call. What the last
// key has signed is good until it has gone.
func TestSigningKeyRotation(t *testing.T) {
	testenv.Long(t, "calls are made while keys change")
	t.Parallel()
	w := newWorld(t)
	ring := &keyring{t: t, link: filepath.Join(w.dir, "ring")}
	old, next := signingKey(t), signingKey(t)
	ring.set(old, next)
	home := &door{audience: homeAudience}
	agent := gatewaytest.StartBehind(t, jsonrpc10(), home.before, nil)
	config := w.yaml(plain, fmt.Sprintf("keys: {signing: [ring/signs.pem, ring/spare.pem]}\n"+openPolicy+
		"agents: [{id: home, card: %q, credentials: [{assertion: {audience: %q}}]}]\n", agent.CardURL, homeAudience))
	g := w.start(config)
	home.trust(g.URL(), g.URL()+"/.well-known/jwks.json")

	alice := w.token("alice")
	stop := make(chan struct{})
	var calls atomic.Int64
	var calling sync.WaitGroup
	defer calling.Wait()
	defer close(stop)
	hc := client(t)
	for i := range 2 {
		calling.Go(func() {
			tick := time.NewTicker(10 * time.Millisecond)
			defer tick.Stop()
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				case <-tick.C:
				}
				status, body, err := try(hc, http.MethodPost, g.URL()+"/agents/home", sendHeader(alice), sendBody("SendMessage", fmt.Sprintf("%d-%d", i, n)))
				if err != nil || status != http.StatusOK || strings.Contains(body, `"error"`) {
					t.Errorf("call %d: %d %s, %v", calls.Load(), status, body, err)
					return
				}
				calls.Add(1)
			}
		})
	}
	published := func() []string {
		keys, err := keySet(g.URL() + "/.well-known/jwks.json")
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, k := range keys.Keys {
			ids = append(ids, k.KeyID)
		}
		return ids
	}
	latest := func() string { // a token of now
		from := calls.Load()
		eventually(t, "calls go on", func() bool { return calls.Load() > from+4 })
		return home.last().bearer
	}
	before := latest()
	was := published()
	if len(was) != 2 {
		t.Fatalf("published are %v", was)
	}
	// The next key signs in the place of the last one, which stays.
	ring.set(next, old)
	eventually(t, "the next key signs", func() bool { return kid(home.last().bearer) == was[1] })
	if kid(before) != was[0] {
		t.Errorf("before, %s signed", kid(before))
	}
	if _, err := home.admit(before); err != nil {
		t.Errorf("what the last key signed is no longer taken: %v", err)
	}
	ring.set(next, signingKey(t))
	eventually(t, "the last key goes", func() bool { return !strings.Contains(strings.Join(published(), " "), was[0]) })
	if _, err := home.admit(before); err == nil {
		t.Error("what a key signed that has gone is still taken")
	}
	latest()
}

// TestGeneratedKeysOutliveTheGateway: the next gateway on the same directory signs with
// the same key, and what the last one signed is good.
func TestGeneratedKeysOutliveTheGateway(t *testing.T) {
	t.Parallel()
	f := newFederation(t, jsonrpc10())
	who := f.person("alice", []string{"finance"}, nil)
	f.speaker(t, who, "home", jsonrpc10(), gatewaytest.Go10).says("input", nil)
	before := f.home.last().bearer
	if err := f.g.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.g = f.start(f.configuration(""))
	keys := f.g.URL() + "/.well-known/jwks.json"
	issuer, err := unverified(before)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := verified(before, keys, issuer, homeAudience); err != nil {
		t.Errorf("what was signed before is not taken: %v", err)
	}
	f.home.trust(f.g.URL(), keys)
	f.speaker(t, who, "home", jsonrpc10(), gatewaytest.Go10).says("input", nil)
	if kid(f.home.last().bearer) != kid(before) {
		t.Error("another key signs")
	}
}
