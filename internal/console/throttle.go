package console

import (
	"fmt"
	"math"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
)

// Failures is admin.failures: how many wrong credentials and failed logins one client address may
// present before the gateway answers it with 429. It does not delay good credentials from the
// same address.
type Failures struct {
	// PerMinute is how many failures the gateway forgets per minute; default 30.
	PerMinute int `yaml:"perMinute"`
	// Burst is how many failures may come at once; default 20.
	Burst int `yaml:"burst"`
}

const (
	usualPerMinute = 30
	usualBurst     = 20
	mostFailures   = 1_000_000
	// mostBlamed are the addresses that are remembered. Where there are more, those that
	// have waited long enough are forgotten, or all: nobody is to hold up others by
	// having many addresses.
	mostBlamed = 4096
)

// defaults fills in what is not written.
func (f *Failures) defaults() {
	if f.PerMinute == 0 {
		f.PerMinute = usualPerMinute
	}
	if f.Burst == 0 {
		f.Burst = usualBurst
	}
}

// validate names the key below admin.
func (f Failures) validate() error {
	if f.PerMinute < 0 || f.PerMinute > mostFailures || f.Burst < 0 || f.Burst > mostFailures {
		return keypath.At(fmt.Errorf("want numbers from 1 to %d", mostFailures), "failures")
	}
	return nil
}

// throttle has a bucket for each address, kept as the time at which it will be full again.
// One time is all that a token bucket needs: the difference to now is how much is missing.
type throttle struct {
	mu   sync.Mutex
	full map[netip.Addr]time.Time
}

// charge takes one from the bucket of an address. A result above zero is the time after
// which there will be one again. With burst b and one token every e, the bucket of an
// address that has taken n tokens at once is full after n·e; a further one is refused where
// that would be more than b·e from now.
func (t *throttle) charge(from netip.Addr, f Failures, now time.Time) time.Duration {
	// How long it takes until one token has come back.
	every := time.Minute / time.Duration(f.PerMinute)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.full == nil {
		t.full = map[netip.Addr]time.Time{}
	}
	full := t.full[from]
	if full.Before(now) {
		full = now
	}
	if wait := full.Add(every).Sub(now) - every*time.Duration(f.Burst); wait > 0 {
		return wait
	}
	t.tidy(now)
	t.full[from] = full.Add(every)
	return 0
}

// tidy makes room for one more address. t.mu is held. Addresses whose bucket is full are
// forgotten first: they have nothing to wait for.
func (t *throttle) tidy(now time.Time) {
	if len(t.full) < mostBlamed {
		return
	}
	for from, full := range t.full {
		if full.Before(now) {
			delete(t.full, from)
		}
	}
	if len(t.full) >= mostBlamed {
		clear(t.full)
	}
}

// blame counts a failure of an address. An error says that there were too many. IPv4
// addresses count one by one, IPv6 ones by their first 64 bits. What is no address, such as
// that of a Unix socket, counts as one.
func (t *throttle) blame(ip string, f Failures) error {
	from, err := netip.ParseAddr(ip)
	if err != nil {
		from = netip.IPv6Unspecified()
	}
	if from = from.Unmap(); from.Is6() {
		p, _ := from.WithZone("").Prefix(64) // which is what one client has
		from = p.Addr()
	}
	wait := t.charge(from, f, time.Now())
	if wait <= 0 {
		return nil
	}
	seconds := strconv.Itoa(int(math.Ceil(wait.Seconds())))
	return &api.Refusal{
		Code: throttled, Message: "too many wrong credentials from this address (admin.failures)",
		Header: http.Header{"Retry-After": {seconds}},
	}
}
