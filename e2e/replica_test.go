package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
)

// replica is one of several gateways. It has a directory, a way to Redis and a path of the
// program of its own.
type replica struct {
	name, address, status string
	config, program       string
	cable                 *cable
	*process
	served int // how often the process has begun to serve
}

// group is three gateways on one Redis, behind HAProxy.
type group struct {
	*setting
	callers           string // where the balancer listens
	story, quick, few *sample
	replicas          []*replica
	balancer          *balancer
}

// What limit few lets through, of all replicas together; nothing of it comes back while
// the test lasts.
const fewCalls = 20

// newGroup starts all of it.
func newGroup(t *testing.T) *group {
	t.Helper()
	need(t, "haproxy")
	shared := startRedis(t)
	g := &group{
		setting: prepare(t, "http://127.0.0.1/card", ""), // for its keys
		callers: gatewaytest.FreeAddress(),
		story:   newStory(t, 8*time.Second), quick: newSample(t, "a"), few: newSample(t, "few"),
	}
	g.story.every, g.story.events = 40*time.Millisecond, 200
	g.quick.events, g.quick.every = 1, time.Hour // its tasks go on
	at := map[string][2]string{}
	for _, name := range []string{"one", "two", "three"} {
		r := &replica{
			name: name, address: gatewaytest.FreeAddress(), status: gatewaytest.FreeAddress(), cable: newCable(t, shared.address),
			config: filepath.Join(g.dir, name+".yaml"), program: filepath.Join(g.dir, "gateway-"+name),
		}
		write(t, r.config, g.configuration(r))
		r.installs(t)
		r.starts(t)
		g.replicas, at[name] = append(g.replicas, r), [2]string{r.address, r.status}
	}
	g.balancer = newBalancer(t, g.callers, at)
	for _, r := range g.replicas {
		g.balancer.sees(r.name, "UP")
	}
	return g
}

func (g *group) configuration(r *replica) string {
	return fmt.Sprintf(`server:
  id: %s
  address: %q
  statusAddress: %q
  publicURL: "https://%s"
  plaintext: true
  h2c: true
  trustedProxies: [127.0.0.1/32]
  dataDir: data-%s
  limits: {delay: 1h}
  timeouts: {drain: 4s, lameDuck: 2s}
admin: {address: "off"}
keys: {dir: shared-keys}
authn: {apiKeys: {file: keys.yaml}}
policy:
  rules: [{name: all, effect: allow, agents: ["*"]}]
  limits: {each: [{name: few, agents: [few], key: [principal], rate: {units: %d, per: 720h}}]}
streams: {retain: 2m}
state: {driver: redis, redis: {addresses: [%q], timeout: 10s}}
agents:
  - {id: story, card: "http://%s/card"}
  - {id: a, card: "http://%s/card"}
  - {id: few, card: "http://%s/card"}
`, r.name, r.address, r.status, g.callers, r.name, fewCalls, r.cable.address(), g.story.address(), g.quick.address(), g.few.address())
}

// installs puts a program of the replica's own where it was started, or will be.
func (r *replica) installs(t *testing.T) (program string) {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	program = fmt.Sprintf("%s.%d", r.program, r.served)
	if err := os.Link(path, program); err != nil { // another file system: a copy does as well
		copyFile(t, path, program)
	}
	if err := os.Symlink(program, r.program+".new"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(r.program+".new", r.program); err != nil {
		t.Fatal(err)
	}
	return program
}

// starts waits until it is ready.
func (r *replica) starts(t *testing.T) {
	t.Helper()
	r.process, r.served = startAt(t, r.program, "serve", "-c", r.config), 1
	r.ready()
}

// caller is somebody who calls an agent at this replica.
func (g *group) at(r *replica, who, agent string) *caller {
	c := g.caller("http://"+r.address, who, true)
	c.url = "http://" + r.address + "/agents/" + agent
	c.client.Timeout = 0
	return c
}

// through is somebody who calls an agent through the balancer.
func (g *group) through(who, agent string, http2 bool) *caller {
	return &caller{g.balancer.url + "/agents/" + agent, g.keys[who], g.balancer.client(http2)}
}

// watch begins a task with clients who come and go, through the balancer.
func (g *group) watch() *audience {
	g.t.Helper()
	c := g.through("owner", "story", true)
	a := attend(g.t, g.story, func() *caller { return c }, 2, 2, 2, nil)
	a.lags = true
	return a
}

// kills ends a replica without a word and starts it again, and returns how long it took the
// balancer to notice either.
func (g *group) kills(r *replica, y *traffic) (down, up time.Duration) {
	g.t.Helper()
	y.breaks("one was killed")
	r.signal(syscall.SIGKILL)
	down = g.balancer.sees(r.name, "DOWN")
	y.mended()
	y.goesOn(g.t)
	r.starts(g.t)
	up = g.balancer.sees(r.name, "UP")
	y.goesOn(g.t)
	return down, up
}

// restarts has a replica drain, and starts it again. Nobody may notice.
func (g *group) restarts(r *replica, y *traffic) {
	g.t.Helper()
	if code := r.signal(syscall.SIGTERM); code != 0 {
		g.t.Errorf("%s: exit code %d", r.name, code)
	}
	r.starts(g.t)
	g.balancer.sees(r.name, "UP")
	y.goesOn(g.t)
}

// upgrades puts another program in the place of a replica's. Nobody may notice.
func (g *group) upgrades(r *replica, y *traffic) {
	g.t.Helper()
	next := r.installs(g.t)
	r.send(syscall.SIGUSR2)
	r.served++
	r.awaitNth(`"msg":"serving"`, r.served)
	if exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", r.cmd.Process.Pid)); err == nil && exe != next {
		g.t.Errorf("%s runs %s, not %s", r.name, exe, next)
	}
	g.balancer.sees(r.name, "UP")
	y.goesOn(g.t)
}

// parts takes Redis from one replica: it refuses what concerns tasks, answers the rest, and
// goes on with the streams it has, until it is given back. It returns one of those.
func (g *group) parts(r *replica, y *traffic) (open *audience) {
	t := g.t
	t.Helper()
	owner, thief := g.at(r, "owner", "a"), g.at(r, "thief", "a")
	task := y.newest()
	params := fmt.Sprintf(`{"id":%q}`, task)
	story := g.at(r, "owner", "story")
	var heard atomic.Int64
	open = attend(t, g.story, func() *caller { return story }, 1, 0, 0, func(string) { heard.Add(1) })
	y.breaks("one was without Redis")
	r.cable.cut()
	g.balancer.sees(r.name, "DOWN")
	y.mended()
	for what, a := range map[string]answer{
		"the owner's task": owner.call("GetTask", "p", params), "somebody else's task": thief.call("GetTask", "p", params),
		"a new task": owner.call("SendMessage", "p", fmt.Sprintf(newTask, "parted-"+task)),
	} {
		if a.status != http.StatusServiceUnavailable || a.retry == "" {
			t.Errorf("%s without Redis, %s: %d, Retry-After %q: %.300s %v", r.name, what, a.status, a.retry, a.body, a.err)
		}
	}
	for path, want := range map[string]int{"/readyz": http.StatusOK, "/readyz?state": http.StatusServiceUnavailable} {
		if got := g.status(r, path); got != want {
			t.Errorf("%s without Redis: %s is %d", r.name, path, got)
		}
	}
	more := min(int64(g.story.events), heard.Load()+10)
	eventually(t, "a stream goes on without Redis", time.Minute, func() bool { return heard.Load() >= more })
	y.goesOn(t)
	r.cable.mend()
	g.balancer.sees(r.name, "UP")
	y.goesOn(t)
	if a := owner.call("GetTask", "p", params); !strings.Contains(a.body, `"result"`) {
		t.Errorf("%s with Redis again, the owner's task: %d %.300s %v", r.name, a.status, a.body, a.err)
	}
	if a := thief.call("GetTask", "p", params); !strings.Contains(a.body, "-32001") {
		t.Errorf("%s with Redis again, somebody else's task: %d %.300s %v", r.name, a.status, a.body, a.err)
	}
	return open
}

// status is what a status listener answers with.
func (g *group) status(r *replica, path string) int {
	g.t.Helper()
	resp, err := http.Get("http://" + r.status + path)
	if err != nil {
		g.t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// loses takes Redis from all: whoever is asked refuses in A2A's way, and serves its cards.
func (g *group) loses(y *traffic) {
	t := g.t
	t.Helper()
	y.breaks("all were without Redis")
	for _, r := range g.replicas {
		r.cable.cut()
	}
	for _, r := range g.replicas {
		g.balancer.sees(r.name, "DOWN")
	}
	a := g.through("owner", "a", false).call("GetTask", "l", fmt.Sprintf(`{"id":%q}`, y.newest()))
	if a.status != http.StatusServiceUnavailable || a.retry == "" || !strings.Contains(a.body, `"jsonrpc"`) {
		t.Errorf("a task while Redis is away: %d, Retry-After %q: %.300s %v", a.status, a.retry, a.body, a.err)
	}
	resp, err := g.balancer.client(false).Get(g.balancer.url + "/agents/a/.well-known/agent-card.json")
	if err != nil {
		t.Fatal(err)
	}
	if _ = resp.Body.Close(); resp.StatusCode != http.StatusOK {
		t.Errorf("a card while Redis is away: %s", resp.Status)
	}
	for _, r := range g.replicas {
		r.cable.mend()
	}
	for _, r := range g.replicas {
		g.balancer.sees(r.name, "UP")
	}
	y.mended()
	y.goesOn(t)
}

// gaps counts those of a task that are on record.
func (g *group) gaps(task string) (n int) {
	g.t.Helper()
	for _, r := range g.replicas {
		n += recorded(g.t, filepath.Join(g.dir, "data-"+r.name), `"gap":true`, fmt.Sprintf(`"task_id":%q`, task))
	}
	return n
}

// speaks has gRPC go through the balancer too, to each replica.
func (g *group) speaks() {
	g.t.Helper()
	conn, err := grpc.NewClient(g.callers, grpc.WithTransportCredentials(credentials.NewClientTLSFromCert(g.balancer.trust, "")))
	if err != nil {
		g.t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	for range 2 * len(g.replicas) {
		answer, err := healthpb.NewHealthClient(conn).Check(g.t.Context(), &healthpb.HealthCheckRequest{})
		if err != nil || answer.GetStatus() != healthpb.HealthCheckResponse_SERVING {
			g.t.Errorf("gRPC through the balancer: %v, %v", answer, err)
		}
	}
}

// limited makes three times as many calls as the limit lets through, at all replicas at
// once, and says how many came through.
func (g *group) limited() (passed int64) {
	g.t.Helper()
	var let, refused atomic.Int64
	var all sync.WaitGroup
	for _, r := range g.replicas {
		all.Go(func() {
			c := g.at(r, "owner", "few")
			for range fewCalls {
				switch a := c.call("GetExtendedAgentCard", "few", "{}"); a.status {
				case http.StatusTooManyRequests:
					refused.Add(1)
				case http.StatusOK:
					let.Add(1)
				default:
					g.t.Errorf("a limited call: %d %.300s %v", a.status, a.body, a.err)
				}
			}
		})
	}
	all.Wait()
	g.t.Logf("of %d calls at three replicas the limit let %d through and refused %d", 3*fewCalls, let.Load(), refused.Load())
	return let.Load()
}
