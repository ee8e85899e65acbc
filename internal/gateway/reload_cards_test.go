package gateway_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestReloadEndsCards: nobody asks for the card of an agent that a reload has removed, or
// for that of one before it was changed, though a stream holds on to both; and no metric is
// about them.
func TestReloadEndsCards(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	kept, changed, removed := newCounter(t, nil), newCounter(t, nil), newCounter(t, nil)
	moved := newCounter(t, nil)
	line := func(id string, a *counter) string {
		return fmt.Sprintf("  - {id: %s, card: {url: %q, refresh: 1s}}\n", id, a.CardURL)
	}
	g := w.start(w.yaml(plain, openPolicy+"agents:\n"+line("kept", kept)+line("changed", changed)+line("removed", removed)))
	c, credential := client(t), w.token("caller")
	c.Timeout = 0 // streams last
	stream, err := openStream(c, g.URL()+"/agents/changed", credential, "stream")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.reload(g, w.yaml(plain, openPolicy+"agents:\n"+line("kept", kept)+line("changed", moved))); err != nil {
		t.Fatal(err)
	}
	before := map[*counter]int64{changed: changed.cards.Load(), removed: removed.cards.Load()}
	n := kept.cards.Load()
	eventually(t, "a card that is still wanted is fetched again", func() bool { return kept.cards.Load() >= n+3 })
	for a, n := range before {
		if now := a.cards.Load(); now != n {
			t.Errorf("%s was fetched %d times, and %d times after the reload", a.CardURL, n, now-n)
		}
	}
	_, all := fetch(t, g.StatusURL()+"/metrics", nil)
	for series := range strings.Lines(all) {
		if strings.HasPrefix(series, "a2a_gateway_card_") &&
			(strings.Contains(series, `agent="other"`) || strings.Contains(series, `agent="removed"`)) {
			t.Error(series)
		}
	}
	if status, body := call(t, g, "changed", credential); status != http.StatusOK {
		t.Errorf("changed: %d %s", status, body)
	}
	close(changed.release)
	if last, err := stream.finish(); err != nil || !strings.Contains(last, "COMPLETED") {
		t.Errorf("the stream ended with %q, error %v", last, err)
	}
}
