package discovery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Instance is one place where an agent answers.
type Instance struct {
	// Address is host or host:port, in lower case. An IPv6 address has brackets only if a port
	// follows.
	Address string `yaml:"address"`
	// Weight is the instance's share of calls relative to the others, at least 1.
	Weight int `yaml:"weight"`
	// Zone is where the instance runs, if the source says so.
	Zone string `yaml:"zone"`
}

// HostPort is the address with a port: the given one, where the source named none.
func (i Instance) HostPort(port string) string {
	if _, _, err := net.SplitHostPort(i.Address); err == nil {
		return i.Address
	}
	return net.JoinHostPort(i.Address, port)
}

// Source finds instances until ctx ends, and returns then.
//
// It calls found as soon as it knows a list, and again whenever the list is another one:
// sorted by address, without duplicates, never from two goroutines at once. The list
// is found's to keep. Nothing is found before the first good answer, which may be a list
// of none; Options.OnError tells what is wrong meanwhile. After it, a failing source
// keeps its last good list, and an answer of none counts when it was repeated
// (Config.EmptyAfter).
type Source interface {
	Run(ctx context.Context, found func([]Instance))
}

// maxWeight is what an SRV record can say.
const maxWeight = 1<<16 - 1

// maxZone is far beyond what clouds call their zones.
const maxZone = 128

// canonical checks an instance and writes it in the one form that lists are compared in.
//
// A weight of 0 is taken for one that was left out. The zone is bounded and printable because it
// is written into logs.
func (i Instance) canonical() (Instance, error) {
	address, err := parseAddress(i.Address)
	if err != nil {
		return Instance{}, err
	}
	i.Address = address
	if i.Weight == 0 {
		i.Weight = 1
	}
	if i.Weight < 1 || i.Weight > maxWeight {
		return Instance{}, fmt.Errorf("weight %d of %s: want 1 to %d", i.Weight, address, maxWeight)
	}
	if len(i.Zone) > maxZone || strings.ContainsFunc(i.Zone, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return Instance{}, fmt.Errorf("zone of %s: want at most %d printable characters without blanks", address, maxZone)
	}
	return i, nil
}

// parseAddress reads host or host:port.
//
// The port loses leading zeros, the host its capitals and last dot. A URL is told apart in the
// error, as that is the usual mistake: "https://10.0.0.1:8443".
func parseAddress(s string) (string, error) {
	host, port := s, ""
	if ip, err := netip.ParseAddr(s); err == nil {
		return parseHost(ip.String())
	}
	if strings.Contains(s, ":") {
		var err error
		if host, port, err = net.SplitHostPort(s); err != nil {
			return "", fmt.Errorf("address %.100q: want host or host:port; IPv6 with a port in brackets", s)
		}
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return "", fmt.Errorf("address %.100q: want host or host:port, not a URL, with a port from 1 to 65535", s)
		}
		port = strconv.FormatUint(n, 10)
	}
	host, err := parseHost(host)
	if err != nil {
		return "", fmt.Errorf("address %.100q: %w", s, err)
	}
	if port == "" {
		return host, nil
	}
	return net.JoinHostPort(host, port), nil
}

// parseHost admits IP literals and names of the letters that names in DNS are made of.
//
// Underscores are let through, which RFC 1123 does not have: names of SRV records and of
// containers have them.
func parseHost(s string) (string, error) {
	if ip, err := netip.ParseAddr(s); err == nil {
		if ip.Zone() != "" {
			return "", errors.New("an address with a zone means something on one machine only")
		}
		return ip.Unmap().String(), nil
	}
	name := strings.ToLower(strings.TrimSuffix(s, "."))
	if name == "" || len(name) > 253 {
		return "", errors.New("want a name of 1 to 253 characters")
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 {
			return "", errors.New("want labels of 1 to 63 characters between dots")
		}
	}
	if strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '.' && r != '_'
	}) {
		return "", errors.New("want a name of letters, digits, hyphens and dots, or an IP address")
	}
	return name, nil
}

// ordered sorts by address and drops what is there twice.
//
// Of duplicates by address the one with the largest weight stays: two SRV records for one target
// are one instance.
func ordered(list []Instance) []Instance {
	slices.SortFunc(list, func(a, b Instance) int {
		return cmp.Or(strings.Compare(a.Address, b.Address), cmp.Compare(b.Weight, a.Weight), strings.Compare(a.Zone, b.Zone))
	})
	return slices.CompactFunc(list, func(a, b Instance) bool { return a.Address == b.Address })
}

// static is a list that never changes.
type static []Instance

// Static finds what is written down. An address that is there twice is a mistake.
func Static(list []Instance) (Source, error) {
	s, err := written(list)
	return static(s), err
}

// written checks a list that a person wrote.
func written(list []Instance) ([]Instance, error) {
	s := make([]Instance, 0, len(list))
	for n, i := range list {
		i, err := i.canonical()
		if err != nil {
			return nil, fmt.Errorf("[%d]: %w", n, err)
		}
		s = append(s, i)
	}
	if s = ordered(s); len(s) != len(list) {
		return nil, errors.New("an address is there twice; give one a higher weight instead")
	}
	return s, nil
}

// Run implements Source.
func (s static) Run(ctx context.Context, found func([]Instance)) {
	found(slices.Clone(s))
	<-ctx.Done()
}
