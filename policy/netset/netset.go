// Package netset holds sets of IP addresses that are written as addresses and networks, such
// as 192.0.2.7 and 10.0.0.0/8. Rules are limited to callers from them by their key sources.
//
// Parse reads a list and joins what overlaps or touches, so that Has finds an address among
// thousands of networks by a binary search, and Covers need look for each range of another set
// in a single one. IPv4 addresses and those that are mapped into IPv6 (::ffff:192.0.2.7,
// RFC 4291 §2.5.5.2) are the same here: a listener on both families sees the mapped form.
package netset

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
)

// Set is a set of addresses, kept as ranges that lie apart from one another and in order, so
// that one of thousands of networks is found in a few steps. Nil is empty.
type Set []addressRange

// addressRange holds all addresses from first to last, both of the same family.
type addressRange struct{ first, last netip.Addr }

// Parse reads addresses and networks and describes those that are none.
func Parse(list []string) (Set, []error) {
	var (
		all      Set
		problems []error
	)
	for i, text := range list {
		if text == "" {
			continue // reported with the empty entries of other lists
		}
		prefix, problem := parseSource(text)
		if problem != "" {
			problems = append(problems, keypath.Point(fmt.Errorf("%q %s", text, problem), i))
			continue
		}
		all = append(all, addressRange{prefix.Addr(), lastOf(prefix)})
	}
	return all.merge(), problems
}

// parseSource reads an address, or a network without bits beyond its length, which
// somebody would have meant something by.
func parseSource(text string) (netip.Prefix, string) {
	if !strings.Contains(text, "/") {
		a, err := netip.ParseAddr(text)
		switch {
		case err != nil:
			return netip.Prefix{}, "is no address or network, such as 10.0.0.0/8"
		case a.Zone() != "":
			return netip.Prefix{}, "has a zone, which no caller's address has"
		}
		a = a.Unmap()
		return netip.PrefixFrom(a, a.BitLen()), ""
	}
	p, err := netip.ParsePrefix(text) // refuses zones
	switch {
	case err != nil:
		return p, "is no address or network, such as 10.0.0.0/8"
	case p != p.Masked():
		return p, fmt.Sprintf("has bits beyond its length; write %s", p.Masked())
	case !p.Addr().Is4In6():
		return p, ""
	}
	// A mapped address without bits beyond the length has at least the 96 of its prefix.
	return netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96), ""
}

// lastOf is the last address of a network.
func lastOf(p netip.Prefix) netip.Addr {
	bytes := p.Addr().AsSlice()
	for bit := p.Bits(); bit < len(bytes)*8; bit++ {
		bytes[bit/8] |= 0x80 >> (bit % 8)
	}
	last, _ := netip.AddrFromSlice(bytes)
	return last
}

// merge puts the ranges in order and joins those that overlap or touch.
func (rs Set) merge() Set {
	slices.SortFunc(rs, func(a, b addressRange) int { return a.first.Compare(b.first) })
	var out Set
	for _, r := range rs {
		if n := len(out); n > 0 && out[n-1].reaches(r.first) {
			if out[n-1].last.Less(r.last) {
				out[n-1].last = r.last
			}
			continue
		}
		out = append(out, r)
	}
	return out
}

// reaches reports whether an address that is not before r is in it or right behind.
func (r addressRange) reaches(a netip.Addr) bool {
	return a.BitLen() == r.last.BitLen() && (!r.last.Less(a) || r.last.Next() == a)
}

// Has reports whether an address, which is neither mapped nor has a zone, is in one.
func (rs Set) Has(a netip.Addr) bool {
	i, found := slices.BinarySearchFunc(rs, a, func(r addressRange, a netip.Addr) int { return r.first.Compare(a) })
	return found || i > 0 && a.BitLen() == rs[i-1].last.BitLen() && !rs[i-1].last.Less(a)
}

// Covers reports whether every address of other is in rs.
func (rs Set) Covers(other Set) bool {
	return !slices.ContainsFunc(other, func(o addressRange) bool {
		return !slices.ContainsFunc(rs, func(r addressRange) bool {
			return !o.first.Less(r.first) && !r.last.Less(o.last) // the families are apart in this order
		})
	})
}
