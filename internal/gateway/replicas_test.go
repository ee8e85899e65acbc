package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/gateway"
	"github.com/a2a-gateway/a2a-gateway/internal/revocation"
)

// together is the server section of gateways that callers know by one address.
const together = plain + "\nhosts: [agents.test]"

// replicas are two gateways with a directory each. They share the keys of both kinds,
// and what sections say.
func (w *world) replicas(more, sections string) [2]*gateway.Gateway {
	w.t.Helper()
	var all [2]*gateway.Gateway
	for i := range all {
		yaml := w.authn(more, together, sections+fmt.Sprintf("keys: {dir: %q}\n", w.dir+"/keys"))
		all[i] = w.start(strings.Replace(yaml, fmt.Sprintf("dataDir: %q", w.dir), fmt.Sprintf("dataDir: %q", w.t.TempDir()), 1))
	}
	return all
}

// knock is a call of JSON-RPC to agent a, by the address that all replicas have.
func (w *world) knock(g *gateway.Gateway, more map[string]string, who http.Header) *http.Response {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, g.URL()+"/agents/a", strings.NewReader(sendBody("SendMessage", "1")))
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header, req.Host = sendHeader(who), "agents.test"
	for name, value := range more {
		req.Header.Set(name, value)
	}
	resp, err := client(w.t).Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	resp.Body.Close()
	return resp
}

// TestR22_RevokedAtAllReplicas: a key that is revoked by its id is refused by every
// gateway with the same Redis, and the streams of its holder end there. While Redis is
// away it stays revoked, and a gateway that begins then accepts no key.
func TestR22_RevokedAtAllReplicas(t *testing.T) {
	t.Parallel()
	redis := startRedis(t)
	w := newWorld(t)
	agent, talker := newCounter(t, nil), greeter(t)
	alice, bob := w.key("alice"), w.key("bob")
	sections := openPolicy + fmt.Sprintf("agents: [{id: a, card: %q}, {id: hers, card: %q}, {id: his, card: %q}]\n",
		talker.CardURL, agent.CardURL, agent.CardURL) + redis.yaml()
	all := w.replicas("failures: {perMinute: -1}", sections)
	for _, g := range all {
		for name, who := range map[string]http.Header{"alice": alice, "bob": bob} {
			if resp := w.knock(g, nil, who); resp.StatusCode != http.StatusOK {
				t.Fatalf("%s: %d", name, resp.StatusCode)
			}
		}
	}
	hers, his := w.stream(all[1], "hers", alice), w.stream(all[0], "his", bob)
	cfg := w.load(w.yaml(plain, sections))
	began := time.Now()
	if err := revocation.RevokeKey(t.Context(), cfg, "alice", time.Hour); err != nil {
		t.Fatal(err)
	}
	for i, g := range all {
		eventually(t, "refused", func() bool { return w.knock(g, nil, alice).StatusCode == http.StatusUnauthorized })
		t.Logf("gateway %d refuses after %v", i, time.Since(began))
		if resp := w.knock(g, nil, bob); resp.StatusCode != http.StatusOK {
			t.Errorf("somebody else: %d", resp.StatusCode)
		}
	}
	if last, err := hers.finish(); err != nil || !strings.Contains(last, "UNAUTHENTICATED") {
		t.Errorf("her stream ended with %s, %v", last, err)
	}
	close(agent.release)
	if last, err := his.finish(); err != nil || !strings.Contains(last, "COMPLETED") {
		t.Errorf("his stream ended with %s, %v", last, err)
	}
	listed, err := revocation.RevokedKeys(t.Context(), cfg)
	if err != nil || len(listed) != 1 || listed["alice"].Before(began.Truncate(time.Second)) {
		t.Errorf("listed are %v, %v", listed, err)
	}

	redis.end() // with all that it knew
	eventually(t, "the log says so", func() bool { return strings.Contains(w.log.String(), "those that were stay revoked") })
	for _, g := range all {
		if resp := w.knock(g, nil, alice); resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("without Redis: %d", resp.StatusCode)
		}
	}
	for _, g := range w.replicas("", sections) {
		if resp := w.knock(g, nil, bob); resp.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("a gateway that begins without Redis: %d", resp.StatusCode)
		}
	}
}

// Where nobody else would hear of it a key is not revoked, and that is said.
func TestRevokeKeyNeedsSharedState(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for driver, want := range map[string]error{"sqlite": revocation.ErrNotShared, "memory": revocation.ErrNotShared} {
		cfg := w.load(w.yaml(plain, "state: {driver: "+driver+"}\n"))
		if err := revocation.RevokeKey(t.Context(), cfg, "alice", 0); !errors.Is(err, want) {
			t.Errorf("%s: revoke: %v", driver, err)
		}
		if _, err := revocation.RevokedKeys(t.Context(), cfg); !errors.Is(err, want) {
			t.Errorf("%s: list: %v", driver, err)
		}
	}
	cfg := w.load(w.yaml(plain, "state: {driver: redis, redis: {addresses: [\""+freeAddress(t)+"\"]}}\n"))
	for _, id := range []string{"", strings.Repeat("x", 65)} {
		if err := revocation.RevokeKey(t.Context(), cfg, id, 0); err == nil || !strings.Contains(err.Error(), "64 bytes") {
			t.Errorf("id of %d bytes: %v", len(id), err)
		}
	}
	if err := revocation.RevokeKey(t.Context(), cfg, "alice", 0); err == nil {
		t.Error("a key is revoked where no Redis is")
	}
}

// TestProofGoodOnceAtAllReplicas: what one gateway has taken no other takes, and none can
// say whether it was taken while Redis is away.
func TestProofGoodOnceAtAllReplicas(t *testing.T) {
	t.Parallel()
	redis := startRedis(t)
	w := newWorld(t)
	agent := greeter(t)
	all := w.replicas("failures: {perMinute: -1}", openPolicy+fmt.Sprintf("agents: [{id: a, card: %q}]\n", agent.CardURL)+redis.yaml())
	h := newHolder(t, w)
	for round := range 3 {
		proved := h.proved()
		if first := w.knock(all[round%2], proved, nil); first.StatusCode != http.StatusOK {
			t.Fatalf("the first time: %d", first.StatusCode)
		}
		for i, g := range all {
			if again := w.knock(g, proved, nil); again.StatusCode != http.StatusUnauthorized {
				t.Errorf("again at gateway %d: %d", i, again.StatusCode)
			}
		}
	}
	redis.end()
	if lost := w.knock(all[0], h.proved(), nil); lost.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("without Redis: %d", lost.StatusCode)
	}
}

// TestNonceOfAnotherReplica: a client need not come back to the gateway that gave it a
// nonce.
func TestNonceOfAnotherReplica(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := greeter(t)
	all := w.replicas("dpop: {nonce: true}", openPolicy+fmt.Sprintf("agents: [{id: a, card: %q}]\n", agent.CardURL))
	h := newHolder(t, w)
	asked := w.knock(all[0], h.proved(), nil)
	if h.nonce = asked.Header.Get("DPoP-Nonce"); asked.StatusCode != http.StatusUnauthorized || h.nonce == "" {
		t.Fatalf("without a nonce: %d, %q", asked.StatusCode, h.nonce)
	}
	for i, g := range all {
		if resp := w.knock(g, h.proved(), nil); resp.StatusCode != http.StatusOK {
			t.Errorf("at gateway %d: %d", i, resp.StatusCode)
		}
	}
	stranger := newWorld(t).replicas("dpop: {nonce: true}", openPolicy+fmt.Sprintf("agents: [{id: a, card: %q}]\n", agent.CardURL))[0]
	if h.nonce = w.knock(stranger, h.proved(), nil).Header.Get("DPoP-Nonce"); w.knock(all[0], h.proved(), nil).StatusCode != http.StatusUnauthorized {
		t.Error("the nonce of a gateway with other keys is good")
	}
}

// TestProofAcrossRestart: a gateway with its state in a file knows after a restart what
// it has taken before.
func TestProofAcrossRestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := greeter(t)
	yaml := w.yaml(together, openPolicy+fmt.Sprintf("agents: [{id: a, card: %q}]\n", agent.CardURL)+"state: {driver: sqlite}\n")
	h := newHolder(t, w)
	proved := h.proved()
	before := w.start(yaml)
	if resp := w.knock(before, proved, nil); resp.StatusCode != http.StatusOK {
		t.Fatalf("the first time: %d", resp.StatusCode)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := before.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}
	after := w.start(yaml)
	if resp := w.knock(after, proved, nil); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("after a restart: %d", resp.StatusCode)
	}
	if resp := w.knock(after, h.proved(), nil); resp.StatusCode != http.StatusOK {
		t.Errorf("a new proof: %d", resp.StatusCode)
	}
}

// proved is what goes along with one call of knock.
func (h *holder) proved() map[string]string {
	all, err := h.header(http.MethodPost, "http://agents.test/agents/a")
	if err != nil {
		h.t.Fatal(err)
	}
	return all
}
