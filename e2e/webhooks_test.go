package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
)

const (
	webhookTasks   = 24
	webhookGateway = "http://gateway.example" // what it calls itself; nobody goes there
)

// campaign is a gateway that is killed again and again while an agent notifies and the
// receiver comes and goes.
type campaign struct {
	*testing.T

	file    string
	gateway *process
	url     atomic.Pointer[string] // of the gateway
	agent   *gatewaytest.Courier
	hooks   *mailroom
	pause   time.Duration // between two notifications of a task
	stop    chan struct{}
	agents  sync.WaitGroup
	acked   [webhookTasks]int // the last notification of each task that the gateway has taken
	refused atomic.Int64      // tries of the agent that came to nothing
}

func newCampaign(t *testing.T, state string) *campaign {
	t.Helper()
	c := &campaign{T: t, agent: gatewaytest.NewCourier(t), hooks: newMailroom(t), stop: make(chan struct{})}
	dir := t.TempDir()
	c.file = filepath.Join(dir, "config.yaml")
	write(t, c.file, fmt.Sprintf(`server: {address: "127.0.0.1:0", statusAddress: "off", publicURL: %q, dataDir: data, limits: {delay: 1h}}
admin: {address: "off"}
authn: {anonymous: true}
policy: {default: allow}
push:
  allowPrivateNetworks: true
  plaintext: true
  perConfig: 10000
  attempts: {first: 50ms, longest: 500ms, timeout: 1s}
  perTarget: {inFlight: 16, rate: 10000}
%s
agents: [{id: courier, card: %q}]
`, webhookGateway, state, c.agent.CardURL))
	c.serve()
	return c
}

func (c *campaign) serve() {
	c.Helper()
	c.gateway = start(c.T, "serve", "-c", c.file)
	url := c.gateway.url()
	c.url.Store(&url)
}

// register makes the tasks, the webhook of half of them with the message, of the others
// later.
func (c *campaign) register() {
	c.Helper()
	for i := range webhookTasks {
		config := fmt.Sprintf(`"url":"%s/task-%d","token":"of-%d"`, c.hooks.url(), i, i)
		message := fmt.Sprintf(`"message":{"messageId":"%d","role":"ROLE_USER","parts":[{"text":"go"}]}`, i)
		if i%2 == 0 {
			c.rpc("SendMessage", fmt.Sprintf(`{%s,"configuration":{"taskPushNotificationConfig":{%s}}}`, message, config))
			continue
		}
		c.rpc("SendMessage", "{"+message+"}")
		c.rpc("CreateTaskPushNotificationConfig", fmt.Sprintf(`{"taskId":"task-%d","id":"c",%s}`, i, config))
	}
}

func (c *campaign) rpc(method, params string) {
	c.Helper()
	r, err := http.NewRequest(http.MethodPost, *c.url.Load()+"/agents/courier",
		strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params)))
	if err != nil {
		c.Fatal(err)
	}
	r.Header = http.Header{"Content-Type": {"application/json"}, "A2a-Version": {"1.0"}}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		c.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK || strings.Contains(string(body), `"error"`) {
		c.Fatalf("%s: %d %s %v", method, answer.StatusCode, body, err)
	}
}

// notify has the agent notify of a task, each time until the gateway has taken it.
func (c *campaign) notify(task int) {
	for n := 1; ; n++ {
		for {
			status, err := c.agent.Notify(*c.url.Load(), fmt.Sprintf("task-%d", task), n, nil)
			if err == nil && status == http.StatusOK {
				break
			}
			c.refused.Add(1)
			time.Sleep(20 * time.Millisecond)
		}
		c.acked[task] = n
		select {
		case <-c.stop:
			return
		case <-time.After(c.pause):
		}
	}
}

// run kills the gateway so many times, at random moments, each time with the receiver in
// another mood, which lasts about as long as given.
func (c *campaign) run(kills int, each time.Duration, random *rand.Rand) {
	c.Helper()
	c.register()
	for task := range webhookTasks {
		c.agents.Go(func() { c.notify(task) })
	}
	for n := range kills {
		c.hooks.turn([]string{"slow", "away", "ill", "well"}[n%4])
		time.Sleep(time.Duration(random.Int64N(2 * int64(each))))
		c.gateway.signal(syscall.SIGKILL)
		c.gateway.out.forget() // there will be many
		c.serve()
	}
	c.hooks.turn("well")
	close(c.stop)
	c.agents.Wait()
}

// TestR18_Webhooks: whatever the gateway has taken from the agent arrives, at least once
// and in order, signed, though the gateway is killed and the receiver goes away.
func TestR18_Webhooks(t *testing.T) {
	t.Parallel()
	const each, pause = 600 * time.Millisecond, 100 * time.Millisecond
	kills := kills(t, 3)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for name, state := range map[string]func(*testing.T) string{
		"sqlite": func(*testing.T) string { return "state: {driver: sqlite}" },
		"redis": func(t *testing.T) string {
			return fmt.Sprintf("state: {driver: redis, redis: {addresses: [%q], timeout: 2s}}", startRedis(t).address)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCampaign(t, state(t))
			c.pause = pause
			begun := time.Now()
			c.run(kills, each, rand.New(rand.NewPCG(seed, 0)))
			sent := time.Since(begun)
			late := c.arrive(sent + time.Minute)
			first, all := c.compare()
			c.verify()
			t.Logf("%d kills in %v; %d notifications of %d tasks taken, %d tries of the agent in vain; all arrived %v later: "+
				"%d posts, %d of them again", kills, sent, first, webhookTasks, c.refused.Load(), late, all, all-first)
		})
	}
}

// missing lists the tasks of which not all has come that the gateway has taken.
func (c *campaign) missing() (list []string) {
	for task, n := range c.acked {
		if last := c.hooks.latest(fmt.Sprintf("task-%d", task)); last < n {
			list = append(list, fmt.Sprintf("task-%d: %d of %d", task, last, n))
		}
	}
	return list
}

// arrive waits until all has come that the gateway has taken, and tells how long that took.
func (c *campaign) arrive(within time.Duration) time.Duration {
	c.Helper()
	begun := time.Now()
	for list := c.missing(); len(list) > 0; list = c.missing() {
		if time.Since(begun) > within {
			c.Fatalf("not there after %v, with %d posts: %v", within, len(c.hooks.all()), list)
		}
		time.Sleep(10 * time.Millisecond)
	}
	return time.Since(begun)
}

// compare holds what came to what was taken: all of it, in order where it came first, and
// each under one id. It counts what came first, and all.
func (c *campaign) compare() (first, all int) {
	c.Helper()
	order, ids := map[string][]int{}, map[string]string{}
	posts := c.hooks.all()
	for _, p := range posts {
		name := fmt.Sprintf("%s %d", p.task, p.n)
		switch known := ids[name]; {
		case known == "":
			ids[name] = p.id
			order[p.task] = append(order[p.task], p.n)
		case known != p.id:
			c.Errorf("%s came as %s and as %s", name, known, p.id)
		}
	}
	for task, n := range c.acked {
		got := order[fmt.Sprintf("task-%d", task)]
		if len(got) != n || !slices.IsSorted(got) {
			c.Errorf("task %d: %d notifications arrived for the first time, %d were taken: %v", task, len(got), n, got)
		}
		first += n
	}
	return first, len(posts)
}

// verify checks every signature by the keys that the gateway publishes now.
func (c *campaign) verify() {
	c.Helper()
	answer, err := http.Get(*c.url.Load() + "/.well-known/jwks.json")
	if err != nil {
		c.Fatal(err)
	}
	defer answer.Body.Close()
	var keys jose.JSONWebKeySet
	if err := json.NewDecoder(answer.Body).Decode(&keys); err != nil || len(keys.Keys) == 0 {
		c.Fatalf("key set: %+v %v", keys, err)
	}
	for _, p := range c.hooks.all() {
		if err := p.check(keys, c.hooks.url()); err != nil {
			c.Fatalf("%s %d (%s): %v", p.task, p.n, p.id, err)
		}
	}
}

// check verifies a notification as its receiver should.
func (p *post) check(keys jose.JSONWebKeySet, audience string) error {
	token, err := jwt.ParseSigned(p.signature, []jose.SignatureAlgorithm{jose.ES256, jose.EdDSA})
	if err != nil {
		return err
	}
	var claims jwt.Claims
	var more struct {
		Task   string `json:"taskId"`
		Digest string `json:"request_body_sha256"`
	}
	if err := token.Claims(keys, &claims, &more); err != nil {
		return err
	}
	if err := claims.Validate(jwt.Expected{
		AnyAudience: jwt.Audience{audience}, ID: p.id, Time: p.at,
	}); err != nil {
		return err
	}
	if port, ok := strings.CutPrefix(claims.Issuer, webhookGateway+":"); !ok || port == "" { // another at each start
		return fmt.Errorf("issuer %s", claims.Issuer)
	}
	digest := sha256.Sum256(p.body)
	if more.Digest != hex.EncodeToString(digest[:]) || more.Task != p.task || p.token != "of-"+strings.TrimPrefix(p.task, "task-") {
		return fmt.Errorf("is about something else: %+v", more)
	}
	return nil
}
