package democmd

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"syscall"

	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
)

// demoAddress is the default of --address. The commands in the documents are written for it.
const demoAddress = "127.0.0.1:8080"

// listeners are where the gateway of the demonstration listens, as host:port. All of them move
// with --address, so that two demonstrations can run beside each other.
type listeners struct {
	Address, StatusAddress, AdminAddress string
	PublicURL                            string
}

// listenAt reads --address: a host, or host:port; a host alone has port 8080. The status and the
// admin listener stay on loopback, at their well-known ports while the gateway is at its own, else
// at free ones. An address of all interfaces lets others call the gateway, and the token of the
// console, which is on the screen, is still good on this machine only.
func (l *listeners) listenAt(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		host, port = address, "8080"
		if address == "" || net.ParseIP(host) == nil && strings.ContainsAny(host, ":[]/") {
			return fmt.Errorf("--address: %q is neither a host nor host:port", address)
		}
	}
	// Ports are numbers here, not names of services: "http" would depend on the machine.
	if n, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("--address: %q is not a port from 0 to 65535", port)
	} else if port = strconv.FormatUint(n, 10); port == "8080" {
		l.StatusAddress, l.AdminAddress = "9902", "9901"
	} else {
		l.StatusAddress, l.AdminAddress = "0", "0"
	}
	// The other listeners are on the same loopback address as the gateway where it is on one, ::1
	// or 127.0.0.2, so that several demonstrations can have one address each.
	near := "127.0.0.1"
	if ip := net.ParseIP(host); ip != nil && ip.IsLoopback() {
		near = host
	}
	l.Address = net.JoinHostPort(host, port)
	l.StatusAddress, l.AdminAddress = net.JoinHostPort(near, l.StatusAddress), net.JoinHostPort(near, l.AdminAddress)
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = near // every address of the machine, and this one
	}
	if port == "0" {
		port = "8080" // any number: the bound port takes its place
	}
	// What cards send clients to.
	l.PublicURL = "http://" + net.JoinHostPort(host, port)
	return nil
}

// taken says what can be done about a port that somebody else has: the error names the listener
// and the address. It makes exit code 2 of it, since another flag mends it.
func taken(err error) error {
	if !errors.Is(err, syscall.EADDRINUSE) {
		return err
	}
	return verb.Usage(fmt.Errorf("%w\nChoose another port with --address, as in --address 127.0.0.1:8090, and the console and the status listener "+
		"pick free ones; with --address 127.0.0.1:0 all of them do", err))
}
