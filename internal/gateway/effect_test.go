package gateway_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	_ "modernc.org/sqlite" // the driver that locks a file beside the gateway

	"github.com/a2a-gateway/a2a-gateway/internal/gateway"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

// worker is an agent of JSON-RPC 1.0 that counts what it is given to do, and lets a test do
// something before it answers.
type worker struct {
	*httptest.Server
	given  atomic.Int64
	before atomic.Pointer[func()] // run once, before the next answer or the second event
}

func startWorker(t *testing.T) *worker {
	t.Helper()
	a := new(worker)
	a.Server = httptest.NewServer(a)
	t.Cleanup(a.Close)
	return a
}

func (a *worker) card() string { return a.URL + "/.well-known/agent-card.json" }

func (a *worker) interrupt() {
	if do := a.before.Swap(nil); do != nil {
		(*do)()
	}
}

func (a *worker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if r.Method == http.MethodGet {
		_, _ = fmt.Fprintf(w, `{"name":"w","description":"d","version":"1","capabilities":{"streaming":true},"defaultInputModes":["text/plain"],`+
			`"defaultOutputModes":["text/plain"],"skills":[{"id":"s","name":"s","description":"s","tags":["x"]}],`+
			`"supportedInterfaces":[{"url":%q,"protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`, a.URL+"/rpc")
		return
	}
	var call struct {
		ID     json.RawMessage
		Method string
		Params struct{ ID string }
	}
	_ = json.NewDecoder(r.Body).Decode(&call)
	n := a.given.Add(1)
	id := fmt.Sprintf("t%d", n)
	task := fmt.Sprintf(`{"id":%q,"contextId":"c%d","status":{"state":"TASK_STATE_WORKING"}}`, id, n)
	switch call.Method {
	case "SendStreamingMessage":
		w.Header().Set("Content-Type", "text/event-stream")
		event := func(result string) {
			_, _ = fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n\n", call.ID, result)
			_ = http.NewResponseController(w).Flush()
		}
		event(`{"task":` + task + `}`)
		a.interrupt()
		// The task goes on in another context, which has to be recorded too.
		event(fmt.Sprintf(`{"statusUpdate":{"taskId":%q,"contextId":"c%d-2","status":{"state":"TASK_STATE_COMPLETED"}}}`, id, n))
		return
	case "CancelTask":
		task = fmt.Sprintf(`{"id":%q,"contextId":"again%d","status":{"state":"TASK_STATE_CANCELED"}}`, call.Params.ID, n)
		a.interrupt()
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, call.ID, task)
		return
	}
	a.interrupt()
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"task":%s}}`, call.ID, task)
}

// failure is a way in which a state takes no records. It is made for one gateway.
type failure struct {
	yaml        string
	begin, mend func()
}

// stateFailures are those of the drivers, by name.
func stateFailures() map[string]func(*testing.T, *world) failure {
	return map[string]func(*testing.T, *world) failure{
		"sqlite locked by another program": func(t *testing.T, w *world) failure {
			path := filepath.Join(w.dir, "locked.db")
			db, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(5000)")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = db.Close() })
			db.SetMaxOpenConns(1)
			do := func(text string) func() {
				return func() {
					if _, err := db.Exec(text); err != nil {
						t.Error(err)
					}
				}
			}
			return failure{sqliteAt(path), do(`BEGIN IMMEDIATE`), do(`ROLLBACK`)}
		},
		"sqlite file lost": func(t *testing.T, w *world) failure {
			path := filepath.Join(w.dir, "lost.db")
			move := func(from, to string) func() {
				return func() {
					if err := os.Rename(from, to); err != nil {
						t.Error(err)
					}
				}
			}
			return failure{sqliteAt(path), move(path, path+".away"), move(path+".away", path)}
		},
		"sqlite disk full": func(t *testing.T, _ *world) failure {
			dir := mounted(t)
			fill := filepath.Join(dir, "fill")
			return failure{sqliteAt(filepath.Join(dir, "state.db")), func() {
				f, err := os.Create(fill)
				for b := make([]byte, 4096); err == nil; {
					_, err = f.Write(b)
				}
				_ = f.Close()
			}, func() { _ = os.Remove(fill) }}
		},
		"redis out of memory":     redisWay(doing("config", "set", "maxmemory", "1"), doing("config", "set", "maxmemory", "0")),
		"redis is a replica now":  redisWay(doing("replicaof", "127.0.0.1", "1"), doing("replicaof", "no", "one")),
		"redis without replicas":  redisWay(doing("config", "set", "min-replicas-to-write", "1"), doing("config", "set", "min-replicas-to-write", "0")),
		"redis denies the right":  redisWay(doing("acl", "setuser", "default", "-set"), doing("acl", "setuser", "default", "+set")),
		"redis denies all writes": redisWay(doing("acl", "setuser", "default", "-@write"), doing("acl", "setuser", "default", "+@all")),
		"redis is gone":           redisWay(func(s *redisServer) { s.end() }, func(s *redisServer) { s.start() }),
		"redis hangs":             redisWay(func(s *redisServer) { _ = s.cmd.Process.Signal(syscall.SIGSTOP) }, func(s *redisServer) { _ = s.cmd.Process.Signal(syscall.SIGCONT) }),
	}
}

func sqliteAt(path string) string {
	return fmt.Sprintf("state: {driver: sqlite, sqlite: {path: %q}}\n", path)
}

// mounted is a small file system of the test's own.
func mounted(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("a file system cannot be mounted here: %v: %s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("umount", "-l", dir).Run() })
	return dir
}

// redisWay has a server of the test's own fail in a way, and mends it.
func redisWay(begin, mend func(*redisServer)) func(*testing.T, *world) failure {
	return func(t *testing.T, _ *world) failure {
		s := startRedis(t)
		yaml := strings.Replace(s.yaml(), "timeout: 2s", "timeout: 500ms", 1)
		return failure{yaml, func() { begin(s) }, func() { mend(s) }}
	}
}

func doing(words ...any) func(*redisServer) {
	return func(s *redisServer) {
		c := redis.NewClient(&redis.Options{Addr: s.address, Protocol: 2, DisableIdentity: true})
		defer c.Close()
		if err := c.Do(context.Background(), words...).Err(); err != nil {
			s.t.Error(err)
		}
	}
}

// effectCalls are what the table makes of each failure: sends over both bindings, of a stream, and a
// call about a task that is there.
var effectCalls = map[string]func(g *gateway.Gateway, task string) (verb, url, body string){
	"send": func(g *gateway.Gateway, _ string) (string, string, string) {
		return http.MethodPost, g.URL() + "/agents/a", sendBody("SendMessage", "1")
	},
	"send over HTTP+JSON": func(g *gateway.Gateway, _ string) (string, string, string) {
		return http.MethodPost, g.URL() + "/agents/a/message:send", `{"message":{"messageId":"1","role":"ROLE_USER","parts":[{"text":"hello"}]}}`
	},
	"stream": func(g *gateway.Gateway, _ string) (string, string, string) {
		return http.MethodPost, g.URL() + "/agents/a", sendBody("SendStreamingMessage", "1")
	},
	"cancel": func(g *gateway.Gateway, task string) (string, string, string) {
		return http.MethodPost, g.URL() + "/agents/a", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"CancelTask","params":{"id":%q}}`, task)
	},
}

// TestR14_EffectOrRefusal: with a state that takes no records, however it fails and whenever, a
// call either does not come to the agent and may be made again, or has come to it and no answer
// invites to make it again; then the record says that its effect is not known. The gateway
// says that the state is away, and all is well when it is back.
func TestR14_EffectOrRefusal(t *testing.T) {
	testenv.Long(t, "the state fails in every way that is known")
	t.Parallel()
	for name, fails := range stateFailures() {
		for what := range effectCalls {
			if strings.Contains(name, "locked") && what != "send" {
				continue // SQLite waits for five seconds a time
			}
			t.Run(name+", "+what, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				f, a := fails(t, w), startWorker(t)
				g := w.start(w.yaml(plain, fmt.Sprintf("policy: {default: allow}\nagents: [{id: a, card: %q}]\n%s", a.card(), f.yaml)))
				e := &effects{t: t, world: w, gateway: g, agent: a, what: what, header: sendHeader(w.token("alice"))}
				e.recovers()
				// While it is given to the agent.
				during := f.begin
				a.before.Store(&during)
				e.call("begun during the call", 1)
				for range 3 {
					e.call("known from the call", 0)
				}
				e.away("1")
				f.mend()
				e.recovers()
				// Right after a call, and when nobody has called for a moment. Of what has just
				// worked a call may be sent.
				f.begin()
				e.call("begun just now", -1)
				for range 3 {
					e.call("begun before the call", 0)
				}
				e.away("1")
				f.mend()
				e.recovers()
				time.Sleep(20 * time.Millisecond)
				f.begin()
				time.Sleep(20 * time.Millisecond)
				e.call("begun while nobody called", 0)
				e.away("1")
				f.mend()
				e.recovers()
				e.away("0")
			})
		}
	}
}

// effects makes calls and judges their answers.
type effects struct {
	t       *testing.T
	world   *world
	gateway *gateway.Gateway
	agent   *worker
	what    string
	task    string
	header  http.Header
}

// recovers waits until calls succeed, and makes the task that is to be cancelled.
func (e *effects) recovers() {
	e.t.Helper()
	verb, url, body := effectCalls["send"](e.gateway, "")
	eventually(e.t, "calls succeed", func() bool {
		status, answer, err := try(client(e.t), verb, url, e.header, body)
		var made struct {
			Result struct{ Task struct{ ID string } }
		}
		if err == nil && status == http.StatusOK && json.Unmarshal([]byte(answer), &made) == nil && made.Result.Task.ID != "" {
			e.task = made.Result.Task.ID
			return true
		}
		return false
	})
}

// call makes one call, which may come to the agent so often; -1 for once or not.
func (e *effects) call(when string, want int64) {
	e.t.Helper()
	verb, url, body := effectCalls[e.what](e.gateway, e.task)
	before := e.agent.given.Load()
	req, err := http.NewRequestWithContext(e.t.Context(), verb, url, strings.NewReader(body))
	if err != nil {
		e.t.Fatal(err)
	}
	req.Header = e.header.Clone()
	resp, err := client(e.t).Do(req)
	if err != nil {
		e.t.Errorf("%s: %v", when, err)
		return
	}
	defer resp.Body.Close()
	answer, _ := io.ReadAll(resp.Body)
	given := e.agent.given.Load() - before
	again := resp.StatusCode == http.StatusServiceUnavailable && resp.Header.Get("Retry-After") != ""
	invites := resp.StatusCode == http.StatusServiceUnavailable || resp.Header.Get("Retry-After") != "" ||
		strings.Contains(string(answer), "retry:") || strings.Contains(string(answer), "UNAVAILABLE")
	switch {
	case want >= 0 && given != want:
		e.t.Errorf("%s: the agent was given it %d times: %d %s", when, given, resp.StatusCode, answer)
	case given == 0 && !again:
		e.t.Errorf("%s: not sent, and answered %d %v %s", when, resp.StatusCode, resp.Header, answer)
	case given == 1 && (invites || !strings.Contains(string(answer), `"OUTCOME_UNKNOWN"`)):
		e.t.Errorf("%s: sent, and answered %d %v %s", when, resp.StatusCode, resp.Header, answer)
	case given == 1 && e.what != "stream":
		id := resp.Header.Get("X-Request-Id")
		eventually(e.t, "the record says so", func() bool {
			for line := range strings.Lines(e.world.log.String()) {
				if strings.Contains(line, `"msg":"call"`) && strings.Contains(line, id) {
					return id != "" && strings.Contains(line, `"effect":"unknown"`)
				}
			}
			return false
		})
	}
}

// away looks at what the gateway says of the state.
func (e *effects) away(want string) {
	e.t.Helper()
	eventually(e.t, "the metric is "+want, func() bool {
		_, metrics := fetch(e.t, e.gateway.StatusURL()+"/metrics", nil)
		return strings.Contains(metrics, "\na2a_gateway_state_unavailable "+want+"\n")
	})
	status, body := fetch(e.t, e.gateway.StatusURL()+"/readyz?state", nil)
	if (status == http.StatusServiceUnavailable) != (want == "1") || strings.Contains(body, "state: failed: ") != (want == "1") {
		e.t.Errorf("/readyz?state with a metric of %s: %d %s", want, status, body)
	}
}
