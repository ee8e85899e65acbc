package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

// TestMain is also the agent and the floor, which a run starts of its own binary.
func TestMain(m *testing.M) {
	testenv.Clear()
	if len(os.Args) > 2 && os.Args[1] == "role" {
		if err := role(os.Args[2], os.Args[3:]); err != nil {
			_, _ = fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(runTests(m))
}

// builds is a directory for the gateway, of one run of the tests.
var builds string

func runTests(m *testing.M) int {
	var err error
	if builds, err = os.MkdirTemp("", "a2a-gateway-bench-test-"); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(builds) }()
	return m.Run()
}

// built is the gateway, built once for all tests.
var built = sync.OnceValues(func() (string, error) {
	path := filepath.Join(builds, "a2a-gateway")
	if out, err := exec.Command("go", "build", "-C", "..", "-buildvcs=false", "-o", path, "./cmd/a2a-gateway").CombinedOutput(); err != nil {
		return "", errors.New(string(out))
	}
	return path, nil
})

// small is enough to see that everything works, and measures nothing, so that several
// such runs may go on at once.
func small() options {
	return options{rounds: 1, time: 300 * time.Millisecond, connections: 4, rate: 100, streams: 10, idle: 20}
}

// TestWorkloads runs each through what needs nothing but Go. What mostly waits runs beside
// what mostly works.
func TestWorkloads(t *testing.T) {
	testenv.Long(t, "every workload is run")
	t.Parallel()
	waits := []workload{active, idle, idlePlain, idleH2}
	var works []workload
	for _, w := range workloads {
		if w.growth == nil && !slices.ContainsFunc(waits, func(other workload) bool { return other.name == w.name }) {
			works = append(works, w)
		}
	}
	for what, some := range map[string][]workload{"streams that wait": waits, "everything else": works} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			o := small()
			for _, w := range some {
				o.workloads = append(o.workloads, w.name)
			}
			everyFigure(t, o)
		})
	}
}

// everyFigure runs what was chosen through what needs nothing but Go.
func everyFigure(t *testing.T, o options) {
	t.Helper()
	o.subjects = []string{
		direct.name, floor.name, grpcFloor.name, gateway.name, gatewaySync.name, gatewaySQLite.name, gatewayGuards.name, gateway03.name, gateway10.name,
	}
	rec := measured(t, o)
	for _, w := range workloads {
		for _, s := range subjects {
			if !o.takes(w) || !w.through(s) || !contains(o.subjects, s.name) {
				continue
			}
			row := rec.row(w.name, s.name)
			if row == nil {
				t.Errorf("%s: nothing of %s", w.name, s.name)
				continue
			}
			for _, c := range w.columns {
				own := c.key == "cpu" || c.key == "rss" || c.key == "kib" || c.key == "open" || c.key == "held" || c.key == "rest"
				if s.name == direct.name && own {
					continue // has no process
				}
				if c.key == "minimal" {
					continue // is not built where a binary is given
				}
				if v := row.Figures[c.key]; len(v) != 1 {
					t.Errorf("%s: %s: %s is %v, want one value", w.name, s.name, c.key, v)
				}
			}
		}
	}
	var out bytes.Buffer
	if err := rec.text(&out); err != nil {
		t.Fatal(err)
	}
	t.Logf("figures of a run that is far too short:\n%s", out.String())
}

// TestPeers runs what is in PATH and, where everything is required, what is not.
func TestPeers(t *testing.T) {
	testenv.Long(t, "other proxies are put under load")
	t.Parallel()
	for _, s := range []subject{nginx, haproxy, haproxyJWT, caddy} {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			all := os.Getenv("A2A_GATEWAY_TEST_REQUIRE_ALL") != ""
			if s.name == caddy.name && !all {
				t.Skip("takes minutes to build; A2A_GATEWAY_TEST_REQUIRE_ALL is not set")
			}
			o := small()
			o.subjects = []string{floor.name, s.name}
			o.workloads = []string{unary.name, unaryH2.name, idlePlain.name, flood.name}
			rec := measured(t, o)
			if reason, out := rec.LeftOut[s.name]; out && !all {
				t.Skip(reason)
			} else if out {
				t.Fatal(reason)
			}
			for _, name := range []string{unary.name, unaryH2.name} {
				row := rec.row(name, s.name)
				if row == nil || median(row.Figures["rate"]) <= 0 || median(row.Figures["rss"]) <= 0 {
					t.Errorf("%s: %+v", name, row)
				}
			}
			if rec.Versions[s.name] == "" {
				t.Error("its version is not known")
			}
		})
	}
}

func measured(t *testing.T, o options) *record {
	t.Helper()
	var err error
	if o.gateway, err = built(); err != nil {
		t.Fatal(err)
	}
	rec, err := run(t.Context(), o, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

func contains(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}

// TestNothingRemains: what a run starts ends with it, the workers of a master too.
func TestNothingRemains(t *testing.T) {
	st, err := newStage(t.Context(), small(), t.Output())
	if err != nil {
		t.Fatal(err)
	}
	pids := []int{}
	for _, s := range []subject{floor, nginx} {
		r, err := st.run(unary, s)
		if err != nil {
			st.close()
			t.Fatal(err)
		}
		if r == nil {
			continue // is not here
		}
		tree, err := processes.tree(r.pid)
		if err != nil {
			t.Error(err)
		}
		pids = append(pids, tree...)
	}
	st.close()
	if len(pids) == 0 {
		t.Fatal("nothing was started")
	}
	for _, pid := range pids {
		if stat, err := processes.stat(pid); err == nil && stat[0] != "Z" {
			t.Errorf("process %d is still there: %v", pid, stat[:2])
		}
	}
	if _, err := os.Stat(st.dir); err == nil {
		t.Errorf("%s is still there", st.dir)
	}
}

// TestSaid: however much a process says before, what is looked for is found.
func TestSaid(t *testing.T) {
	t.Parallel()
	st := &stage{}
	defer func() { st.close() }()
	p, err := st.spawn(exec.Command("sh", "-c", `i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo line $i; done; echo url=x`))
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(50 * time.Millisecond)
	if url, err := p.find(servingAt); err != nil || url != "x" {
		t.Errorf("%q, %v", url, err)
	}
	if p, err = st.spawn(exec.Command("sh", "-c", `echo no configuration; exit 1`)); err != nil {
		t.Fatal(err)
	}
	if _, err := p.find(servingAt); err == nil || !strings.Contains(err.Error(), "no configuration") {
		t.Errorf("%v: why it ended is not said", err)
	}
}

func TestFlags(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ args, want string }{
		{"-workloads unary,idle -subjects floor,nginx -rounds 3", ""},
		{"-workloads unary,nothing", `-workloads: no "nothing"`},
		{"-subjects apache", `-subjects: no "apache"`},
		{"-rounds 0", "are 1 or more"},
		{"-time 1ms", "100ms or more"},
		{"unary", `unexpected "unary"`},
	} {
		_, _, err := parse(strings.Fields(test.args))
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.args, err, test.want)
		}
	}
}

// TestList has every name, and each only once.
func TestList(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := list(&out, options{}); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for line := range strings.Lines(out.String()) {
		name, what, _ := strings.Cut(strings.TrimSpace(line), " ")
		if seen[name] {
			t.Errorf("%s twice", name)
		}
		if strings.HasPrefix(line, " ") && strings.TrimSpace(what) == "" {
			t.Errorf("nothing is said of %s", name)
		}
		seen[name] = true
	}
	if len(seen) != len(workloads)+len(subjects)+2 {
		t.Errorf("%d names of %d", len(seen)-2, len(workloads)+len(subjects))
	}
}

// need is the path of a program, without which a test is skipped, or fails where all
// are required.
func need(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		testenv.Missing(t, "%v", err)
	}
	return path
}
