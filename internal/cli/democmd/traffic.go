package democmd

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/google/uuid"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/a2a-gateway/a2a-gateway/internal/demo"
)

// scene is a call that somebody makes again and again. What comes of it is decided by the policy
// of the demonstration (text.go): alice is in finance, bob in support, carol in operations.
type scene struct {
	who    string // a user of the issuer, or ci, who has an API key
	path   string // below /agents
	old    bool   // in A2A 0.3
	stream bool
	says   string
	ext    bool // asks for the extension
}

// scenes have something of everything that the console shows: what is allowed and denied,
// streams, both versions, an extension that is asked for and one that is missing.
var scenes = []scene{
	{who: "alice", path: "billing", says: "summarize"},
	{who: "alice", path: "billing", says: "count 5", stream: true},
	{who: "alice", path: "billing", says: "hello", ext: true},
	{who: "alice", path: "treasury", says: "hello", ext: true},
	{who: "alice", path: "treasury", says: "hello"},
	{who: "bob", path: "billing/skills/summarize", says: "summarize", stream: true},
	{who: "bob", path: "billing/skills/refund", says: "refund INV-7"},
	{who: "bob", path: "weather", says: "forecast Bergen", old: true, stream: true},
	{who: "carol", path: "weather", says: "hello"},
	{who: "carol", path: "billing", says: "summarize"},
	{who: "ci", path: "weather", says: "forecast Oslo", old: true},
	{who: "ci", path: "weather", says: "fail", old: true},
}

// What play keeps to: about one call in 700 ms is enough for the console to have something to show
// at any time, and leaves a laptop its processor.
const (
	trafficPause = 700 * time.Millisecond // between two calls, give or take half of it
	trafficMost  = 8                      // calls at the same time
	trafficTime  = 20 * time.Second       // of a call
)

// play makes calls until ctx ends or the program is told to, and returns when the last of them has
// ended. It listens to the signals itself, since serve drains on the first of them: calls that
// went on would be refused one after the other and fill the last page of the log.
//
// Callers have tokens of the issuer by client credentials (RFC 6749 §4.4); x/oauth2 renews them.
func (c *cast) play(ctx context.Context) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The environment's proxy has no say.
	direct := &http.Client{Transport: &http.Transport{}} // no proxy: all of it is here
	tokens := context.WithValue(ctx, oauth2.HTTPClient, direct)
	clients := make(map[string]*http.Client)
	// It has an API key, which act puts into the header.
	clients["ci"] = direct
	for _, name := range []string{"alice", "bob", "carol"} {
		clients[name] = (&clientcredentials.Config{
			ClientID: name, ClientSecret: name + "-secret", TokenURL: c.Issuer.URL + "/token", AuthStyle: oauth2.AuthStyleInHeader,
		}).Client(tokens)
	}
	var calls sync.WaitGroup
	defer calls.Wait()
	room := make(chan struct{}, trafficMost)
	for n := 0; ; n++ {
		s := scenes[n%len(scenes)] // each once, and then as chance has it
		if n >= len(scenes) {
			s = scenes[rand.IntN(len(scenes))] //nolint:gosec // nobody guesses for gain
		}
		select {
		case room <- struct{}{}:
			calls.Go(func() {
				defer func() { <-room }()
				c.act(ctx, clients[s.who], &s)
			})
		// A call that waits for room would come late and at the same time as others.
		default: // the agents are slow: one less
		}
		pause := trafficPause/2 + rand.N(trafficPause) //nolint:gosec // nobody guesses for gain
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// act makes one call and reads its answer to the end, as a stream's caller who leaves early would
// be shown as one. What becomes of it is in the console; an error is not printed, since refusals
// are part of what is shown.
func (c *cast) act(ctx context.Context, client *http.Client, s *scene) {
	ctx, cancel := context.WithTimeout(ctx, trafficTime)
	defer cancel()
	method, version := "SendMessage", "1.0"
	message := fmt.Sprintf(`{"messageId":%q,"role":"ROLE_USER","parts":[{"text":%q}]}`, uuid.NewString(), s.says)
	if s.old {
		method, version = "message/send", "0.3"
		message = fmt.Sprintf(`{"kind":"message","messageId":%q,"role":"user","parts":[{"kind":"text","text":%q}]}`, uuid.NewString(), s.says)
	}
	if s.stream {
		method = map[string]string{"1.0": "SendStreamingMessage", "0.3": "message/stream"}[version]
	}
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{"message":%s}}`, method, message)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.Gateway+"/agents/"+s.path, strings.NewReader(body))
	if err != nil {
		return
	}
	r.Header = http.Header{"Content-Type": {"application/json"}, "A2a-Version": {version}, "User-Agent": {"demo"}}
	if s.who == "ci" {
		r.Header.Set("X-Api-Key", c.Key)
	}
	if s.ext {
		r.Header.Set("A2a-Extensions", demo.CostCentre)
	}
	// Read to the end: a connection whose answer was left would not be used again.
	if resp, err := client.Do(r); err == nil {
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
	}
}
