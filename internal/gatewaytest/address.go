package gatewaytest

import (
	"fmt"
	"math/rand/v2"
	"net"
)

// FreeAddress is one of this machine that nothing listens on, for what is to be there
// later, or again. Nobody is given its port for a port 0 meanwhile: systems hand those
// out, and the ports of connections, from higher up. Empty when there is none.
func FreeAddress() string {
	for range 100 {
		address := fmt.Sprintf("127.0.0.1:%d", 20000+rand.IntN(10000)) // a port is no secret
		l, err := net.Listen("tcp", address)
		if err != nil {
			continue // somebody is there
		}
		_ = l.Close()
		return address
	}
	return ""
}
