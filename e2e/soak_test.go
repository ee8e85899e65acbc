package e2e

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// mixture is everything that callers do, at once.
type mixture struct {
	p        *place
	good     *sample
	flapping *sample
	hook     string // where the callers' webhook is

	calls, streams, resumed, hooks atomic.Int64
	waiting                        sync.Map // tasks whose webhook has heard nothing, by when
	wrong                          tally
}

// fails remembers what went wrong.
func (m *mixture) fails(what string, a answer) {
	a.body = what + ": " + a.body
	m.wrong.add(a, false)
}

// unary sends messages, and makes tasks and reads them.
func (m *mixture) unary(c *caller, id string) {
	m.calls.Add(3)
	if a := c.send(id); !a.got("a", id) {
		m.fails("send", a)
	}
	a := c.call("SendMessage", id, fmt.Sprintf(`{"message":{"messageId":"t-%s","role":"ROLE_USER","parts":[{"text":"task"}]}}`, id))
	if !strings.Contains(a.body, `"id":"a-t-`+id+`"`) {
		m.fails("make a task", a)
		return
	}
	if a := c.call("GetTask", id, fmt.Sprintf(`{"id":"a-t-%s"}`, id)); !strings.Contains(a.body, `"result"`) {
		m.fails("get a task", a)
	}
}

// push makes a task with a webhook.
func (m *mixture) push(c *caller, id string) {
	m.hooks.Add(1)
	m.waiting.Store("a-"+id, time.Now())
	a := c.call("SendMessage", id, fmt.Sprintf(`{"message":{"messageId":%q,"role":"ROLE_USER","parts":[{"text":"task"}]},`+
		`"configuration":{"taskPushNotificationConfig":{"url":%q,"token":"t"}}}`, id, m.hook))
	if !strings.Contains(a.body, `"id":"a-`+id+`"`) {
		m.waiting.Delete("a-" + id)
		m.fails("make a task with a webhook", a)
	}
}

// hear is the webhook.
func (m *mixture) hear(_ http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	_, rest, _ := strings.Cut(string(body), `"taskId":"`)
	task, _, _ := strings.Cut(rest, `"`)
	m.waiting.Delete(task)
}

// stream follows a task, leaves in the middle, and comes back for the rest: each artifact
// comes once.
func (m *mixture) stream(c *caller, id string) {
	m.streams.Add(1)
	var seen []string
	last, ended := m.events(c, "SendStreamingMessage", fmt.Sprintf(message, id), "", 3, &seen)
	for tries := 0; !ended && tries < 3; tries++ {
		m.resumed.Add(1)
		last, ended = m.events(c, "SubscribeToTask", fmt.Sprintf(`{"id":"a-%s"}`, id), last, 1000, &seen)
	}
	if want := []string{"a0", "a1", "a2", "a3", "a4"}; !ended || !slices.Equal(seen, want) {
		m.fails("follow a task", answer{body: fmt.Sprintf("ended %v with %v", ended, seen)})
	}
}

// events reads at most so many events, and adds the artifacts among them to what was
// seen. It returns the last event's id, and whether the task has ended.
func (m *mixture) events(c *caller, method, params, after string, most int, seen *[]string) (last string, ended bool) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, strings.NewReader(
		fmt.Sprintf(`{"jsonrpc":"2.0","id":"s","method":%q,"params":%s}`, method, params)))
	if err != nil {
		return after, false
	}
	r.Header = http.Header{"Content-Type": {"application/json"}, "A2a-Version": {"1.0"}}
	if last = after; after != "" {
		r.Header.Set("Last-Event-ID", after)
	}
	resp, err := c.client.Do(r)
	if err != nil {
		m.fails(method, answer{err: err})
		return last, false
	}
	defer resp.Body.Close()
	text := bufio.NewScanner(resp.Body)
	for n := 0; n < most && text.Scan(); {
		id, isID := strings.CutPrefix(text.Text(), "id: ")
		data, isData := strings.CutPrefix(text.Text(), "data: ")
		switch {
		case isID:
			last = id
		case isData:
			n++
			for rest := data; strings.Contains(rest, `"artifactId":"`); {
				_, rest, _ = strings.Cut(rest, `"artifactId":"`)
				*seen = append(*seen, rest[:2])
			}
			ended = ended || strings.Contains(data, "TASK_STATE_COMPLETED")
		}
	}
	return last, ended
}

// run keeps n callers busy until the context ends.
func (m *mixture) run(ctx context.Context, all *sync.WaitGroup, name string, n int, pause time.Duration, do func(c *caller, id string)) {
	for i := range n {
		all.Go(func() {
			for k := 0; ctx.Err() == nil; k++ {
				do(m.p.caller("a"), fmt.Sprintf("%s-%d-%d", name, i, k))
				time.Sleep(pause)
			}
		})
	}
}

// TestR19_Soak puts a mixed load on a gateway, with reloads and an agent that flaps: no
// call to the other agent fails, and after a while the process takes no more than before.
func TestR19_Soak(t *testing.T) {
	t.Parallel()
	run, _ := soak(t, 20*time.Second, endless)
	m := &mixture{good: newSample(t, "a"), flapping: newSample(t, "f")}
	bad := newCable(t, m.flapping.address())
	hook := httptest.NewServer(http.HandlerFunc(m.hear))
	t.Cleanup(hook.Close)
	m.hook = hook.URL + "/hook"
	m.p = serveFleet(t, "", `state: {driver: sqlite}
streams: {retain: 2s, linger: 1s}
push: {mode: relay, allowPrivateNetworks: true, plaintext: true, perTarget: {rate: 1000, inFlight: 20}}`,
		fmt.Sprintf(`{id: a, card: "http://%s/card"}`, m.good.address()),
		fmt.Sprintf(`{id: f, card: "http://%s/card", load: {breaker: {for: 200ms}}}`, bad.address()))

	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	m.run(ctx, &all, "unary", 3, 10*time.Millisecond, m.unary)
	m.run(ctx, &all, "stream", 5, 10*time.Millisecond, m.stream)
	m.run(ctx, &all, "push", 1, 50*time.Millisecond, m.push)
	m.run(ctx, &all, "flap", 2, 10*time.Millisecond, func(_ *caller, id string) { m.p.caller("f").send(id) })
	all.Go(func() { bad.flap(ctx, 200*time.Millisecond) })
	all.Go(func() { m.reload(ctx, 3*time.Second) })
	series := m.p.sample(run)
	stop()
	all.Wait()

	t.Logf("%d calls, %d streams of which clients left and came back %d times, %d webhooks, %d things went wrong",
		m.calls.Load(), m.streams.Load(), m.resumed.Load(), m.hooks.Load(), len(m.wrong.failed))
	for _, f := range m.wrong.failed[:min(5, len(m.wrong.failed))] {
		t.Error(f)
	}
	eventually(t, "all webhooks have heard of their tasks", 20*time.Second, func() bool {
		left := 0
		m.waiting.Range(func(any, any) bool { left++; return true })
		return left == 0
	})
	for _, s := range []*sample{m.good, m.flapping} {
		if twice := s.doubled(); len(twice) != 0 {
			t.Errorf("%s was sent messages twice: %v", s.name, twice[:min(5, len(twice))])
		}
	}
	for _, s := range series {
		s.flat(t)
	}
}

// reload changes the configuration a little, again and again.
func (m *mixture) reload(ctx context.Context, every time.Duration) {
	text, err := os.ReadFile(m.p.config)
	text = append(text, "telemetry: {logs: {level: warn}}\n"...) // the log is kept by the test
	for n := 0; err == nil; n++ {
		select {
		case <-ctx.Done():
			return
		case <-time.After(every):
		}
		more := fmt.Sprintf("# %d\nextensions: [{uri: \"urn:example:%d\", kind: data}]\n", n, n)
		if err = os.WriteFile(m.p.config, append(text, more...), 0o600); err == nil {
			err = m.p.cmd.Process.Signal(syscall.SIGHUP)
		}
	}
	m.fails("reload", answer{err: err})
}

// measured is a figure of a process in the course of time.
type measured struct {
	name   string
	slack  float64 // by which it may grow whatever it is
	at     []time.Duration
	values []float64
}

// sample measures the process for so long; the first quarter, five minutes at most, is
// left out.
func (p *place) sample(run time.Duration) []*measured {
	series := []*measured{
		{name: "goroutines", slack: 40}, {name: "descriptors", slack: 40}, {name: "KiB of memory", slack: 16 << 10},
		// The rest is SQLite's for the most part: up to 16 MiB of pages for each connection,
		// for as long as the file is smaller than that.
		{name: "KiB of memory of the Go runtime", slack: 16 << 10},
	}
	begun, every := time.Now(), max(250*time.Millisecond, run/10000)
	for warm := min(run/4, 5*time.Minute); time.Since(begun) < run; time.Sleep(every) {
		metrics, err := p.scrape()
		if err != nil {
			p.t.Fatal(err)
		}
		runtime := value(metrics, "go_memstats_sys_bytes") - value(metrics, "go_memstats_heap_released_bytes")
		now := []float64{value(metrics, "go_goroutines"), float64(p.descriptors()), float64(p.rss()), runtime / 1024}
		if time.Since(begun) < warm {
			continue
		}
		for n, s := range series {
			s.at, s.values = append(s.at, time.Since(begun)), append(s.values, now[n])
		}
	}
	return series
}

// flat fails the test where the second half is above the first.
func (s *measured) flat(t *testing.T) {
	t.Helper()
	first, second := median(s.values[:len(s.values)/2]), median(s.values[len(s.values)/2:])
	t.Logf("%s: median %.0f in the first half, %.0f in the second", s.name, first, second)
	if s.at[len(s.at)-1] > 3*time.Minute { // a line through less says nothing
		t.Logf("%s: %+.2f %% an hour", s.name, 100*s.slope()/first)
	}
	if second > 1.1*first+s.slack {
		t.Errorf("%s went from %.0f to %.0f", s.name, first, second)
	}
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// slope is by how much the figure grows in an hour, on the straight line that is nearest
// to it.
func (s *measured) slope() float64 {
	var x, y, xx, xy float64
	n := float64(len(s.values))
	for i, v := range s.values {
		h := s.at[i].Hours()
		x, y, xx, xy = x+h, y+v, xx+h*h, xy+h*v
	}
	return (n*xy - x*y) / (n*xx - x*x)
}
