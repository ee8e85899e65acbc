package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// ledger is what callers know of the tasks that they had made.
type ledger struct {
	mu     sync.Mutex
	tasks  []string        // acknowledged
	failed []time.Duration // when calls failed that were under way, after the process was gone
	early  []string        // calls that failed before
}

// make has a caller make tasks, one after the other, until one fails. gone tells when
// the gateway was killed, if it was.
func (l *ledger) make(c *caller, name string, gone func() (time.Time, bool)) {
	for k := 0; ; k++ {
		id := fmt.Sprintf("%s-%d", name, k)
		a := c.call("SendMessage", id, fmt.Sprintf(`{"message":{"messageId":%q,"role":"ROLE_USER","parts":[{"text":"task"}]}}`, id))
		l.mu.Lock()
		if a.err == nil && a.status == http.StatusOK && strings.Contains(a.body, `"a-`+id+`"`) {
			l.tasks = append(l.tasks, "a-"+id)
			l.mu.Unlock()
			continue
		}
		if when, ok := gone(); ok {
			l.failed = append(l.failed, time.Since(when))
		} else {
			l.early = append(l.early, fmt.Sprintf("%d %.200s %v", a.status, a.body, a.err))
		}
		l.mu.Unlock()
		return
	}
}

// some reports whether a task was acknowledged.
func (l *ledger) some() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.tasks) > 0
}

// ready waits until a gateway that was just started is ready to serve.
func (p *process) ready() (url string) {
	p.t.Helper()
	line := p.await(`"msg":"serving"`)
	eventually(p.t, "/readyz says 200", 30*time.Second, func() bool {
		resp, err := http.Get(part(line, "status_url") + "/readyz")
		if err != nil {
			return false
		}
		_ = resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
	return part(line, "url")
}

// TestR20_Crash kills a gateway under load, again and again, and starts it again where
// it was: it is ready within two seconds, nothing is lost but the calls under way, and
// every task that a caller was told of is still that caller's, and nobody else's.
func TestR20_Crash(t *testing.T) {
	t.Parallel()
	const callers = 8
	rounds := kills(t, 3)
	agent := newSample(t, "a")
	s := prepare(t, "http://"+agent.address()+"/card", "")
	p := start(t, "serve", "-c", s.config)
	url := p.ready()
	var back []time.Duration // how long it took to be ready again
	var tasks []string
	acknowledged, lost := 0, 0
	for round := range rounds {
		var l ledger
		var mu sync.Mutex
		var killed time.Time
		var all sync.WaitGroup
		for n := range callers {
			all.Go(func() {
				l.make(s.caller(url, "owner", true), fmt.Sprintf("r%d-%d", round, n), func() (time.Time, bool) {
					mu.Lock()
					defer mu.Unlock()
					return killed, !killed.IsZero()
				})
			})
		}
		eventually(t, "a task is acknowledged", 30*time.Second, l.some)
		time.Sleep(300*time.Millisecond + time.Duration(round%7)*37*time.Millisecond)
		mu.Lock()
		killed = time.Now()
		mu.Unlock()
		p.signal(syscall.SIGKILL)
		all.Wait()

		begun := time.Now()
		p = start(t, "serve", "-c", s.config)
		url = p.ready()
		back = append(back, time.Since(begun))
		acknowledged, lost = acknowledged+len(l.tasks), lost+len(l.failed)
		if len(l.early) != 0 || len(l.failed) > callers {
			t.Errorf("round %d: %d tasks acknowledged, %d calls lost, failed before the kill: %v", round, len(l.tasks), len(l.failed), l.early)
		}
		owned(t, s, url, l.tasks[max(0, len(l.tasks)-200):])
		if tasks = append(tasks, l.tasks...); len(tasks) > 10000 {
			tasks = slices.Delete(tasks, 0, len(tasks)-10000)
		}
	}
	owned(t, s, url, tasks)
	t.Logf("%d kills: %d tasks acknowledged, %d calls lost under way; ready again after %v at best, %v at the median, %v at worst",
		rounds, acknowledged, lost, quantile(back, 0), quantile(back, .5), quantile(back, 1))
	if fastest := quantile(back, 0); fastest > 2*time.Second {
		t.Errorf("ready after %v at best", fastest)
	}
	if twice := agent.doubled(); len(twice) != 0 {
		t.Errorf("messages came twice: %v", twice)
	}
}

// owned fails the test where one of the tasks is not the owner's, or is the thief's.
func owned(t *testing.T, s *setting, url string, tasks []string) {
	t.Helper()
	owner, thief := s.caller(url, "owner", true), s.caller(url, "thief", true)
	for n, task := range tasks {
		params := fmt.Sprintf(`{"id":%q}`, task)
		if a := owner.call("GetTask", "o", params); !strings.Contains(a.body, `"result"`) {
			t.Fatalf("the owner's task %s: %d %.300s %v", task, a.status, a.body, a.err)
		}
		if n%10 != 0 {
			continue
		}
		if a := thief.call("GetTask", "t", params); !strings.Contains(a.body, "-32001") {
			t.Fatalf("somebody else's task %s: %d %.300s %v", task, a.status, a.body, a.err)
		}
	}
}
