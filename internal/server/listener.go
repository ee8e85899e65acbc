package server

import (
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/server/clientip"
	"github.com/a2a-gateway/a2a-gateway/internal/server/flood"
	"github.com/a2a-gateway/a2a-gateway/internal/tcpio"
)

// reserve is how many connections above the limit are still told that there
// are too many; beyond it they are closed, for every one takes a descriptor.
const reserve = 64

// tellWithin is how long such a connection has for its request, so that those who send
// none do not keep others from being told.
const tellWithin = time.Second

// NoDescriptors reports whether an error is for want of file descriptors.
func NoDescriptors(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// listener counts connections and refuses what is too many. It puts TLS on them, and the
// strict reading of HTTP/1.1 or the allowance of HTTP/2, before they are served.
type listener struct {
	net.Listener
	server *Server
	tls    *handshakes  // nil without TLS
	shut   func() error // Close, which works once and then says the same

	mu    sync.Mutex
	total int
	peers map[netip.Addr]int
}

func newListener(l net.Listener, s *Server) *listener {
	own := &listener{Listener: l, server: s, shut: sync.OnceValue(l.Close), peers: make(map[netip.Addr]int)}
	if s.tls.Load() != nil {
		own.tls = newHandshakes()
		go own.secure()
	}
	return own
}

// closeDoor accepts no more. Who has come in already will be served.
func (l *listener) closeDoor() { _ = l.shut() } // Close will say it again

// Close ends handshakes as well. It may be called more than once.
func (l *listener) Close() error {
	if l.tls != nil {
		l.tls.end()
	}
	return l.shut()
}

// Accept returns the next connection that may be served, or may be told 503.
func (l *listener) Accept() (net.Conn, error) {
	if l.tls != nil {
		return l.tls.accept()
	}
	c, err := l.next()
	if err != nil {
		return nil, err
	}
	if !l.server.strict.H2C {
		return l.server.strict.Conn(c), nil
	}
	c.flood = l.server.flood.Any(c)
	return l.server.strict.Plain(c.flood), nil
}

// next is the next connection that is let in.
func (l *listener) next() (*conn, error) {
	for {
		raw, err := l.Listener.Accept()
		if err != nil {
			if NoDescriptors(err) && l.server.Refused != nil {
				l.server.Refused("descriptors")
			}
			return nil, err
		}
		tcp, ok := raw.(*net.TCPConn)
		if !ok { // cannot be: the listener is a TCP one
			_ = raw.Close()
			continue
		}
		c, limit := l.admit(tcp)
		if limit != "" && l.server.Refused != nil {
			l.server.Refused(limit)
		}
		if c == nil {
			_ = tcp.Close()
			continue
		}
		return c, nil
	}
}

// admit counts tcp in, or returns nil when it is to be closed. limit names the
// limit that was hit, if any.
func (l *listener) admit(tcp *net.TCPConn) (c *conn, limit string) {
	live := l.server.live.Load()
	var peer netip.Addr
	if addr, ok := tcp.RemoteAddr().(*net.TCPAddr); ok {
		peer = addr.AddrPort().Addr().Unmap().WithZone("")
	}
	c = &conn{Conn: tcpio.New(tcp), from: l}
	if !clientip.Contains(live.trusted, peer) { // a proxy speaks for many clients
		c.peer = network(peer)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case c.peer.IsValid() && l.peers[c.peer] >= live.limits.ConnectionsPerIP:
		return nil, "connectionsPerIP"
	case l.total >= live.budget.served+live.budget.refused:
		return nil, live.budget.limit
	case l.total >= live.budget.served:
		c.shed, limit = true, live.budget.limit
		time.AfterFunc(l.server.told, func() { _ = c.Close() }) // it may be closed already
	}
	l.total++
	if c.peer.IsValid() {
		l.peers[c.peer]++
	}
	return c, limit
}

// network is what one client has at its disposal: an IPv4 address, or the /64
// that an IPv6 subscriber gets at least.
func network(addr netip.Addr) netip.Addr {
	if addr.Is4() {
		return addr
	}
	p, _ := addr.Prefix(64) // 64 fits every IPv6 address
	return p.Addr()
}

// conn is an admitted connection.
type conn struct {
	tcpio.Conn
	from  *listener
	peer  netip.Addr // what it counts for; the zero Addr for a trusted proxy
	shed  bool       // above the limit: told so and closed
	once  sync.Once
	fresh atomic.Bool // no request has come

	reading, writing deadline

	tls   *tls.ConnectionState // nil without TLS
	flood *flood.Conn          // nil where HTTP/2 is not spoken
	two   bool                 // it has turned out to be spoken, in plaintext
}

// answered says that a call on the connection was answered.
func (c *conn) answered(r *http.Request) {
	if c.flood != nil && r.ProtoMajor == 2 && r.Context().Err() == nil {
		c.flood.Answered()
	}
}

// Close also gives the connection's place back.
func (c *conn) Close() error {
	c.once.Do(func() { c.from.leave(c.peer) })
	return c.TCPConn.Close()
}

// open is how many connections there are.
func (l *listener) open() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.total
}

func (l *listener) leave(peer netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.total--
	if !peer.IsValid() {
		return
	}
	if l.peers[peer]--; l.peers[peer] == 0 {
		delete(l.peers, peer)
	}
}

// connKey is where the context of a request has its connection.
type connKey struct{}

// admitted is what the listener has let in, beneath what it has put around; nil for a
// connection that a test has made.
func admitted(nc net.Conn) *conn {
	for {
		switch c := nc.(type) {
		case *conn:
			return c
		case interface{ NetConn() net.Conn }:
			nc = c.NetConn()
		default:
			return nil
		}
	}
}
