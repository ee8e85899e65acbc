package discovery

import (
	"context"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// zone is a name server on this machine with one answer for everything of a type.
type zone struct {
	t    *testing.T
	conn net.PacketConn

	mu     sync.Mutex
	code   dnsmessage.RCode
	silent bool
	a      []string // IP addresses
	srv    []dnsmessage.SRVResource
	asked  int
	dialed []net.Conn // the resolver leaves them to their time-outs
	over   bool       // the test is, though a lookup that nobody waits for may still dial
}

func newZone(t *testing.T) *zone {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	z, done := &zone{t: t, conn: conn}, make(chan struct{})
	go func() {
		defer close(done)
		z.serve()
	}()
	t.Cleanup(func() {
		_ = conn.Close()
		<-done
		z.mu.Lock()
		defer z.mu.Unlock()
		z.over = true
		for _, c := range z.dialed {
			_ = c.Close()
		}
	})
	return z
}

func (z *zone) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, "udp", z.conn.LocalAddr().String())
		if err != nil {
			return nil, err
		}
		z.mu.Lock()
		defer z.mu.Unlock()
		if z.over {
			_ = conn.Close()
			return nil, net.ErrClosed
		}
		z.dialed = append(z.dialed, conn)
		return conn, nil
	}}
}

func (z *zone) set(change func()) {
	z.mu.Lock()
	defer z.mu.Unlock()
	change()
}

func (z *zone) serve() {
	buf := make([]byte, 4096)
	for {
		n, from, err := z.conn.ReadFrom(buf)
		if err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(buf[:n]) != nil || len(m.Questions) != 1 {
			continue
		}
		if out, ok := z.answer(m); ok {
			_, _ = z.conn.WriteTo(out, from)
		}
	}
}

func (z *zone) answer(m dnsmessage.Message) ([]byte, bool) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.asked++
	q := m.Questions[0]
	m.Response, m.RecursionAvailable, m.RCode, m.Additionals = true, true, z.code, nil
	add := func(body dnsmessage.ResourceBody) {
		m.Answers = append(m.Answers, dnsmessage.Resource{
			Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class, TTL: 60}, Body: body})
	}
	for _, a := range z.a {
		switch ip := net.ParseIP(a); {
		case q.Type == dnsmessage.TypeA && ip.To4() != nil:
			add(&dnsmessage.AResource{A: [4]byte(ip.To4())})
		case q.Type == dnsmessage.TypeAAAA && ip.To4() == nil:
			add(&dnsmessage.AAAAResource{AAAA: [16]byte(ip)})
		}
	}
	for _, s := range z.srv {
		if q.Type == dnsmessage.TypeSRV {
			add(&s)
		}
	}
	if z.code != dnsmessage.RCodeSuccess {
		m.Answers = nil
	}
	out, err := m.Pack()
	if err != nil {
		z.t.Errorf("pack: %v", err)
	}
	return out, !z.silent
}

// ask runs a DNS source that asks often.
func (z *zone) ask(d DNS, emptyAfter int) *observed {
	z.t.Helper()
	o := &observed{t: z.t}
	options := o.options()
	options.Resolver = z.resolver()
	d.Name = "agents.example."
	s, err := New(Config{DNS: &d, EmptyAfter: emptyAfter}, options)
	if err != nil {
		z.t.Fatal(err)
	}
	source := s.(*dns)
	source.every, source.retry = 5*time.Millisecond, time.Millisecond
	o.run(s)
	return o
}

func TestDNSAddresses(t *testing.T) {
	t.Parallel()
	z := newZone(t)
	z.a = []string{"10.0.0.2", "10.0.0.1", "2001:db8::1"}
	o := z.ask(DNS{Port: 8080}, 0)
	o.now("10.0.0.1:8080", "10.0.0.2:8080", "[2001:db8::1]:8080")
	z.set(func() { z.a = []string{"10.0.0.3", "10.0.0.2"} })
	o.now("10.0.0.2:8080", "10.0.0.3:8080")
	six := z.ask(DNS{Family: family6}, 0)
	z.set(func() { z.a = append(z.a, "2001:db8::7") })
	six.now("2001:db8::7")
	o.stop()
	if lists, errs := o.count(); lists > 4 || errs != 0 {
		t.Errorf("told %d lists and %d errors of a source that changed twice", lists, errs)
	}
}

// TestDNSNoneAndFailure tells a name that is not there from a server that cannot say.
func TestDNSNoneAndFailure(t *testing.T) {
	t.Parallel()
	z := newZone(t)
	z.a = []string{"10.0.0.1"}
	o := z.ask(DNS{}, 3)
	o.now("10.0.0.1")

	z.set(func() { z.code = dnsmessage.RCodeServerFailure })
	o.fails("server misbehaving")
	before := 0
	z.set(func() { before = z.asked })
	o.until("more questions", func() bool { z.mu.Lock(); defer z.mu.Unlock(); return z.asked > before+30 })
	if lists, _ := o.count(); lists != 1 {
		t.Errorf("a failing server changed the list")
	}
	if n := o.logged("cannot be found out"); n != 1 {
		t.Errorf("an outage is %d lines", n)
	}
	z.set(func() { z.code = dnsmessage.RCodeSuccess })
	o.works()
	if n := o.logged("found out again"); n != 1 {
		t.Errorf("the end of an outage is %d lines", n)
	}

	z.set(func() { z.code = dnsmessage.RCodeNameError })
	o.now()
	z.set(func() { z.code, z.a = dnsmessage.RCodeSuccess, []string{"10.0.0.9"} })
	o.now("10.0.0.9")
	z.set(func() { z.a = nil }) // the name is there, without such records
	o.now()
}

// TestDNSBelievesNoneAtTheSecondTime asks by hand, so that no answer is missed.
func TestDNSBelievesNoneAtTheSecondTime(t *testing.T) {
	t.Parallel()
	z := newZone(t)
	z.a = []string{"10.0.0.1"}
	o := &observed{t: t}
	options := o.options()
	options.Resolver = z.resolver()
	s, err := New(Config{DNS: &DNS{Name: "agents.example."}}, options)
	if err != nil {
		t.Fatal(err)
	}
	d := s.(*dns)
	var lists int
	k := newKeeper(d.config, d.options, func([]Instance) { lists++ }, "test")
	for i, want := range []int{1, 1, 2} {
		if i == 1 {
			z.set(func() { z.code = dnsmessage.RCodeNameError })
		}
		list, err := d.ask(t.Context())
		if k.settle(list, err); err != nil || lists != want {
			t.Fatalf("answer %d: %v, %d lists, want %d", i, err, lists, want)
		}
	}
	if o.logged("until that is said again") != 1 {
		t.Error("no line says that an answer of none was not believed")
	}
}

func TestDNSServices(t *testing.T) {
	t.Parallel()
	z := newZone(t)
	target := func(priority, weight, port uint16, name string) dnsmessage.SRVResource {
		return dnsmessage.SRVResource{Priority: priority, Weight: weight, Port: port, Target: dnsmessage.MustNewName(name)}
	}
	z.srv = []dnsmessage.SRVResource{target(2, 1, 1, "spare.example."), target(1, 0, 9001, "B.example."), target(1, 5, 9000, "a.example.")}
	o := z.ask(DNS{Records: recordsSRV}, 1)
	o.now("a.example:9000*5", "b.example:9001")
	z.set(func() { z.srv = z.srv[:1] })
	o.now("spare.example:1")
	z.set(func() { z.srv = []dnsmessage.SRVResource{target(0, 0, 0, ".")} })
	o.now()
	z.set(func() { z.srv = []dnsmessage.SRVResource{target(0, 0, 0, "a.example.")} })
	o.fails("SRV record")
}

// TestDNSSilence has a server that says nothing.
func TestDNSSilence(t *testing.T) {
	t.Parallel()
	z := newZone(t)
	z.silent = true
	o := &observed{t: t}
	options := o.options()
	options.Resolver = z.resolver()
	s, err := New(Config{DNS: &DNS{Name: "agents.example."}, Timeout: 20_000_000}, options)
	if err != nil {
		t.Fatal(err)
	}
	o.run(s)
	o.until("failure", func() bool { return len(o.errs) > 0 })
	if lists, _ := o.count(); lists != 0 {
		t.Error("a list was told")
	}
	if o.mu.Lock(); !strings.Contains(o.errs[0].Error(), "timeout") {
		t.Error(o.errs[0])
	}
	o.mu.Unlock()
}
