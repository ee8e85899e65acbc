// Package sockets has the listening sockets of the process: opened by itself, handed over by
// systemd (socket activation, sd_listen_fds(3)), or left open by the version of the program that
// was before, over an upgrade in place.
//
// An upgrade is an exec: the old program leaves its sockets open (Set.Hand) and names them in
// A2A_GATEWAY_SOCKETS, one a line,
//
//	public 7 :8443
//	status 8 127.0.0.1:9902
//
// which the new one reads (Inherited) and listens on (Set.Listen). Connections that come meanwhile
// wait in the kernel's queue, and nobody is refused. It imports nothing of this module.
package sockets

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
)

// Names of the sockets that a gateway listens on, as systemd's FileDescriptorName
// says them.
const (
	Public = "public"
	Status = "status"
	Admin  = "admin" // of this program's only

	Challenge = "challenge" // likewise: server.tls.acme.httpListen
)

// handed is the variable in which a process tells the one it turns into which
// listening sockets it has left open, one a line: name, descriptor, and the address
// of the configuration that it stands for.
//
// systemd's variables would not do here: their descriptors count from 3 on, where
// the Go runtime has its own.
const handed = "A2A_GATEWAY_SOCKETS"

// firstDescriptor is where systemd's descriptors begin (sd_listen_fds(3)).
const firstDescriptor = 3

// Set is the listening sockets of a process: those it was started with, and
// those it has opened. The zero value and nil were started with none.
type Set struct {
	mu    sync.Mutex
	given []given
	open  []opened
}

// given is a socket that waits to be listened on.
type given struct {
	name       string
	descriptor int
	address    string // that it was opened for; "" for any, where systemd has opened it
}

// opened is a socket that is listened on.
type opened struct {
	name, address string
	listener      net.Listener
}

// Inherited takes over the sockets that this process was started with: by systemd
// (socket activation), or by itself before it became a new version. A socket of
// systemd's that is the only one, or is not named otherwise, is the public one. The
// environment does not tell of them any more: they are for nobody that this process
// starts.
func Inherited() (*Set, error) {
	env := make(map[string]string)
	for _, key := range []string{handed, "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"} {
		env[key] = os.Getenv(key)
		if err := os.Unsetenv(key); err != nil {
			return nil, err
		}
	}
	if lines := env[handed]; lines != "" {
		all, err := parseHanded(lines)
		return &Set{given: all}, err
	}
	// sd_listen_fds(3): the variables may be inherited by a process that they are not for.
	if env["LISTEN_PID"] != strconv.Itoa(os.Getpid()) {
		return &Set{}, nil // they were for the process that started this one
	}
	all, err := parseActivation(env["LISTEN_FDS"], env["LISTEN_FDNAMES"])
	return &Set{given: all}, err
}

// parseHanded reads what hand has written.
func parseHanded(lines string) ([]given, error) {
	var all []given
	for line := range strings.SplitSeq(lines, "\n") {
		words := strings.SplitN(line, " ", 3)
		if len(words) != 3 {
			return nil, fmt.Errorf("%s: %q is not a name, a descriptor and an address", handed, line)
		}
		n, err := strconv.ParseUint(words[1], 10, 31)
		if err != nil || n < firstDescriptor {
			return nil, fmt.Errorf("%s: %q is not a descriptor", handed, words[1])
		}
		all = append(all, given{words[0], int(n), words[2]})
	}
	return all, nil
}

// mostGiven is more sockets than a unit has use for.
const mostGiven = 64

// parseActivation reads what systemd says.
func parseActivation(count, names string) ([]given, error) {
	n, err := strconv.ParseUint(count, 10, 31)
	if err != nil || n > mostGiven {
		return nil, fmt.Errorf("LISTEN_FDS: %q is not a number of sockets up to %d", count, mostGiven)
	}
	called := strings.Split(names, ":")
	var all []given
	taken := map[string]bool{}
	for i := range int(n) {
		name := Public
		if i < len(called) && called[i] == Status && n > 1 {
			name = Status
		}
		if taken[name] {
			return nil, fmt.Errorf("LISTEN_FDNAMES: %q: more than one socket is %q; "+
				"write FileDescriptorName=public or status into each", names, name)
		}
		taken[name] = true
		all = append(all, given{name: name, descriptor: firstDescriptor + i})
	}
	return all, nil
}

// Listen returns the socket of a name: the one that was given, or a new one at the
// address. A socket of systemd's is good for any address, for the unit says where to
// listen; one of the process's own only for the address that it was opened for, so
// that a configuration with another one is obeyed.
func (s *Set) Listen(name, address string) (net.Listener, error) {
	if s == nil {
		return net.Listen("tcp", address)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l, err := s.take(name, &address)
	if err == nil && l == nil {
		l, err = net.Listen("tcp", address)
	}
	if err != nil {
		return nil, err
	}
	s.open = append(s.open, opened{name, address, l})
	return l, nil
}

// take returns the socket that was given under a name, nil for none that fits, and
// says which address it stands for.
func (s *Set) take(name string, address *string) (net.Listener, error) {
	for i, g := range s.given {
		if g.name != name {
			continue
		}
		s.given = append(s.given[:i:i], s.given[i+1:]...)
		file := os.NewFile(uintptr(g.descriptor), name)
		if file == nil {
			return nil, fmt.Errorf("socket %s: descriptor %d is not one", name, g.descriptor)
		}
		defer file.Close() // the listener has a descriptor of its own
		if g.address != "" && g.address != *address {
			return nil, nil
		}
		l, err := net.FileListener(file)
		if err != nil {
			return nil, fmt.Errorf("socket %s: %w", name, err)
		}
		if _, ok := l.(*net.TCPListener); !ok {
			return nil, errors.Join(fmt.Errorf("socket %s: is not a TCP one", name), l.Close())
		}
		*address = g.address
		return l, nil
	}
	return nil, nil
}

// Hand leaves the sockets open for the program that this process is about to turn
// into, and returns the environment variable that tells it. Connections that come
// meanwhile wait in the system's queue. Only the last step before that program should
// come after it: what is left open stays so until the process ends.
func (s *Set) Hand() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	// One a line, as in "public 7 :8443": addresses hold colons, and no line ends.
	lines := make([]string, 0, len(s.open))
	for _, o := range s.open {
		fd, err := duplicate(o.listener)
		if err != nil {
			return "", fmt.Errorf("hand socket %s over: %w", o.name, err)
		}
		lines = append(lines, o.name+" "+strconv.Itoa(fd)+" "+o.address)
	}
	return handed + "=" + strings.Join(lines, "\n"), nil
}

// CloseRest closes sockets that were given and nobody has asked for. Connections to
// them would wait for ever.
func (s *Set) CloseRest() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range s.given {
		if file := os.NewFile(uintptr(g.descriptor), g.name); file != nil {
			_ = file.Close() // it was never used
		}
	}
	s.given = nil
}
