package e2e

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// trio is one agent of three instances with one store between them, behind as many
// gateways as there may be.
type trio struct {
	t         *testing.T
	instances []*sample
	cables    []*cable
	gateways  []*place
	tasks     []string
	sent      atomic.Int64
}

// newTrio has two gateways on one Redis, or one where there is none.
func newTrio(t *testing.T) *trio {
	t.Helper()
	front := newSample(t, "front") // for its card alone
	o := &trio{t: t}
	var list []string
	for n := range 3 {
		s := newSample(t, fmt.Sprintf("i%d", n))
		s.tasks = front.tasks
		s.every = time.Hour
		c := newCable(t, s.address())
		o.instances, o.cables, list = append(o.instances, s), append(o.cables, c), append(list, fmt.Sprintf("%q", c.address()))
	}
	agent := fmt.Sprintf(`{id: trio, card: "http://%s/card", load: {instances: [{static: [%s]}], slowStart: 100ms,
     health: {interval: 200ms, timeout: 200ms}, ejection: {for: 500ms}, breaker: {for: 500ms}, retry: {attempts: 3}}}`,
		front.address(), strings.Join(list, ", "))
	names, state := []string{"only"}, "state: {driver: sqlite}"
	if _, err := exec.LookPath("redis-server"); err == nil || os.Getenv("A2A_GATEWAY_TEST_REQUIRE_ALL") != "" {
		names, state = []string{"one", "other"}, fmt.Sprintf("state: {driver: redis, redis: {addresses: [%q], timeout: 2s}}", startRedis(t).address)
	}
	state += fmt.Sprintf("\nkeys: {dir: %q}", filepath.Join(t.TempDir(), "keys"))
	for _, name := range names {
		o.gateways = append(o.gateways, serveFleet(t, "  id: "+name, state, agent))
	}
	return o
}

// caller calls one gateway after the other.
func (o *trio) caller(n int) *caller { return o.gateways[n%len(o.gateways)].caller("trio") }

// begin makes tasks until each instance has some.
func (o *trio) begin() {
	o.t.Helper()
	for n := range 30 {
		a := o.caller(n).call("SendMessage", "t", fmt.Sprintf(`{"message":{"messageId":"m%d","role":"ROLE_USER","parts":[{"text":"task"}]}}`, n))
		_, rest, _ := strings.Cut(a.body, `{"id":"`)
		id, _, ok := strings.Cut(rest, `"`)
		if !ok || a.status != http.StatusOK {
			o.t.Fatalf("no task: %+v", a)
		}
		o.tasks = append(o.tasks, id)
	}
	for _, s := range o.instances {
		if !strings.Contains(strings.Join(o.tasks, " "), s.name+"-") {
			o.t.Errorf("%s has no task: %v", s.name, o.tasks)
		}
	}
}

// during has callers read and send while something happens to the instances. Reads all
// succeed. A send is answered by the instance that has the task, or refused.
func (o *trio) during(what string, happens func()) {
	o.t.Helper()
	stop := make(chan struct{})
	var callers sync.WaitGroup
	var reads, sends tally
	for n := range 4 {
		callers.Go(func() {
			for k := n; ; k++ {
				select {
				case <-stop:
					return
				default:
				}
				task := o.tasks[k*7%len(o.tasks)]
				read := o.caller(k).call("GetTask", "r", fmt.Sprintf(`{"id":%q}`, task))
				reads.add(read, read.status == http.StatusOK && strings.Contains(read.body, `"id":"`+task+`"`))
				if k%4 != 0 {
					continue
				}
				id := fmt.Sprintf("s-%d", o.sent.Add(1))
				send := o.caller(k/4).call("SendMessage", id, fmt.Sprintf(
					`{"message":{"messageId":%q,"taskId":%q,"role":"ROLE_USER","parts":[{"text":"more"}]}}`, id, task))
				if holder, _, _ := strings.Cut(task, "-"); strings.Contains(send.body, " got ") && !send.got(holder, id) {
					o.t.Errorf("%s: a message on a task of %s: %s", what, holder, send.body)
				} else {
					sends.add(send, send.got(holder, id))
				}
				time.Sleep(time.Millisecond)
			}
		})
	}
	happens()
	close(stop)
	callers.Wait()
	o.t.Logf("%s: %d reads, %d failed, p99 %v; sends %v", what, len(reads.took)+len(reads.failed), len(reads.failed),
		quantile(reads.took, .99), sends.codes)
	for _, f := range reads.failed[:min(3, len(reads.failed))] {
		o.t.Errorf("%s: a read: %s", what, f)
	}
}

// TestInstancesComeAndGo: an agent's instances die, refuse, and are restarted in turn.
// No read is lost, and tasks stay where they are.
func TestInstancesComeAndGo(t *testing.T) {
	o := newTrio(t)
	o.begin()
	o.during("all well", func() { time.Sleep(500 * time.Millisecond) })
	o.during("one dies and comes back", func() {
		o.cables[0].cut()
		time.Sleep(600 * time.Millisecond)
		o.cables[0].mend()
		time.Sleep(600 * time.Millisecond)
	})
	o.during("one answers 503", func() {
		o.instances[1].status.Store(http.StatusServiceUnavailable)
		time.Sleep(600 * time.Millisecond)
		o.instances[1].status.Store(0)
		time.Sleep(600 * time.Millisecond)
	})
	o.during("one is dead, and one answers 503", func() {
		o.cables[2].cut()
		o.instances[1].status.Store(http.StatusServiceUnavailable)
		time.Sleep(600 * time.Millisecond)
		o.instances[1].status.Store(0)
		o.cables[2].mend()
		time.Sleep(600 * time.Millisecond)
	})
	o.during("all are restarted in turn", func() {
		for _, c := range o.cables {
			c.cut()
			time.Sleep(400 * time.Millisecond)
			c.mend()
			time.Sleep(600 * time.Millisecond)
		}
	})
	for _, task := range o.tasks {
		holder, _, _ := strings.Cut(task, "-")
		id := fmt.Sprintf("s-%d", o.sent.Add(1))
		var a answer
		eventually(t, "its instance gets a message on "+task, 5*time.Second, func() bool {
			a = o.caller(int(o.sent.Load())).call("SendMessage", id, fmt.Sprintf(
				`{"message":{"messageId":%q,"taskId":%q,"role":"ROLE_USER","parts":[{"text":"more"}]}}`, id, task))
			return a.status == http.StatusOK
		})
		if !a.got(holder, id) {
			t.Errorf("a message on a task of %s: %s", holder, a.body)
		}
	}
	ejected := 0
	for _, g := range o.gateways {
		ejected += recorded(t, filepath.Join(filepath.Dir(g.config), "data"), `"event":"instance.ejected"`, `"agent":"trio"`)
	}
	if t.Logf("%d ejections on record", ejected); ejected == 0 {
		t.Error("no ejection is on record")
	}
	for _, s := range o.instances {
		if twice := s.doubled(); len(twice) != 0 {
			t.Errorf("%s was sent messages twice: %v", s.name, twice)
		}
	}
}
