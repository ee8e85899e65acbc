package e2e

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/console"
)

// soak is how long a program that takes as long as one likes is to run: as E2E_SOAK
// says, but not longer than most; without it, the short form's time.
func soak(t *testing.T, short, most time.Duration) (run time.Duration, long bool) {
	t.Helper()
	said := os.Getenv("E2E_SOAK")
	if said == "" {
		return short, false
	}
	d, err := time.ParseDuration(said)
	if err != nil {
		t.Fatalf("E2E_SOAK: %v", err)
	}
	return min(d, most), true
}

// endless is for soaks that find more the longer they take.
const endless = math.MaxInt64

// kills is how often a program kills what it looks at: as A2A_GATEWAY_TEST_KILLS says;
// without it, as often as the short form does.
func kills(t *testing.T, short int) int {
	t.Helper()
	said := os.Getenv("A2A_GATEWAY_TEST_KILLS")
	if said == "" {
		return short
	}
	n, err := strconv.Atoi(said)
	if err != nil {
		t.Fatalf("A2A_GATEWAY_TEST_KILLS: %v", err)
	}
	return n
}

// place is a running gateway with what is needed to watch it.
type place struct {
	*process
	base, status string
	config       string
	client       *http.Client
}

// serveFleet starts a gateway with these agents (entries of the list), with lines more
// below server: and sections more beside it. Everybody may call everybody.
func serveFleet(t *testing.T, server, sections string, agents ...string) *place {
	t.Helper()
	config := filepath.Join(t.TempDir(), "config.yaml")
	write(t, config, fleetFile("127.0.0.1:0", server, sections, agents...))
	return openPlace(t, config)
}

// fleetFile is the configuration of serveFleet.
func fleetFile(address, server, sections string, agents ...string) string {
	if !strings.Contains(sections, "authn:") {
		sections += "\nauthn: {anonymous: true}"
	}
	if !strings.Contains(sections, "policy:") {
		sections += "\npolicy: {rules: [{name: all, effect: allow, agents: [\"*\"]}]}"
	}
	if !strings.Contains(server, "limits:") { // the machine has more to do than this
		server += "\n  limits: {delay: 1h}"
	}
	return fmt.Sprintf(`server:
  address: %q
  statusAddress: "127.0.0.1:0"
  publicURL: "http://127.0.0.1"
  dataDir: data
%s
%s
agents:
  - %s
`, address, server, sections, strings.Join(agents, "\n  - "))
}

// openPlace serves a configuration, and waits until its agents can be called. When
// the test is over nothing of its calls may be left (settles).
func openPlace(t *testing.T, config string) *place {
	t.Helper()
	p := &place{process: start(t, "serve", "-c", config), config: config}
	line := p.await(`"msg":"serving"`)
	p.base, p.status = part(line, "url"), part(line, "status_url")
	transport := &http.Transport{MaxIdleConnsPerHost: 1000}
	t.Cleanup(transport.CloseIdleConnections)
	p.client = &http.Client{Transport: transport, Timeout: 25 * time.Second}
	if before, ok := p.held(); ok {
		t.Cleanup(func() { p.settles(before) })
	}
	return p
}

// caller calls one of the agents.
func (p *place) caller(agent string) *caller {
	return &caller{url: p.base + "/agents/" + agent, client: p.client}
}

// eventually waits until something holds.
func eventually(t *testing.T, what string, within time.Duration, holds func() bool) time.Duration {
	t.Helper()
	begun := time.Now()
	for !holds() {
		if time.Since(begun) > within {
			t.Fatalf("not within %v: %s", within, what)
		}
		time.Sleep(10 * time.Millisecond)
	}
	return time.Since(begun)
}

// metric is a series of /metrics by its name and labels as they are printed, -1 where
// there is none.
func (p *place) metric(series string) float64 {
	p.t.Helper()
	text, err := p.scrape()
	if err != nil {
		p.t.Fatal(err)
	}
	return value(text, series)
}

// scrape reads /metrics.
func (p *place) scrape() ([]byte, error) {
	resp, err := p.client.Get(p.status + "/metrics")
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return io.ReadAll(resp.Body)
}

// value is that of a series in such a text.
func value(metrics []byte, series string) float64 {
	for line := range bytes.Lines(metrics) {
		if number, ok := strings.CutPrefix(string(line), series+" "); ok {
			if n, err := strconv.ParseFloat(strings.TrimSpace(number), 64); err == nil {
				return n
			}
		}
	}
	return -1
}

// live is how many KiB the gateway uses on its heap and stacks once its garbage is
// collected.
func (p *place) live() int {
	p.t.Helper()
	data := filepath.Join(filepath.Dir(p.config), "data")
	address, err := console.ReadAddress(filepath.Join(data, console.AddressFile))
	if err != nil {
		p.t.Fatal(err)
	}
	token, err := console.ReadToken(filepath.Join(data, console.TokenFile))
	if err != nil {
		p.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, "http://"+address+"/debug/pprof/heap?gc=1&debug=1", nil)
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token.Reveal())
	resp, err := p.client.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	var bytes int
	for _, name := range []string{"# HeapAlloc = ", "# Stack = "} {
		_, rest, _ := strings.Cut(string(text), name)
		n, err := strconv.Atoi(strings.FieldsFunc(rest+" ", func(r rune) bool { return r < '0' || r > '9' })[0])
		if err != nil {
			p.t.Fatalf("%s, no %q: %.300s", resp.Status, name, text)
		}
		bytes += n
	}
	return bytes >> 10
}

// rss is the memory of the process that is in use, in KiB.
func (p *place) rss() int {
	p.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		p.t.Skipf("memory of a process cannot be read here: %v", err)
	}
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	n, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		p.t.Fatal(err)
	}
	return n
}

// descriptors is how many files and sockets the process has open.
func (p *place) descriptors() int {
	p.t.Helper()
	list, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.cmd.Process.Pid))
	if err != nil {
		p.t.Skipf("descriptors of a process cannot be read here: %v", err)
	}
	return len(list)
}

// spent is the processor time that the process has taken. Linux counts it in hundredths
// of a second; elsewhere it is 0.
func (p *process) spent() time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest) // from the third on
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}

// got says that an agent has answered this very message.
func (a answer) got(agent, id string) bool {
	return a.err == nil && a.status == http.StatusOK && strings.Contains(a.body, fmt.Sprintf("%q", agent+" got "+id))
}
