package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// approver agrees to whatever waits, by the admin API.
type approver struct {
	t      *testing.T
	client http.Client
}

// ask makes a request of the admin API, whose error is that nobody answers.
func (a *approver) ask(verb, url, body string, into any) error {
	r, err := http.NewRequest(verb, url, strings.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer approver-of-the-test")
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	resp, err := a.client.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%d %s", resp.StatusCode, text)
	}
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	return err
}

// waits are the calls that wait, by their ids, with their digests.
func (a *approver) waits(admin string) (map[string]string, error) {
	var page struct {
		Approvals []struct{ ID, State, Digest string }
	}
	err := a.ask("GET", admin+"/api/v1/approvals?limit=1000", "", &page)
	found := map[string]string{}
	for _, one := range page.Approvals {
		if one.State == "waiting" {
			found[one.ID] = one.Digest
		}
	}
	return found, err
}

// agree agrees to all that waits until it is over, at a gateway that may be away.
func (a *approver) agree(admin string, over *atomic.Bool) {
	for !over.Load() {
		found, err := a.waits(admin)
		for id, digest := range found {
			if err == nil {
				err = a.ask("POST", admin+"/api/v1/approvals/"+id+"/approve", fmt.Sprintf(`{"digest":%q}`, digest), new(struct{}))
			}
		}
		if err != nil {
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// approving is a gateway at which calls wait for an approver.
type approving struct {
	config     string
	process    *process
	url, admin string
}

func (g *approving) start(t *testing.T) {
	t.Helper()
	g.process = start(t, "serve", "-c", g.config)
	g.url = g.process.ready()
	g.admin = part(g.process.await(`"msg":"serving"`), "admin_url")
}

// approvings are gateways with one state and one agent.
func approvings(t *testing.T, s *setting, state string, names ...string) (list []*approving) {
	t.Helper()
	text := read(t, s.config)
	for old, with := range map[string]string{
		`policy: {rules: [`: `admin: {address: "127.0.0.1:0", token: approver-of-the-test}
policy: {approvals: {wait: 1ms, perCaller: 100000, total: 100000}, rules: [{name: ask, effect: approve, approvers: {subjects: [admin-token]}}, `,
		`card: "`: `load: {timeouts: {SendMessage: 2s}}, card: "`, "state: {driver: sqlite}": state,
	} {
		text = strings.Replace(text, old, with, 1)
	}
	for _, name := range names {
		g := &approving{config: filepath.Join(s.dir, name+".yaml")}
		write(t, g.config, strings.Replace(text, "dataDir: data", "dataDir: data-"+name, 1))
		g.start(t)
		list = append(list, g)
	}
	return list
}

// TestApprovalsSurviveKills kills one gateway of one or two while calls wait, are agreed to and are sent, again
// and again. Of those that a caller was told of none is lost, and none comes to the agent twice. One that was
// on its way when the gateway was killed may be one of which nobody knows whether the agent has it.
func TestApprovalsSurviveKills(t *testing.T) {
	t.Parallel()
	for driver, names := range map[string][]string{"sqlite": {"one"}, "redis": {"one", "other"}} {
		t.Run(driver, func(t *testing.T) {
			t.Parallel()
			state := "state: {driver: sqlite}"
			if driver == "redis" {
				state = fmt.Sprintf("state: {driver: redis, redis: {addresses: [%q], timeout: 2s}}\nkeys: {dir: keys}", startRedis(t).address)
			}
			approvalsSurviveKills(t, state, names...)
		})
	}
}

func approvalsSurviveKills(t *testing.T, state string, names ...string) {
	t.Helper()
	rounds := kills(t, 3)
	agent := newSample(t, "a")
	s := prepare(t, "http://"+agent.address()+"/card", "")
	gateways := approvings(t, s, state, names...)
	a := &approver{t: t, client: http.Client{Timeout: 10 * time.Second}}
	waiting := &waitingCalls{messages: map[string]string{}}
	for round := range rounds {
		var over atomic.Bool
		var all sync.WaitGroup
		for i, g := range gateways {
			all.Go(func() { a.agree(g.admin, &over) })
			c := s.caller(g.url, "owner", true)
			for n := range 4 {
				all.Go(func() { waiting.call(c, fmt.Sprintf("r%d-%d-%d", round, i, n), &over) })
			}
		}
		time.Sleep(300*time.Millisecond + time.Duration(round%7)*37*time.Millisecond)
		killed := gateways[round%len(gateways)]
		killed.process.signal(syscall.SIGKILL)
		if len(gateways) > 1 { // the others go on without it
			time.Sleep(100 * time.Millisecond)
		}
		over.Store(true)
		all.Wait()
		killed.start(t)
	}
	var over atomic.Bool
	var all sync.WaitGroup
	for _, g := range gateways {
		all.Go(func() { a.agree(g.admin, &over) })
	}
	lost := 0
	c := s.caller(gateways[0].url, "owner", true)
	for task, message := range waiting.messages {
		var got string
		eventually(t, "the call is sent, or given up: "+task, 90*time.Second, func() bool {
			got = c.call("GetTask", "g", fmt.Sprintf(`{"id":%q}`, task)).body
			return !strings.Contains(got, "AUTH_REQUIRED") && !strings.Contains(got, "is on its way")
		})
		switch times := agent.came(message); {
		case times == 1:
		case times == 0 && strings.Contains(got, "whether the agent has it is not known"):
			lost++
		default:
			t.Errorf("message %s of %s came %d times: %s", message, task, times, got)
		}
	}
	over.Store(true)
	all.Wait()
	t.Logf("%d kills: %d calls waited, %d were given up on their way", rounds, len(waiting.messages), lost)
	if len(waiting.messages) < 10*rounds || lost > 8*rounds {
		t.Errorf("%d calls waited, %d were given up", len(waiting.messages), lost)
	}
	if twice := agent.doubled(); len(twice) != 0 {
		t.Errorf("messages came twice: %v", twice)
	}
}

// waitingCalls are those that callers were told of: messages by the ids of their tasks.
type waitingCalls struct {
	mu       sync.Mutex
	messages map[string]string
}

// call makes calls that wait, until it is over or the gateway is gone.
func (w *waitingCalls) call(c *caller, prefix string, over *atomic.Bool) {
	for k := 0; !over.Load(); k++ {
		id := fmt.Sprintf("%s-%d", prefix, k)
		got := c.call("SendMessage", id, fmt.Sprintf(`{"message":{"messageId":%q,"role":"ROLE_USER","parts":[{"text":"task"}]}}`, id))
		if got.err != nil || got.status != http.StatusOK {
			return
		}
		_, rest, _ := strings.Cut(got.body, `"id":"approval-`)
		task, _, _ := strings.Cut(rest, `"`)
		w.mu.Lock()
		w.messages["approval-"+task] = id
		w.mu.Unlock()
		time.Sleep(5 * time.Millisecond)
	}
}
