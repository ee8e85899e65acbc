package gatewaytest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
)

// Ports of addresses that are given out are from lowest up, in blocks of which each
// belongs to one process. Nothing else is 10,000 above, where nodes of Redis's clusters
// listen as well, and systems hand out none of those either.
const (
	lowestPort = 12768
	blocks     = 50
	blockPorts = 200
)

var own block

// FreeAddress is one of this machine that nothing listens on, for what is to be there
// later, or again. Nobody is given its port for a port 0 meanwhile: systems hand those
// out, and the ports of connections, from higher up. Nor is any other test: a process has
// a block of ports of its own, and is given one of them again when all others were. Empty
// when there is none.
func FreeAddress() string { return own.free() }

// block gives out the ports of one block, in turn. That it is taken, others see from its
// first port for UDP, which is held until the process ends.
type block struct {
	mu    sync.Mutex
	claim net.PacketConn
	first int
	given int
}

func (b *block) free() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.claim == nil && !b.take() {
		return ""
	}
	for range blockPorts {
		address := fmt.Sprintf("127.0.0.1:%d", b.first+b.given%blockPorts)
		b.given++
		if !listens(address) {
			return address
		}
	}
	return ""
}

// listens reports whether somebody listens on an address. To listen there oneself would tell as well, and
// have the address be in use for a moment longer, if a process is begun meanwhile: until it runs its
// program, it has the socket too.
func listens(address string) bool {
	conn, err := net.Dial("tcp", address)
	return err == nil && conn.Close() == nil
}

// take claims a block that nobody has: which one is left to chance, so that a process does
// not begin with the ports that one before it has just left.
func (b *block) take() bool {
	for _, i := range rand.Perm(blocks) { // a port is no secret
		first := lowestPort + i*blockPorts
		claim, err := net.ListenPacket("udp4", fmt.Sprintf("127.0.0.1:%d", first))
		if err == nil {
			b.claim, b.first = claim, first
			return true
		}
	}
	return false
}
