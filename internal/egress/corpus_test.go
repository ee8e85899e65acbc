package egress_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/egress"
	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
)

// loopback is one address of 127.0.0.0/8 that everything may lead to, and counts who
// connects.
type loopback struct {
	port  string
	conns atomic.Int64
}

// listen serves on all addresses of this machine, of both kinds, with one port: whatever
// spelling of any of them gets through is seen.
func listen(t testing.TB) *loopback {
	t.Helper()
	l, err := net.Listen("tcp", ":0") // every address of this machine is meant
	if err != nil {
		t.Fatal(err)
	}
	b := &loopback{port: strconv.Itoa(l.Addr().(*net.TCPAddr).Port)}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	_ = s.Listener.Close()
	s.Listener = l
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			b.conns.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	return b
}

// number is the port for Options.
func (b *loopback) number(t testing.TB) uint16 {
	t.Helper()
	n, err := strconv.ParseUint(b.port, 10, 16)
	if err != nil {
		t.Fatal(err)
	}
	return uint16(n)
}

func corpus(t testing.TB, file, port string) []string {
	t.Helper()
	data, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for line := range strings.SplitSeq(strings.TrimSuffix(string(data), "\n"), "\n") {
		if strings.HasPrefix(line, "# ") {
			continue
		}
		if strings.HasPrefix(line, `"`) {
			if line, err = strconv.Unquote(line); err != nil {
				t.Fatal(err)
			}
		}
		list = append(list, strings.ReplaceAll(line, "{port}", port))
	}
	return list
}

func newClient(t testing.TB, o egress.Options) *egress.Client {
	t.Helper()
	c, err := egress.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

var home = netip.MustParseAddr("127.0.0.1")

// TestL41_NoSpellingLeadsInside sends to every spelling, with every name of DNS leading
// to this machine, its port allowed and plaintext too, so that the address alone is what
// there is to refuse.
func TestL41_NoSpellingLeadsInside(t *testing.T) {
	t.Parallel()
	b := listen(t)
	c := newClient(t, egress.Options{
		Plaintext: true, Ports: []uint16{b.number(t)},
		Resolver: gatewaytest.DNS(t, func(string, int) []netip.Addr { return []netip.Addr{home} }),
	})
	list := corpus(t, "refused.txt", b.port)
	if len(list) < 200 {
		t.Fatalf("only %d spellings", len(list))
	}
	for _, target := range list {
		answer, err := c.Send(t.Context(), http.MethodPost, target, nil, []byte("{}"))
		if !errors.Is(err, egress.ErrRefused) {
			t.Errorf("%q: got %v, %v", target, answer, err)
		}
		if _, err := c.Check(target); err != nil && !errors.Is(err, egress.ErrRefused) {
			t.Errorf("%q: Check says %v", target, err)
		}
	}
	if n := b.conns.Load(); n != 0 {
		t.Errorf("%d connections were made", n)
	}
	// The same machine is reached where that is allowed: the test sees what it looks for.
	open := newClient(t, egress.Options{AllowPrivate: true, Plaintext: true})
	for _, host := range []string{"127.0.0.1", "localhost"} {
		if a, err := open.Send(t.Context(), http.MethodPost, "http://"+host+":"+b.port+"/", nil, nil); err != nil || a.Status != 204 {
			t.Errorf("%s: %v, %v", host, a, err)
		}
	}
	if b.conns.Load() == 0 {
		t.Error("no connection was seen where one was made")
	}
}

// TestL41_PrivateIsNotEverything holds what is never allowed.
func TestL41_PrivateIsNotEverything(t *testing.T) {
	t.Parallel()
	c := newClient(t, egress.Options{AllowPrivate: true, Plaintext: true})
	for _, host := range []string{
		"169.254.169.254", "169.254.170.2", "100.100.100.200", "168.63.129.16", "0.0.0.0", "224.0.0.1", "255.255.255.255",
		"[::]", "[fe80::1]", "[fec0::1]", "[ff02::1]", "[fd00:ec2::254]", "[fd20:ce::254]", "[::ffff:127.0.0.1]",
		"[::ffff:a9fe:a9fe]", "[64:ff9b::a9fe:a9fe]", "[2002:a9fe:a9fe::]", "[64:ff9b:1::1]", "[2001::1]", "[::7f00:1]",
	} {
		if _, err := c.Check("http://" + host + "/"); !errors.Is(err, egress.ErrRefused) {
			t.Errorf("%s: %v", host, err)
		}
	}
	for _, host := range []string{"127.0.0.1", "10.0.0.1", "[::1]", "[fd00::1]", "localhost", "hooks", "hooks.internal", "100.64.0.1"} {
		if _, err := c.Check("http://" + host + ":8080/"); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
}

func TestCheckAccepts(t *testing.T) {
	t.Parallel()
	c := newClient(t, egress.Options{})
	for _, target := range corpus(t, "accepted.txt", "443") {
		if _, err := c.Check(target); err != nil {
			t.Errorf("%q: %v", target, err)
		}
	}
}

// TestL41_Rebinding is a name that is public when somebody looks and leads inside when
// it is dialled.
func TestL41_Rebinding(t *testing.T) {
	t.Parallel()
	b := listen(t)
	public := netip.MustParseAddr("9.9.9.9")
	for name, answers := range map[string][][]netip.Addr{
		"flip.example":  {{public}, {home}},
		"both.example":  {{public}, {public, home}},
		"order.example": {{public}, {home, public}},
		"six.example":   {{public}, {netip.MustParseAddr("::1")}},
		"map.example":   {{public}, {netip.MustParseAddr("::ffff:127.0.0.1")}},
		"meta.example":  {{public}, {netip.MustParseAddr("169.254.169.254")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := gatewaytest.DNS(t, func(_ string, before int) []netip.Addr { return answers[min(before, len(answers)-1)] })
			c := newClient(t, egress.Options{Plaintext: true, Ports: []uint16{b.number(t)}, Resolver: r})
			target := "http://" + name + ":" + b.port + "/"
			if _, err := c.Check(target); err != nil {
				t.Fatalf("before: %v", err)
			}
			if got, err := r.LookupNetIP(t.Context(), "ip", name); err != nil || len(got) != 1 || got[0].Unmap() != public {
				t.Fatalf("the first answer is %v, %v", got, err)
			}
			_, err := c.Send(t.Context(), http.MethodPost, target, nil, nil)
			var e *egress.Error
			if !errors.As(err, &e) || e.Why != egress.WhyAddress {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Cleanup(func() {
		if n := b.conns.Load(); n != 0 {
			t.Errorf("%d connections were made", n)
		}
	})
}

// TestL41_RedirectsAreAnswers: the target itself may be anything, and sends us inside.
func TestL41_RedirectsAreAnswers(t *testing.T) {
	t.Parallel()
	inside := listen(t)
	for _, status := range []int{301, 302, 303, 307, 308} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "http://127.0.0.1:"+inside.port+"/")
			w.Header().Set("Set-Cookie", "a=b")
			w.WriteHeader(status)
		}))
		defer s.Close()
		c := newClient(t, egress.Options{AllowPrivate: true, Plaintext: true})
		if a, err := c.Send(t.Context(), http.MethodPost, s.URL, nil, []byte("x")); err != nil || a.Status != status {
			t.Errorf("%d: %v, %v", status, a, err)
		}
	}
	if n := inside.conns.Load(); n != 0 {
		t.Errorf("%d redirects were followed", n)
	}
}

// TestL41_HostsThatAreListed are those alone, and still not those inside.
func TestL41_HostsThatAreListed(t *testing.T) {
	t.Parallel()
	b := listen(t)
	c := newClient(t, egress.Options{
		AllowHosts: []string{"Hooks.Example.com", "*.tenant.example", "9.9.9.9"}, Plaintext: true, Ports: []uint16{b.number(t), 443},
		Resolver: gatewaytest.DNS(t, func(string, int) []netip.Addr { return []netip.Addr{home} }),
	})
	for host, want := range map[string]egress.Why{
		"hooks.example.com": "", "HOOKS.example.COM": "", "a.tenant.example": "", "a.b.tenant.example": "", "9.9.9.9": "",
		"tenant.example": egress.WhyHost, "xtenant.example": egress.WhyHost, "a.hooks.example.com": egress.WhyHost,
		"hooks.example.com.evil.example": egress.WhyHost, "evilhooks.example.com": egress.WhyHost, "8.8.8.8": egress.WhyHost,
		"hooks.example.com.": egress.WhyMalformed,
	} {
		_, err := c.Check("https://" + host + "/")
		var e *egress.Error
		if errors.As(err, &e); want == "" && err != nil || want != "" && (e == nil || e.Why != want) {
			t.Errorf("%s: %v, want %q", host, err, want)
		}
	}
	if _, err := c.Send(context.Background(), http.MethodPost, "http://a.tenant.example:"+b.port+"/", nil, nil); !errors.Is(err, egress.ErrRefused) {
		t.Errorf("a listed name that leads inside: %v", err)
	}
	if n := b.conns.Load(); n != 0 {
		t.Errorf("%d connections were made", n)
	}
}

// FuzzCheck: what is accepted has one reading.
func FuzzCheck(f *testing.F) {
	for _, file := range []string{"refused.txt", "accepted.txt"} {
		for _, target := range corpus(f, file, "443") {
			f.Add(target)
		}
	}
	c := newClient(f, egress.Options{Plaintext: true})
	f.Fuzz(func(t *testing.T, target string) {
		u, err := c.Check(target)
		if err != nil {
			if !errors.Is(err, egress.ErrRefused) || len(err.Error()) > len(target)+100 {
				t.Fatalf("%q: %v", target, err)
			}
			return
		}
		// As the plainest reader has it: the host is between the slashes and the next of / ?.
		_, rest, _ := strings.Cut(target, "://")
		authority, _, _ := strings.Cut(rest, "/")
		authority, _, _ = strings.Cut(authority, "?")
		if strings.ContainsAny(authority, "@\\#% ") || authority != u.Host || strings.HasSuffix(u.Hostname(), ".") {
			t.Fatalf("%q: host %q, authority %q", target, u.Host, authority)
		}
		if ip, err := netip.ParseAddr(u.Hostname()); err == nil && (!ip.IsGlobalUnicast() || ip.IsPrivate() || ip.Is4In6()) {
			t.Fatalf("%q: %s is not public", target, ip)
		}
		if _, err := c.Check(u.String()); err != nil {
			t.Fatalf("%q: written again as %q: %v", target, u, err)
		}
	})
}
