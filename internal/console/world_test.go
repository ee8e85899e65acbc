package console

import (
	"cmp"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
	"github.com/a2a-gateway/a2a-gateway/internal/console/fleet"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
	"github.com/a2a-gateway/a2a-gateway/internal/verdict"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/push"
	"github.com/a2a-gateway/a2a-gateway/telemetry/history"
)

func TestMain(m *testing.M) {
	testenv.Overlap()
	goleak.VerifyTestMain(m)
}

// operations are those of all screens.
var operations = operationsOf(new(Console).table())

// cursor names the place behind the item of an id.
func cursor(id string) string { return new(api.Call).Cursor(id) }

const testToken = "canary-admin-token"

// world is a console in front of a queue in memory.
type world struct {
	t       *testing.T
	queue   *state.Memory
	cipher  gcm
	worker  *push.Worker // that enqueues only
	cards   album
	archive archive
	machine machine
	ledger  ledger
	rules   rulebook
	tries   tries
	ring    ring
	flow    flow
	past    *history.History // of what counts has
	counts  counts
	console *Console
	log     lockedBuffer

	mu         sync.Mutex
	events     []map[string]string
	unrecorded bool              // the audit log takes nothing
	away       error             // of the queue, and of the fleet
	fleet      map[string]string // documents of agents, by id
	unfit      error             // what the fleet has against agents
	by         string            // who registered the last one
}

func newWorld(t *testing.T, change func(*Config)) *world {
	t.Helper()
	w := &world{t: t, queue: state.NewMemory(state.Config{}), cipher: newCipher(t), fleet: map[string]string{"a-1": `{"id":"a-1"}`}}
	w.archive.world, w.ledger.world = w, w
	w.past = history.New([]float64{.1, .2}, w.counts.read)
	log := slog.New(slog.NewJSONHandler(&w.log, nil))
	var err error
	w.worker, err = push.NewWorker(push.Config{AllowPrivateNetworks: true}, push.WorkerOptions{
		Queue: w.queue, Values: w.queue, Cipher: w.cipher, Holder: "test", Log: log,
	})
	if err != nil {
		t.Fatal(err)
	}
	c := Config{Address: "127.0.0.1:0", Token: secret.New(testToken)}
	if change != nil {
		change(&c)
	}
	c.Defaults("")
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	w.console, err = Open(c, Options{Approvals: &tray{state: "waiting", world: w}, Deliveries: w, Cards: &w.cards, Agents: w, Contents: &w.archive, Running: &w.machine, Health: w.machine.Health, Cluster: w.machine.Cluster, Records: &w.ledger, Policy: &w.rules, Extensions: adopters(25), Callers: &w.ring, Keys: &w.ring, Trials: &w.tries, Streams: &w.flow, History: w.past, Dir: t.TempDir(), Audit: w.record, Log: log, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	w.console.Start()
	t.Cleanup(func() {
		w.console.Close()
		_ = w.queue.Close()
	})
	return w
}

func (w *world) record(kind string, attrs map[string]string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.unrecorded {
		return errors.New("disk full")
	}
	event := maps.Clone(attrs)
	event["event"] = kind
	w.events = append(w.events, event)
	return nil
}

// recorded are the events so far.
func (w *world) recorded() []map[string]string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]map[string]string(nil), w.events...)
}

func (w *world) List(ctx context.Context, dead bool, after string, limit int) ([]push.Shown, error) {
	items, err := w.queue.Items(ctx, push.Queue, dead, after, limit)
	list := make([]push.Shown, len(items))
	for i := range items {
		list[i] = push.Show(items[i], w.cipher)
	}
	return list, errors.Join(err, w.away)
}

func (w *world) Depth(ctx context.Context) (state.Depth, error) {
	d, err := w.queue.Depth(ctx, push.Queue, time.Now())
	return d, errors.Join(err, w.away)
}

func (w *world) Retry(ctx context.Context, id string) (bool, error) {
	ok, err := w.queue.Revive(ctx, push.Queue, id, time.Now())
	return ok, errors.Join(err, w.away)
}

func (w *world) Drop(ctx context.Context, id string) (bool, error) {
	ok, err := w.queue.Remove(ctx, push.Queue, id)
	return ok, errors.Join(err, w.away)
}

// enqueue puts a delivery, whose every secret is a canary, into the queue.
func (w *world) enqueue(id string) {
	w.t.Helper()
	_, err := w.worker.Enqueue(w.t.Context(), &push.Delivery{
		ID: id, Agent: "billing", Task: "task-" + id, Config: "c-1", Owner: "alice",
		URL: "https://canary-user:canary-password@Hooks.example:8443/canary-path?key=canary-query#canary-fragment", Version: wire.V10,
		Body: []byte(`{"task":"canary-body"}`), Token: secret.New("canary-token"),
		Scheme: "Bearer", Credentials: secret.New("canary-credentials"),
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// bury gives up all that wait.
func (w *world) bury() {
	w.t.Helper()
	now := time.Now()
	items, err := w.queue.Take(w.t.Context(), push.Queue, "test", now, 1000, time.Minute)
	for _, it := range items {
		err = errors.Join(err, w.queue.Bury(w.t.Context(), push.Queue, "test", it.ID, "attempt 3: status 410", now, state.Keep{For: time.Hour}))
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// All implements Agents.
func (w *world) All(context.Context) ([]fleet.Agent, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []fleet.Agent
	for _, id := range slices.Sorted(maps.Keys(w.fleet)) {
		list = append(list, fleet.Agent{ID: id, Origin: fleet.FromAPI, Served: true})
	}
	return list, w.away
}

// Trends implements Agents.
func (w *world) Trends() fleet.Trends {
	return fleet.Trends{Until: time.Unix(1, 0).UTC(), Every: 10, Agents: map[string][]float64{"a-1": {0, 2.5}}}
}

// One implements Agents.
func (w *world) One(_ context.Context, id string) (fleet.Agent, bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	doc, ok := w.fleet[id]
	return fleet.Agent{ID: id, Origin: fleet.FromAPI, Served: ok, Agent: []byte(doc)}, ok, w.away
}

// Put implements Agents.
func (w *world) Put(_ context.Context, id string, r fleet.Registration) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.away != nil:
		return w.away
	case w.unfit != nil:
		return w.unfit
	case r.Match != "" && r.Match != w.fleet[id]:
		return fleet.ErrAgentOther
	case w.fleet[id] != "" && !r.Replace:
		return fleet.ErrAgentTaken
	}
	w.fleet[id], w.by = string(r.Doc), r.By
	return nil
}

// Draft implements Agents.
func (w *world) Draft(_ context.Context, id string) (fleet.AgentDraft, bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	doc, ok := w.fleet[id]
	return fleet.AgentDraft{Text: doc, Registered: true, Edition: doc}, ok, errors.Join(w.away, w.unfit)
}

// Check implements Agents. It has a mistake for each line of a draft.
func (w *world) Check(_ context.Context, id string, text []byte) (c fleet.AgentChecked, ok bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range strings.Count(string(text), "\n") {
		c.Mistakes = append(c.Mistakes, verdict.Mistake{Line: i + 1, Column: 1, Text: "it is a line"})
	}
	_, ok = w.fleet[id]
	return c, ok, errors.Join(w.away, w.unfit)
}

// JSON implements Agents: YAML is JSON here.
func (w *world) JSON(text []byte) ([]byte, error) {
	if !strings.HasPrefix(string(text), "{") {
		return nil, fleet.AgentInvalid{"no agent"}
	}
	return text, nil
}

// Remove implements Agents.
func (w *world) Remove(_ context.Context, id string) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.away != nil || w.unfit != nil {
		return false, errors.Join(w.away, w.unfit)
	}
	_, ok := w.fleet[id]
	delete(w.fleet, id)
	return ok, nil
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   string
}

func (a answer) String() string { return fmt.Sprintf("%d %s", a.status, a.body) }

// ask sends a request with the token, which change may take away.
func (w *world) ask(method, target string, change func(*http.Request)) answer {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), method, w.console.URL()+target, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+testToken)
	if op, _ := find(operations, req); op != nil && op.In != nil {
		id := path.Base(req.URL.Path)
		if id == "agents" {
			id = "a-2"
		}
		send(req, cmp.Or(bodies[op.ID], `{"id":"`+id+`","card":"http://127.0.0.1/card"}`))
	}
	if change != nil {
		change(req)
	}
	transport := &http.Transport{DisableKeepAlives: true}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	got := answer{resp.StatusCode, resp.Header, string(body)}
	w.conform(method, req.URL.Path, got)
	return got
}

// bodies are what operations are sent that take no agent.
var bodies = map[string]string{
	"explain": `{"agent":"a-1"}`,
	"try":     `{"agent":"a-1","version":"1.0","binding":"JSONRPC","method":"SendMessage"}`,
	"replay":  `{"rules":"[]"}`,

	"try-guards":    `{"agent":"a-1","text":"hello"}`,
	"replay-guards": `{"guards":"[]"}`,

	"check-rules":  `{"rules":"[]"}`,
	"check-agent":  `{"agent":"id: a-1"}`,
	"view-card":    `{"caller":{"subject":"alice"}}`,
	"make-key":     `{"id":"robot"}`,
	"approve-call": `{"digest":"d1"}`,
	"reject-call":  `{"digest":"d1"}`,
}

// send gives a request a JSON body.
func send(r *http.Request, text string) {
	r.Header.Set("Content-Type", "application/json")
	r.Body, r.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
}

// gcm is a state.Cipher of one key.
type gcm struct{ cipher.AEAD }

func newCipher(t *testing.T) gcm {
	t.Helper()
	key := make([]byte, 32)
	_, _ = rand.Read(key)
	block, err := aes.NewCipher(key)
	if err != nil {
		t.Fatal(err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		t.Fatal(err)
	}
	return gcm{aead}
}

func (g gcm) Seal(plain, aad []byte) []byte           { return g.AEAD.Seal(nil, nil, plain, aad) }
func (g gcm) Open(sealed, aad []byte) ([]byte, error) { return g.AEAD.Open(nil, nil, sealed, aad) }

// lockedBuffer is a log that may be read while it is written.
type lockedBuffer struct {
	mu  sync.Mutex
	buf strings.Builder
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
