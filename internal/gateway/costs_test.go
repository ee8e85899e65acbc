package gateway_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// The tests TestCosts… count what calls, events and streams take of a gateway that has everything on
// (newCostWorld), by what does not depend on how fast the machine is. Each has a table of limits, which
// keeps what has been reached.
//
// A limit that is exceeded is a question to whoever made the change: what is the new allocation, system
// call or goroutine for, and is it worth what it costs each call? If it is, the limit grows in the same
// commit, which says why. Whoever saves something moves the limit down to a twentieth above what is
// logged, or to what is logged where that is a whole number.

// costs are counts by what they are of.
type costs map[string]float64

const (
	// saved is the part of a limit below which a count asks for a lower one.
	saved = 0.85
	// byItself is up to where a limit is for what comes and goes whatever is called.
	byItself = 0.1
)

// hold fails the test where a limit is exceeded. What has no limit may not happen at all. A limit of
// something that is not counted fails too: with a name that is wrong it would hold nothing.
func (limits costs) hold(t *testing.T, got costs) {
	t.Helper()
	for _, what := range slices.Sorted(maps.Keys(got)) {
		limit := limits[what]
		switch n := got[what]; {
		case n > limit:
			t.Errorf("%s: %.4g, of at most %.4g", what, n, limit)
		case limit > byItself && n < limit*saved:
			t.Logf("%s: %.4g, of at most %.4g, which is to be lower", what, n, limit)
		default:
			t.Logf("%s: %.4g, of at most %.4g", what, n, limit)
		}
	}
	for what := range limits {
		if _, counted := got[what]; !counted {
			t.Errorf("%s: there is a limit, and nothing is counted", what)
		}
	}
}

// countCosts runs a test with each binding.
func countCosts(t *testing.T, limits map[string]costs, count func(t *testing.T, b costBinding) costs) {
	t.Helper()
	testenv.Long(t, "processes are started, and called a thousand times")
	if proxytest.RaceEnabled {
		t.Skip("the race detector allocates, and makes system calls, itself")
	}
	for _, b := range costBindings {
		t.Run(b.name, func(t *testing.T) { limits[b.name].hold(t, count(t, b)) })
	}
}
