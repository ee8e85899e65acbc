package credentials

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// TestGreedyExchanges: a caller for whose tokens an authorization server takes its time has half
// of the connections to it, and others get theirs at once.
func TestGreedyExchanges(t *testing.T) {
	t.Parallel()
	var held atomic.Int32
	release := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("subject_token") == "greedy" {
			held.Add(1)
			<-release
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"access_token":"t","token_type":"Bearer","expires_in":60}`)
	})
	all := newServers(func(string, string) {}, nil)
	t.Cleanup(all.close)
	c := all.client(secret.URL(s.URL), "gateway", secret.Value{})
	get := func(who string) error {
		ctx, cancel := context.WithTimeout(t.Context(), tokenTimeout)
		defer cancel()
		_, err := c.ask(ctx, who, "exchange", url.Values{"grant_type": {"x"}, "subject_token": {who}})
		return err
	}
	var greedy sync.WaitGroup
	t.Cleanup(greedy.Wait)
	letGo := sync.OnceFunc(func() { close(release) })
	t.Cleanup(letGo)
	for range 3 * maxAsking {
		greedy.Go(func() { _ = get("greedy") })
	}
	for held.Load() < maxAsking/2 {
		time.Sleep(time.Millisecond)
	}
	for range 10 {
		if err := get("good"); err != nil {
			t.Errorf("another caller's token: %v", err)
		}
	}
	if n := held.Load(); n != maxAsking/2 {
		t.Errorf("one caller has %d requests of %d under way", n, maxAsking)
	}
	letGo()
	greedy.Wait()
	if err := get("greedy"); err != nil {
		t.Errorf("once it answers: %v", err)
	}
}
