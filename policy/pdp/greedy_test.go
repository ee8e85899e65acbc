//go:build !minimal

package pdp

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// TestGreedyQuestions: a caller about whom an authorizer thinks for ever has half of the
// connections, and others are answered at once.
func TestGreedyQuestions(t *testing.T) {
	t.Parallel()
	var held atomic.Int32
	release := make(chan struct{})
	p := newPointFunc(t, func(w http.ResponseWriter, r *http.Request) {
		if body, _ := io.ReadAll(r.Body); strings.Contains(string(body), "mallory") {
			held.Add(1)
			<-release
		}
		say(w, `{"decision":true}`)
	})
	panel := newPanel(t, Authorizer{Name: "pdp", Kind: kindAuthZEN, URL: secret.URL(p.URL), Timeout: quantity.Duration(10 * time.Second)})
	var greedy sync.WaitGroup
	t.Cleanup(greedy.Wait)
	letGo := sync.OnceFunc(func() { close(release) })
	t.Cleanup(letGo)
	for range 3 * maxAsking {
		greedy.Go(func() { _, _ = ask(t, panel, somebody(t, "mallory")) })
	}
	for held.Load() < maxAsking/2 {
		time.Sleep(time.Millisecond)
	}
	for range 10 {
		if _, err := ask(t, panel, somebody(t, "bob")); err != nil {
			t.Errorf("another caller's question: %v", err)
		}
	}
	if n := held.Load(); n != maxAsking/2 {
		t.Errorf("one caller has %d questions of %d under way", n, maxAsking)
	}
	letGo()
	greedy.Wait()
	if _, err := ask(t, panel, somebody(t, "mallory")); err != nil {
		t.Errorf("once it answers: %v", err)
	}
}
