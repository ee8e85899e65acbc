package config

import (
	"fmt"
	"net"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
)

// checkListeners refuses two listeners at the same host:port, of which the second could not listen. With port 0
// each is given a port of its own.
func checkListeners(c *Config) (errs []error) {
	taken := map[string]string{} // key by address
	for _, l := range []struct {
		address       string
		section, name string
	}{
		{c.Server.Address, "server", "address"},
		{c.Server.StatusAddress, "server", "statusAddress"},
		{c.Admin.Address, "admin", "address"},
	} {
		_, port, err := net.SplitHostPort(l.address)
		if err != nil || strings.Trim(port, "0") == "" {
			continue // off, no address, or any port
		}
		key := l.section + "." + l.name
		if other, twice := taken[l.address]; twice {
			errs = append(errs, keypath.At(fmt.Errorf("%s is that of %s too: give each listener a port of its own", l.address, other), l.section, l.name))
			continue
		}
		taken[l.address] = key
	}
	return errs
}
