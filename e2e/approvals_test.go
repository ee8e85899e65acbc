package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
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

// agree agrees to all that waits until the gateway is gone.
func (a *approver) agree(admin string) {
	for {
		found, err := a.waits(admin)
		for id, digest := range found {
			if err == nil {
				err = a.ask("POST", admin+"/api/v1/approvals/"+id+"/approve", fmt.Sprintf(`{"digest":%q}`, digest), new(struct{}))
			}
		}
		if err != nil && !strings.HasPrefix(err.Error(), "409") {
			return
		}
	}
}

// TestApprovalsSurviveKills kills a gateway while calls wait, are agreed to and are sent, again and again.
// Of those that a caller was told of none is lost, and none comes to the agent twice. One that was on its
// way when the gateway was killed may be one of which nobody knows whether the agent has it.
func TestApprovalsSurviveKills(t *testing.T) {
	t.Parallel()
	rounds := kills(t, 3)
	agent := newSample(t, "a")
	s := prepare(t, "http://"+agent.address()+"/card", "")
	text := strings.Replace(read(t, s.config), `policy: {rules: [`, `admin: {address: "127.0.0.1:0", token: approver-of-the-test}
policy: {approvals: {wait: 1ms, perCaller: 100000, total: 100000}, rules: [{name: ask, effect: approve, approvers: {subjects: [admin-token]}}, `, 1)
	write(t, s.config, strings.Replace(text, `card: "`, `load: {timeouts: {SendMessage: 2s}}, card: "`, 1))
	a := &approver{t: t, client: http.Client{Timeout: 10 * time.Second}}
	var mu sync.Mutex
	told := map[string]string{} // messages by the ids of tasks
	p := start(t, "serve", "-c", s.config)
	url := p.ready()
	for round := range rounds {
		admin := part(p.await(`"msg":"serving"`), "admin_url")
		c := s.caller(url, "owner", true)
		var all sync.WaitGroup
		all.Go(func() { a.agree(admin) })
		for n := range 4 {
			all.Go(func() {
				for k := 0; ; k++ {
					id := fmt.Sprintf("r%d-%d-%d", round, n, k)
					got := c.call("SendMessage", id, fmt.Sprintf(`{"message":{"messageId":%q,"role":"ROLE_USER","parts":[{"text":"task"}]}}`, id))
					if got.err != nil || got.status != http.StatusOK {
						return
					}
					_, rest, _ := strings.Cut(got.body, `"id":"approval-`)
					task, _, _ := strings.Cut(rest, `"`)
					mu.Lock()
					told["approval-"+task] = id
					mu.Unlock()
					time.Sleep(5 * time.Millisecond)
				}
			})
		}
		time.Sleep(300*time.Millisecond + time.Duration(round%7)*37*time.Millisecond)
		p.signal(syscall.SIGKILL)
		all.Wait()
		p = start(t, "serve", "-c", s.config)
		url = p.ready()
	}
	admin := part(p.await(`"msg":"serving"`), "admin_url")
	var all sync.WaitGroup
	all.Go(func() { a.agree(admin) })
	lost := 0
	c := s.caller(url, "owner", true)
	for task, message := range told {
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
	t.Logf("%d kills: %d calls waited, %d were given up on their way", rounds, len(told), lost)
	if len(told) < 10*rounds || lost > 8*rounds {
		t.Errorf("%d calls waited, %d were given up", len(told), lost)
	}
	if twice := agent.doubled(); len(twice) != 0 {
		t.Errorf("messages came twice: %v", twice)
	}
	p.signal(syscall.SIGTERM)
	all.Wait()
}
