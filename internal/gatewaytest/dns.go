package gatewaytest

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// DNS answers for names as a test wants: answer is given the name, without the dot at its
// end, and how often its addresses have been asked for before. No addresses mean that
// there is no such name.
func DNS(t testing.TB, answer func(name string, before int) []netip.Addr) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &nameServer{answer: answer, asked: map[string]int{}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.serve(conn)
	}()
	t.Cleanup(func() {
		_ = conn.Close()
		<-done
	})
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

type nameServer struct {
	answer func(name string, before int) []netip.Addr

	mu    sync.Mutex
	asked map[string]int // lookups by name; each is one question of IPv4 and one of IPv6
}

func (s *nameServer) serve(conn net.PacketConn) {
	buffer := make([]byte, 1500)
	for {
		n, from, err := conn.ReadFrom(buffer)
		if err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(buffer[:n]) != nil || len(m.Questions) != 1 {
			continue
		}
		if packed, err := s.reply(m).Pack(); err == nil {
			_, _ = conn.WriteTo(packed, from)
		}
	}
}

func (s *nameServer) reply(m dnsmessage.Message) *dnsmessage.Message {
	q := m.Questions[0]
	r := &dnsmessage.Message{
		Header:    dnsmessage.Header{ID: m.ID, Response: true, Authoritative: true, RecursionDesired: m.RecursionDesired},
		Questions: m.Questions,
	}
	addresses := s.addresses(strings.TrimSuffix(q.Name.String(), "."), q.Type)
	if len(addresses) == 0 {
		r.RCode = dnsmessage.RCodeNameError
	}
	for _, ip := range addresses {
		header := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}
		switch {
		case q.Type == dnsmessage.TypeA && ip.Is4():
			r.Answers = append(r.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AResource{A: ip.As4()}})
		case q.Type == dnsmessage.TypeAAAA && ip.Is6():
			r.Answers = append(r.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AAAAResource{AAAA: ip.As16()}})
		}
	}
	return r
}

// addresses gives both questions of a lookup, in whatever order they come, one answer.
func (s *nameServer) addresses(name string, kind dnsmessage.Type) []netip.Addr {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := name + "/" + kind.String()
	before := s.asked[key]
	s.asked[key]++
	return s.answer(name, before)
}
