package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/a2a-gateway/a2a-gateway/internal/demo"
	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

var update = flag.Bool("update", false, "rewrite the golden parts of testdata/*.txtar")

// TestMain also makes the test binary a2a-gateway itself: scripts start it as a
// process of its own, with real signals, files and exit codes.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) != "a2a-gateway" { // which has the environment that its script gives it
		testenv.Clear()
		testenv.Overlap()
	}
	testscript.Main(m, map[string]func(){"a2a-gateway": main})
}

// TestScripts runs testdata/*.txtar, one promise of the gateway each. What the
// commands beside testscript's own do is said in testdata/README.md.
func TestScripts(t *testing.T) {
	testenv.Long(t, "every script starts gateways as processes of their own")
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                "testdata",
		UpdateScripts:      *update,
		RequireUniqueNames: true,
		Condition:          condition,
		Setup:              setUp,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"agent":       cmdAgent,
			"backend":     cmdBackend,
			"proxy":       cmdProxy,
			"proxied":     printing(proxied),
			"seen":        cmdSeen,
			"issuer":      cmdIssuer,
			"token":       cmdToken,
			"rotate":      cmdRotate,
			"revoke":      cmdRevoke,
			"jwks":        cmdJWKS,
			"exchange":    cmdExchange,
			"asked":       cmdAsked,
			"opened":      cmdOpened,
			"certificate": cmdCertificate,
			"ca":          cmdCA,
			"identify":    cmdIdentify,
			"gateway":     cmdGateway,
			"replica":     cmdReplica,
			"crash":       cmdCrash,
			"redis":       cmdRedis,
			"sql":         cmdSQL,
			"demo":        cmdDemo,
			"reload":      cmdReload,
			"drain":       cmdDrain,
			"logged":      cmdLogged,
			"metric":      cmdMetric,
			"audit":       cmdAudit,
			"call":        printing(call),
			"rpc":         printing(rpc),
			"send":        printing(send),
			"grpc":        printing(callGRPC),
			"join":        cmdJoin,
			"until":       printing(until),
			"upgrade":     cmdUpgrade,
			"capture":     cmdCapture,
			"key":         cmdKey,
			"handshake":   cmdHandshake,
			"wire":        printing(cmdWire),
			"code":        cmdCode,
			"schema":      cmdSchema,
			"paste":       cmdPaste,
			"await":       cmdAwait,
			"sameday":     cmdSameDay,
		},
	})
}

// world is everything that one script has started.
type world struct {
	t         failer
	dir       string
	agents    map[string]*demo.Agent
	backends  map[string]*backend
	tunnels   *gatewaytest.Tunnels // of proxy
	refusing  atomic.Int64         // what it answers; 200 connects
	issuer    *demo.Issuer
	asking    *introspection          // of the issuer, if it has one
	published *atomic.Pointer[string] // the key set of jwks
	systems   map[string]*exchange    // that exchange tokens
	cas       map[string]*ca
	proofs    map[string]*proofKey
	gateway   *process
	replicas  []*process // beside gateway
	redis     *redisServer
	address   atomic.Value // string: of the gateway, for servers of the script
	sent      atomic.Int64 // requests to the public listener, each of which is recorded
	client    *client
	names     map[string]string // value → the name shown in its place
	joins     map[string]chan string
}

// failer is what is left of *testing.T when a script is over.
type failer interface {
	Errorf(format string, args ...any)
}

type worldKey struct{}

func setUp(env *testscript.Env) error {
	f, _ := env.T().(failer)
	w := &world{
		t: f, dir: env.WorkDir,
		agents: map[string]*demo.Agent{}, backends: map[string]*backend{},
		systems: map[string]*exchange{}, cas: map[string]*ca{}, proofs: map[string]*proofKey{},
		names: map[string]string{}, joins: map[string]chan string{},
	}
	w.client = newClient(w)
	w.names[env.WorkDir] = "$WORK"
	env.Values[worldKey{}] = w
	// A gateway that is told of no directory keeps its data in the script's own.
	env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, ".state"))
	env.Defer(w.close)
	return nil
}

func worldOf(ts *testscript.TestScript) *world {
	w, ok := ts.Value(worldKey{}).(*world)
	if !ok {
		ts.Fatalf("script was not set up")
	}
	return w
}

// at is where the gateway is.
func (w *world) at() string {
	address, _ := w.address.Load().(string)
	return address
}

// close ends everything, the gateway first: it has to exit well.
func (w *world) close() {
	w.client.close()
	if w.gateway != nil {
		w.gateway.finish()
	}
	for _, p := range w.replicas {
		p.finish()
	}
	w.redis.end()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	for _, a := range w.agents {
		_ = a.Close(ctx)
	}
	for _, b := range w.backends {
		b.close()
	}
	for _, x := range w.systems {
		x.close(ctx)
	}
	if w.asking != nil {
		w.asking.server.Close()
	}
	if w.issuer != nil {
		_ = w.issuer.Close(ctx)
	}
}

// name gives a value that differs from run to run the name under which output
// shows it, and puts it into the environment under the same name.
func (w *world) name(ts *testscript.TestScript, name, value string) {
	ts.Setenv(name, value)
	if len(value) >= 4 { // shorter ones would be found in everything
		w.names[value] = "$" + name
	}
}

// What varies in output without having a name.
var (
	anyUUID  = regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|approval-[0-9a-f]{32}`)
	anyEvent = regexp.MustCompile(`(?m)^id: [A-Za-z0-9_-]{40,}\.([0-9]+)$`) // of a stream
	anyTime  = regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)`)
	anyPort  = regexp.MustCompile(`\b(127\.0\.0\.1|localhost|\[::1\]):\d{2,5}\b`)
	anyMade  = regexp.MustCompile(`("(?:protected|signature)": ?)"[A-Za-z0-9_-]{40,}"`) // of a card
	anyHash  = regexp.MustCompile(`\bsha256:[0-9a-f]{64}\b`)
)

// steady makes output the same in every run: named values by their names, the
// longest first since one may begin with another, then ids, times and ports.
func (w *world) steady(s string) string {
	values := make([]string, 0, len(w.names))
	for v := range w.names {
		values = append(values, v)
	}
	slices.SortFunc(values, func(a, b string) int { return len(b) - len(a) })
	for _, v := range values {
		s = strings.ReplaceAll(s, v, w.names[v])
	}
	// The agents' SDK puts one refusal in two ways, by whether it has tidied up after
	// the task yet.
	s = strings.ReplaceAll(s, "canceler setup failed", "setup failed")
	s = anyUUID.ReplaceAllString(s, "<id>")
	s = anyEvent.ReplaceAllString(s, "id: <event>.$1")
	s = anyMade.ReplaceAllString(s, `$1"<signed>"`)
	s = anyTime.ReplaceAllString(s, "<time>")
	s = anyPort.ReplaceAllString(s, "$1:<port>")
	return anyHash.ReplaceAllString(s, "<digest>")
}

// braced is how files refer to the environment. A bare $ stays what it is.
var braced = regexp.MustCompile(`\$\{[A-Za-z_][A-Za-z0-9_]*\}`)

func expandBraced(ts *testscript.TestScript, text string) string {
	return braced.ReplaceAllStringFunc(text, func(ref string) string {
		value := ts.Getenv(ref[2 : len(ref)-1])
		if value == "" {
			ts.Fatalf("%s is not set", ref)
		}
		return value
	})
}

// patience is how long a script waits for what must happen before it fails.
const patience = time.Minute

// eventually tries until it works: what happens after an answer (metrics,
// records) has no moment at which it is known to have happened.
func eventually(limit time.Duration, try func() bool) bool {
	deadline := time.Now().Add(limit)
	for !try() {
		if time.Now().After(deadline) {
			return false
		}
		time.Sleep(10 * time.Millisecond)
	}
	return true
}

func readFile(ts *testscript.TestScript, name string) string {
	data, err := os.ReadFile(ts.MkAbs(name))
	ts.Check(err)
	return string(data)
}

func noNeg(ts *testscript.TestScript, neg bool) {
	if neg {
		ts.Fatalf("this command cannot be negated")
	}
}

// condition knows [optional]: programs beside Go may be missing. It is false where
// everything must be there; a script that lacks one then fails. [root] is who may read
// every file.
func condition(name string) (bool, error) {
	switch name {
	case "optional":
		return os.Getenv("A2A_GATEWAY_TEST_REQUIRE_ALL") == "", nil
	case "root":
		return os.Geteuid() == 0, nil
	}
	return false, fmt.Errorf("unknown condition %q", name)
}
