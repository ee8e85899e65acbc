package discovery

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"time"
)

// dns asks for the records of a name.
type dns struct {
	config  Config
	options Options
	every   time.Duration
	retry   time.Duration // after the first failure; it doubles up to every
}

// newDNS prepares to ask for the name that c has.
// The first retry comes after a second and not after the whole interval: most failures are a
// resolver that restarts.
func newDNS(c Config, o Options) *dns {
	d := &dns{config: c, options: o, every: c.DNS.Every.Std(), retry: leastEvery}
	if d.every == 0 {
		d.every = defaultEvery
	}
	if d.options.Resolver == nil {
		d.options.Resolver = net.DefaultResolver
	}
	return d
}

// Run implements Source.
//
// The interval is measured from answer to question, not by a ticker, so that slow answers cannot
// pile questions up.
func (d *dns) Run(ctx context.Context, found func([]Instance)) {
	k := newKeeper(d.config, d.options, found, "dns "+d.config.DNS.Name)
	failures, pause := 0, time.Duration(0)
	for {
		list, err := d.ask(ctx)
		if ctx.Err() != nil {
			return
		}
		k.settle(list, err)
		if failures++; !k.failing {
			failures, pause = 0, d.every
		} else {
			pause = backOff(d.retry, d.every, failures)
		}
		if !wait(ctx, pause) {
			return
		}
	}
}

// ask looks the name up once. That there is no such name, or none with such records, is
// an answer of none; that nobody could say is an error.
//
// NXDOMAIN and NODATA are the same for the caller. SERVFAIL and a timeout are failures, after
// which the list of before holds.
func (d *dns) ask(ctx context.Context) ([]Instance, error) {
	ctx, cancel := context.WithTimeout(ctx, d.config.Timeout.Std())
	defer cancel()
	look := d.addresses
	if d.config.DNS.Records == recordsSRV {
		look = d.services
	}
	list, err := look(ctx)
	if no, ok := errors.AsType[*net.DNSError](err); ok && no.IsNotFound {
		return nil, nil
	}
	return list, err
}

// networks are DNS.Family in the resolver's words.
var networks = map[string]string{"": "ip", familyAny: "ip", family4: "ip4", family6: "ip6"}

// addresses makes an instance of each A and AAAA record. IPv4 addresses that come mapped into
// IPv6 (::ffff:192.0.2.1) are unmapped, or one machine could count twice, and a zone
// (fe80::1%eth0) is cut off, as it means something on one machine only.
func (d *dns) addresses(ctx context.Context) ([]Instance, error) {
	c := d.config.DNS
	ips, err := d.options.Resolver.LookupNetIP(ctx, networks[c.Family], c.Name)
	if err != nil {
		return nil, err
	}
	list := make([]Instance, 0, len(ips))
	for _, ip := range ips {
		list = append(list, Instance{Address: withPort(ip.Unmap().WithZone(""), c.Port), Weight: 1})
	}
	return list, nil
}

// withPort gives "192.0.2.1" or, with a port, "192.0.2.1:8443". Without one the port of the
// agent's URL is dialled.
func withPort(ip netip.Addr, port int) string {
	if port == 0 {
		return ip.String()
	}
	return netip.AddrPortFrom(ip, uint16(port)).String() //nolint:gosec // a port, as was checked
}

// services takes the targets of the lowest priority. Those of higher ones are meant for
// when these are away, which is not known here.
func (d *dns) services(ctx context.Context) ([]Instance, error) {
	_, records, err := d.options.Resolver.LookupSRV(ctx, "", "", d.config.DNS.Name)
	if err != nil {
		return nil, err
	}
	var list []Instance
	for _, r := range records {
		if r.Priority != records[0].Priority { // the resolver sorts
			break
		}
		if r.Target == "." {
			continue // RFC 2782: there is decidedly no such service
		}
		// A weight of 0 is a small share beside others, and an equal one beside its likes.
		i, err := Instance{Address: net.JoinHostPort(r.Target, strconv.Itoa(int(r.Port))), Weight: int(r.Weight)}.canonical()
		if err != nil {
			return nil, fmt.Errorf("SRV record: %w", err)
		}
		list = append(list, i)
	}
	return list, nil
}
