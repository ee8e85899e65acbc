package gateway_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/console"
	consolestreams "github.com/a2a-gateway/a2a-gateway/internal/console/streams"
	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
)

// TestStreamsByAPI: the admin API has the streams that are open, over every binding, with
// whose they are and what came of them; one that is ended there tells its client to come
// back, and others go on.
func TestStreamsByAPI(t *testing.T) {
	t.Parallel()
	for _, side := range proven() {
		t.Run(string(side.binding)+" "+string(side.version), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			agent := gatewaytest.Start(t, jsonrpc10())
			alice, bob := w.key("alice"), w.key("bob")
			g := w.start(w.yaml(plain, adminSection+openPolicy+fmt.Sprintf("agents: [{id: a, card: %s}]\n", everyBinding(agent.CardURL))))
			d := w.desk(g)
			dial := func(who http.Header) gatewaytest.Client {
				c, _ := gatewaytest.Dial(t, side.sdk, gatewaytest.HTTPClient(t, who, nil), g.URL()+"/agents/a", side.version, side.binding)
				return c
			}
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			before := time.Now().Add(-time.Second)
			silent, chatty := listen(ctx, dial(alice), "auth"), listen(ctx, dial(bob), "tick")
			silent.hears(t, 1)
			chatty.hears(t, 100)
			var all, hers consolestreams.OpenStreams
			if d.ask("GET", "/streams", "", &all); all.Open != 2 || all.Found != 2 || len(all.Streams) != 2 {
				t.Fatalf("listed %+v", all)
			}
			d.ask("GET", "/streams?caller=alice&agent=a", "", &hers)
			if hers.Open != 2 || hers.Found != 1 || len(hers.Streams) != 1 {
				t.Fatalf("listed of hers %+v", hers)
			}
			s := hers.Streams[0]
			if s.Caller != "alice" || s.Issuer != "api-keys" || s.Agent != "a" || s.Method != "SendStreamingMessage" ||
				s.Binding != string(side.binding) || s.Version != string(side.version) || s.Task == "" || s.Events < 1 || s.Address != "127.0.0.1" ||
				s.Began.Before(before) || s.Began.After(time.Now()) {
				t.Errorf("hers is listed as %+v", s)
			}
			var his, none consolestreams.OpenStreams
			if d.ask("GET", "/streams?caller=bob", "", &his); len(his.Streams) != 1 || his.Streams[0].Events < 100 || his.Streams[0].Task == s.Task {
				t.Errorf("listed of his %+v", his)
			}
			if d.ask("GET", "/streams?task="+s.Task+"&caller=bob", "", &none); none.Open != 2 || none.Found != 0 {
				t.Errorf("listed of another's task: %+v", none)
			}
			if status := d.ask("DELETE", "/streams/"+s.ID, "", nil); status != http.StatusOK {
				t.Error(status)
			}
			if err := silent.ends(t); err == nil || !strings.Contains(err.Error(), "operator") {
				t.Errorf("the stream ended with %v", err)
			}
			eventually(t, "it is listed no more", func() bool {
				d.ask("GET", "/streams", "", &all)
				return all.Open == 1
			})
			var no console.Problem
			if status := d.ask("DELETE", "/streams/"+s.ID, "", &no); status != http.StatusNotFound || no.Code != "NO_SUCH_STREAM" {
				t.Error(status, no)
			}
			chatty.hears(t, 100)
			eventually(t, "the end is on record", func() bool { return strings.Contains(w.trail(), `"end":"ended by an operator"`) })
			if trail := w.trail(); strings.Count(trail, `"event":"stream.ended"`) != 3 || !strings.Contains(trail, `"outcome":"not found"`) {
				t.Error("what was done is not on record")
			}
		})
	}
}
