package initfile

import (
	"cmp"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// The ports of a gateway's listeners, unless it is told others. They are those of the documents
// and of the deployments in deploy/.
const usualPort, usualConsole, usualStatus = 8080, 9901, 9902

// addresses fills in what the address to listen on says of the URL and of the other listeners. The
// public URL is what cards that the gateway serves send clients to; localhost is right for a first
// try only, and --public-url is for the rest.
func (b *beginning) addresses() error {
	host, port, err := net.SplitHostPort(b.Address)
	if err != nil {
		return fmt.Errorf("--address: %q is not host:port", b.Address)
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return fmt.Errorf("--address: %q is not a port from 0 to 65535", port)
	}
	b.besides(host, int(number))
	if number == 0 {
		number = usualPort // any number: the bound port takes its place
	}
	b.PublicURL = cmp.Or(b.PublicURL, fmt.Sprintf("http://localhost:%d", number))
	return nil
}

// besides chooses where the console and the status listener are: at their usual ports beside
// the usual one, else at free ones, since another gateway may be on this machine. The console
// is for this machine alone, and so is the status, whose metrics name agents, where nobody
// else can call them.
func (b *beginning) besides(host string, port int) {
	near, local := "127.0.0.1", host == "localhost"
	if ip := net.ParseIP(host); ip != nil && ip.IsLoopback() {
		near, local = host, true
	}
	console, status := usualConsole, usualStatus
	switch port {
	case usualPort:
	// A test, or a machine with many gateways: all ports are the system's choice.
	case 0:
		console, status = 0, 0
	default:
		console = freePort(near, port+1)
		status = freePort(near, max(console, port)+1)
	}
	at := func(host string, port int) string { return net.JoinHostPort(host, strconv.Itoa(port)) }
	b.ConsoleAddress, b.StatusAddress = at(near, console), at("", status)
	if local {
		b.StatusAddress = at(near, status)
	}
}

// freePort is the first port from a number on where nobody listens, of a hundred; 0, which is any,
// where there is none nearby. Ports below 1024 are passed over, as they need privileges. Another
// program may take the port before the gateway does, which then says so; nothing better can be
// promised by a file.
func freePort(host string, from int) int {
	from = max(from, 1024)
	for port := from; port < min(from+100, 1<<16); port++ {
		l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port))) //nolint:noctx // at once
		if err == nil {
			_ = l.Close()
			return port
		}
	}
	return 0
}

// keepIn chooses the data directory: beside the configuration and named after it, since no two
// gateways can share one: config.yaml has data, eu.yaml has eu-data. Where the environment gives a
// service one of its own (STATE_DIRECTORY, as systemd and the image do), that counts, and the file
// says nothing.
func (b *beginning) keepIn(path string) {
	if os.Getenv("STATE_DIRECTORY") != "" {
		return
	}
	name := filepath.Base(path)
	b.DataDir = "data"
	if name = strings.TrimSuffix(name, filepath.Ext(name)); name != "config" {
		b.DataDir = name + "-data"
	}
}

// listening says where the console and the status will be. Where the system picks the ports nobody
// knows them before the gateway runs, and its log has them.
func (b *beginning) listening() string {
	if _, port, _ := net.SplitHostPort(b.ConsoleAddress); port == "0" {
		return fmt.Sprintf("The console and the status listener take free ports, which serve logs; the console's token will be in %s\n", b.Token)
	}
	// An address without a host is every address; the line is to be opened on this machine.
	status := b.StatusAddress
	if strings.HasPrefix(status, ":") {
		status = "127.0.0.1" + status
	}
	return fmt.Sprintf("The console will be at http://%s/ui/, and its token in %s\nMetrics and probes will be at http://%s/metrics and /readyz%s\n",
		b.ConsoleAddress, b.Token, status, b.reachable())
}

// reachable says who else reads metrics.
func (b *beginning) reachable() string {
	if strings.HasPrefix(b.StatusAddress, ":") {
		return ", on every address of this machine (server.statusAddress)"
	}
	return ""
}
