package proxy

import (
	"encoding/binary"
)

// A page token leads on in the agent's own list, or in the one that the gateway makes.
// Those of ListTaskPushNotificationConfigs stay the agent's: they belong to one task,
// which is checked with every call.
const (
	agentsList byte = 'a'
)

// place is where a page of the agent's list begins.
type place struct {
	token string // the agent's; "" for the beginning
	after string // id of a task on that page which has been shown, and those before it; "" for none
}

// longestPage bounds what an agent may have in a page token, so that callers can carry it.
const longestPage = 4096

func (pl place) plain() []byte {
	return append(append(binary.AppendUvarint(nil, uint64(len(pl.token))), pl.token...), pl.after...)
}

func readPlace(plain []byte) (place, bool) {
	n, head := binary.Uvarint(plain)
	if head <= 0 || n > uint64(len(plain)-head) { //nolint:gosec // never below zero
		return place{}, false
	}
	rest := plain[head:]
	return place{token: string(rest[:n]), after: string(rest[n:])}, true
}
