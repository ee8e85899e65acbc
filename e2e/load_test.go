package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// backend is an agent that answers as fast as it can, or after a while, and whose
// streams last until their clients leave.
func backend(t *testing.T, delay time.Duration) (card string) {
	t.Helper()
	var url string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/card" {
			_, _ = fmt.Fprintf(w, `{"name":"Load","description":"Carries it.","version":"1",`+
				`"supportedInterfaces":[{"url":%q,"protocolBinding":"JSONRPC","protocolVersion":"1.0"}],`+
				`"capabilities":{"streaming":true},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],`+
				`"skills":[{"id":"work","name":"Work","description":"Works.","tags":["t"]}]}`, url)
			return
		}
		var call struct {
			ID     string
			Method string
			Params struct {
				ID      string
				Message struct{ MessageID string }
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&call); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		task := func(id string) string {
			return fmt.Sprintf(`{"id":%q,"contextId":"of-%s","status":{"state":"TASK_STATE_WORKING"}}`, id, id)
		}
		switch call.Method {
		case "SendStreamingMessage":
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = fmt.Fprintf(w, `data: {"jsonrpc":"2.0","id":%q,"result":{"task":%s}}`+"\n\n", call.ID, task("task-"+call.ID))
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		case "GetTask":
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%q,"result":%s}`, call.ID, task(call.Params.ID))
		default:
			time.Sleep(delay)
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%q,"result":{"message":{"messageId":"re","role":"ROLE_AGENT",`+
				`"parts":[{"text":"done"}]}}}`, call.ID)
		}
	}))
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	url = s.URL
	return s.URL + "/card"
}

// setting is a gateway in front of a backend, not yet started.
type setting struct {
	t      *testing.T
	dir    string
	config string
	keys   map[string]string
}

// prepare writes a configuration, with lines more below server:.
func prepare(t *testing.T, card, server string) *setting {
	t.Helper()
	s := &setting{t: t, dir: t.TempDir(), keys: map[string]string{}}
	s.config = filepath.Join(s.dir, "config.yaml")
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	for _, who := range []string{"owner", "thief"} {
		out, err := exec.Command(path, "keys", "create", "--file", filepath.Join(s.dir, "keys.yaml"), "--id", who, "-o", "json").Output()
		var made struct {
			Key string `json:"key"`
		}
		if err = errors.Join(err, json.Unmarshal(out, &made)); err != nil {
			t.Fatalf("make a key: %v, %s", err, out)
		}
		s.keys[who] = made.Key
	}
	write(t, s.config, fmt.Sprintf(`server:
  address: "127.0.0.1:0"
  statusAddress: "127.0.0.1:0"
  publicURL: "http://127.0.0.1"
  dataDir: data
%s
authn: {apiKeys: {file: keys.yaml}}
policy: {rules: [{name: all, effect: allow, agents: ["*"]}]}
state: {driver: sqlite}
agents: [{id: a, card: %q}]
`, server, card))
	return s
}

// part is what a line of the log says under a name.
func part(line, name string) string {
	_, rest, _ := strings.Cut(line, `"`+name+`":"`)
	value, _, _ := strings.Cut(rest, `"`)
	return value
}

// caller calls one gateway.
type caller struct {
	url, key string
	client   *http.Client
}

// caller is somebody who keeps connections, or who does not.
func (s *setting) caller(url, who string, keep bool) *caller {
	transport := &http.Transport{DisableKeepAlives: !keep, MaxIdleConnsPerHost: 1000}
	s.t.Cleanup(transport.CloseIdleConnections)
	return &caller{url + "/agents/a", s.keys[who], &http.Client{Transport: transport, Timeout: 25 * time.Second}}
}

// do makes a call, which may go on from an event of which it has the id.
func (c *caller) do(ctx context.Context, method, id, params string, last ...string) (*http.Response, error) {
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"method":%q,"params":%s}`, id, method, params)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader([]byte(body)))
	if err != nil {
		return nil, err
	}
	r.Header = http.Header{"Content-Type": {"application/json"}, "A2a-Version": {"1.0"}, "X-Api-Key": {c.key}, "Last-Event-Id": last}
	return c.client.Do(r)
}

// answer is what came of a call.
type answer struct {
	status int
	retry  string // Retry-After
	body   string
	took   time.Duration
	err    error
}

func (c *caller) call(method, id, params string) answer {
	begun := time.Now()
	resp, err := c.do(context.Background(), method, id, params)
	if err != nil {
		return answer{err: err, took: time.Since(begun)}
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header.Get("Retry-After"), string(body), time.Since(begun), err}
}

const message = `{"message":{"messageId":%q,"role":"ROLE_USER","parts":[{"text":"work"}]}}`

// send is a unary call.
func (c *caller) send(id string) answer {
	return c.call("SendMessage", id, fmt.Sprintf(message, id))
}

// ok says that a call did what it was for.
func (a answer) ok() bool {
	return a.err == nil && a.status == http.StatusOK && strings.Contains(a.body, `"done"`)
}

// feed is an open event stream.
type feed struct {
	id     string
	resp   *http.Response
	events chan string // the data of each, closed at the end
	err    error       // why it ended, nil for properly
}

// stream opens a stream and reads its first event.
func (c *caller) stream(ctx context.Context, id string) (*feed, error) {
	resp, err := c.do(ctx, "SendStreamingMessage", id, fmt.Sprintf(message, id))
	if err != nil {
		return nil, err
	}
	f := &feed{id: id, resp: resp, events: make(chan string, 100)}
	go func() {
		defer close(f.events)
		defer resp.Body.Close()
		lines := bufio.NewScanner(resp.Body)
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				f.events <- data
			}
		}
		f.err = lines.Err()
	}()
	if first := <-f.events; !strings.Contains(first, "WORKING") {
		return nil, fmt.Errorf("stream began with %d %q", resp.StatusCode, first)
	}
	return f, nil
}

// returns reports whether a stream ended by asking its client to come back.
func (f *feed) returns() error {
	last := ""
	for data := range f.events {
		last = data
	}
	if f.err != nil || !strings.Contains(last, `"error"`) || !strings.Contains(last, "again") {
		return fmt.Errorf("stream %s ended with %q, %w", f.id, last, f.err)
	}
	return nil
}

// crowd makes calls without a pause, until it is told to stop.
type crowd struct {
	stop   chan struct{}
	done   sync.WaitGroup
	count  atomic.Int64
	mu     sync.Mutex
	failed []string
	took   []time.Duration
}

// drive has n callers at work.
func (s *setting) drive(url string, n int, keep bool, into *crowd) {
	for i := range n {
		into.done.Go(func() {
			c := s.caller(url, "owner", keep)
			for k := 0; ; k++ {
				select {
				case <-into.stop:
					return
				default:
				}
				a := c.send(fmt.Sprintf("m-%v-%d-%d", keep, i, k))
				into.count.Add(1)
				into.mu.Lock()
				into.took = append(into.took, a.took)
				if !a.ok() {
					into.failed = append(into.failed, fmt.Sprintf("%s: keep %v, call %d: %d %.200s %v", time.Now().Format("05.000"), keep, k, a.status, a.body, a.err))
				}
				into.mu.Unlock()
				time.Sleep(2 * time.Millisecond)
			}
		})
	}
}

// halt stops the crowd and reports what failed.
func (c *crowd) halt(t *testing.T) {
	t.Helper()
	close(c.stop)
	c.done.Wait()
	t.Logf("%d calls, %d failed, p50 %v, p99 %v, longest %v", c.count.Load(), len(c.failed),
		quantile(c.took, .5), quantile(c.took, .99), quantile(c.took, 1))
	for i, f := range c.failed {
		if i < 5 {
			t.Error(f)
		}
	}
}

// quantile is how long the q-th part of all took at most.
func quantile(all []time.Duration, q float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[min(len(all)-1, int(q*float64(len(all))))]
}
