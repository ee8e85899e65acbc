package anomaly

import (
	"fmt"
	"net/netip"
	"time"
)

// Anomaly is something unusual that goes on, or went on.
type Anomaly struct {
	Detector string
	Caller          // who does it; empty where it is about an agent
	Agent    string // that the call was for with which it began, or that it is about
	Skill    string // that was unusual first
	What     string // of a card: what has changed
	Since    time.Time

	// Count is how many have been counted, Peak the most of them within a window, Refused
	// how many calls were throttled.
	Count, Refused uint64
	Peak           int
}

// Event says that an anomaly has begun or ended.
// Each anomaly has two: one when it begins and one, with Ended, when it is over.
type Event struct {
	Anomaly
	Ended bool
	Why   string // it ended: one of the words below
	At    time.Time
}

// Values of Event.Why.
const (
	quiet        = "quiet"        // there is less than half of what it takes
	settled      = "settled"      // somebody said so
	forgotten    = "forgotten"    // others needed the place
	reconfigured = "reconfigured" // the detector has other settings
	stopped      = "stopped"      // the gateway stops
)

// Caller is whom calls are counted for: a principal or, where nobody has shown who is
// calling, an address.
// Either Subject and Issuer or Address is set.
type Caller struct {
	Subject, Issuer string
	Address         string
}

// methodAnonymous is authn.Principal.Method of callers who showed nothing: all of them have one
// name, which would be the name of nobody.
const methodAnonymous = "anonymous"

// CallerOf is the caller that a principal stands for, authenticated by a method, or an
// address: all who show nothing are one principal.
// address is that of the client, as text; it is used only where nobody was authenticated.
func CallerOf(subject, issuer, method, address string) Caller {
	if subject == "" || method == methodAnonymous {
		return Caller{Address: address}
	}
	return Caller{Subject: subject, Issuer: issuer}
}

// named reports whether the caller has a name, which costs something to get; see key.
func (c *Caller) named() bool { return c.Subject != "" }

// ofAddress is an address as it is counted: who has one of version 6 has 2^64 of them.
// A household or a host usually gets a /64 (RFC 6177), so that counting single addresses of version
// 6 would count nothing.
func ofAddress(text string) netip.Addr {
	addr, err := netip.ParseAddr(text)
	if err != nil {
		return netip.Addr{}
	}
	// ::ffff:192.0.2.1 is 192.0.2.1, and a zone is only the name of a local interface.
	if addr = addr.Unmap().WithZone(""); addr.Is6() {
		if p, err := addr.Prefix(64); err == nil {
			return p.Addr()
		}
	}
	return addr
}

// Throttled is the error of Check: the caller's calls of this kind are refused for a
// while. The caller is told no more than that.
// After is for the header Retry-After.
type Throttled struct {
	Detector string
	After    time.Duration
}

// Error is for the record, which names the detector; the caller is told to come back later.
func (t *Throttled) Error() string {
	return fmt.Sprintf("throttled by telemetry.anomalies.%s", t.Detector)
}
