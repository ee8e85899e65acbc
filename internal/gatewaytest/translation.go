package gatewaytest

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// RunTranslations is the differential test of translation. Every client calls
// every agent that speaks another version or binding, through a gateway, and
// gets the results that it gets directly from an agent of its own side: the wire
// differs, what it says does not. Where that cannot be, [losses] says why.
//
// start is called once, with all agents running, one of each flavour; it starts
// the gateway in front of them, with push mode passthrough. Callers go by the
// names of [AllFlavours]; those of 0.3 over gRPC say only by their credential or
// the authority which agent they mean. Under the race detector it is a third of the
// pairs, of every client and every agent.
func RunTranslations(t *testing.T, start func(t *testing.T, agents []*Agent) Gateway) {
	t.Helper()
	var agents []*Agent
	for _, f := range AllFlavours() {
		agents = append(agents, Start(t, f))
	}
	gateway := start(t, agents)
	direct := standards(t)
	var c comparison
	var ran atomic.Int64
	paired := int64(0)
	t.Run("through", func(t *testing.T) {
		for i, caller := range AllFlavours() {
			for j, agent := range agents {
				p := pairing{caller, agent.Flavour}
				if caller.sameSide(agent.Flavour) {
					continue
				}
				paired++
				if !Sampled(i, j) {
					continue
				}
				t.Run(p.String(), func(t *testing.T) {
					t.Parallel()
					standard := direct[p.standard().String()]()
					translated(t, p, gateway.open(t, caller.sdk(), caller, agent.ID), standard, &c)
					ran.Add(1)
				})
			}
		}
	})
	for i, l := range losses {
		if paired == ran.Load() && !c.needed[i] { // all have run, and none was left out
			t.Errorf("nothing is lost any more where this was: %s", l.why)
		}
	}
}

// Sampled reports whether the pair in row i and column j of a matrix is run: every one,
// but for one in three under the race detector and with -short. Under the detector a pair takes
// ten times as long, and one is as likely to show a race as its neighbours; what the pairs say
// is compared without it. Each row and column of three or more has some.
func Sampled(i, j int) bool {
	return !sampled && !testing.Short() || (i+j)%3 == 0
}

// translated runs the operations of a pairing and compares them with its standard.
func translated(t *testing.T, p pairing, s *session, standard map[string][]string, c *comparison) {
	t.Helper()
	for _, op := range Operations() {
		if !p.caller.can(op) {
			continue
		}
		if diff := c.diff(p, op, standard[op.Name], transcribe(s, op)); diff != "" {
			t.Errorf("%s: translated it differs (-own side +translated):\n%s", op.Name, diff)
		}
	}
}

// sdk is the client implementation that is the flavour's other end.
func (f Flavour) sdk() SDK {
	sdks := f.SDKs()
	if strings.HasPrefix(f.Name, "go03-") {
		return Go03
	}
	return sdks[0]
}

// can reports whether a client of the flavour has the operation.
func (f Flavour) can(op Operation) bool { return !op.List || speaks(f.Version, "1.0") }

// pairing is a client of one flavour in front of an agent of another.
type pairing struct{ caller, agent Flavour }

func (p pairing) String() string { return p.caller.Name + " to " + p.agent.Name }

// standard is whose results the pairing must reproduce: those of the caller on
// an agent of its own side, on the same SDK as the agent if there is one, since
// SDKs differ too. 0.1 says so much less that the results of 0.1 are the
// standard for all that it takes part in.
func (p pairing) standard() pairing {
	if speaks(p.agent.Version, "0.1") {
		return pairing{p.agent, p.agent}
	}
	for _, f := range AllFlavours() {
		old := strings.HasPrefix(f.Name, "go03-")
		if f.sameSide(p.caller) && old == strings.HasPrefix(p.agent.Name, "go03-") {
			return pairing{p.caller, f}
		}
	}
	return pairing{p.caller, p.caller}
}

// standards are the results of every client on the agents of its own side, by
// pairing, found when first asked for.
func standards(t *testing.T) map[string]func() map[string][]string {
	all := map[string]func() map[string][]string{}
	for _, caller := range AllFlavours() {
		for _, agent := range AllFlavours() {
			if !caller.sameSide(agent) {
				continue
			}
			all[pairing{caller, agent}.String()] = sync.OnceValue(func() map[string][]string {
				s := open(t, caller.sdk(), caller, Start(t, agent).URL, nil, nil)
				results := map[string][]string{}
				for _, op := range Operations() {
					if caller.can(op) {
						results[op.Name] = transcribe(s, op)
					}
				}
				return results
			})
		}
	}
	return all
}

// transcribe gives the results of an operation and, of the wire, the codes of
// errors, which clients do not all tell apart.
func transcribe(s *session, op Operation) []string {
	results, wire := s.do(op)
	for i, line := range results {
		results[i] = strings.ReplaceAll(line, megabyteText(), "<megabyte>")
	}
	for _, line := range wire {
		if strings.HasPrefix(line, "wire: error") {
			results = append(results, line)
		}
	}
	return results
}

// comparison compares conversations and finds out which losses that takes.
type comparison struct {
	mu     sync.Mutex // guards needed
	needed [len(losses)]bool
}

// diff gives the difference between what is expected of a pairing, given the
// results that are its standard, and what happened.
func (c *comparison) diff(p pairing, op Operation, standard, happened []string) string {
	found := compare(p, op, standard, happened, -1)
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, l := range losses {
		if !c.needed[i] && l.concerns(p, op) {
			c.needed[i] = found != "" || compare(p, op, standard, happened, i) != ""
		}
	}
	return found
}

// compare applies the losses, but for one.
func compare(p pairing, op Operation, standard, happened []string, without int) string {
	sorted := edited(func(map[string]any) {})
	want, got := sorted(standard), sorted(happened)
	for i, l := range losses {
		if i == without || !l.concerns(p, op) {
			continue
		}
		if l.want != nil {
			want = l.want(want)
		}
		if l.got != nil {
			got = l.got(got)
		}
	}
	want = op.comparable(want, names{map[string]string{}})
	got = op.comparable(got, names{map[string]string{}})
	return cmp.Diff(toldMore(want, got), got)
}

// toldMore is want, with the errors that the SDK could name only in what happened:
// an agent's errors may have a shape from which it cannot tell, the gateway's have
// the same code in one from which it can.
func toldMore(want, got []string) []string {
	want = slices.Clone(want)
	for i, line := range want {
		if i < len(got) && strings.HasSuffix(line, ": error") && strings.HasPrefix(got[i], line) {
			want[i] = got[i]
		}
	}
	return want
}
