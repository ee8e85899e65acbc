package proxy

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// cursors seals what clients bring back unchanged: page tokens of lists and the event ids by which
// streams are resumed.
type cursors struct {
	sealer Sealer
}

// Sealer keeps what callers carry for the gateway from being read, changed, or used by
// somebody else. *keys.Ring is one.
type Sealer interface {
	// Seal encrypts plain for a purpose. aad is not in the result.
	Seal(purpose string, plain, aad []byte) []byte
	// Unseal is the inverse, with the same purpose and aad.
	Unseal(purpose string, sealed, aad []byte) ([]byte, error)
}

// pagePurpose is what page tokens are sealed for.
const pagePurpose = "page-token"

// A page token leads on in the agent's own list, or in the one that the gateway makes.
// Those of ListTaskPushNotificationConfigs stay the agent's: they belong to one task,
// which is checked with every call.
const (
	agentsList byte = 'a'
	ownList    byte = 'o'
)

// sealPage makes a page token. It is good for this caller, agent and filter.
func (cu *cursors) sealPage(x *exchange.Exchange, list byte, plain []byte) string {
	sealed := cu.sealer.Seal(pagePurpose, append([]byte{list}, plain...), listBinding(x))
	return base64.RawURLEncoding.EncodeToString(sealed)
}

// openPage reads the page token of the call; nil without one. What is wrong with a token
// that is not good here, nobody is told: it may be somebody else's.
func (cu *cursors) openPage(x *exchange.Exchange, list byte) ([]byte, *wire.Error) {
	if x.Call.PageToken == "" {
		return nil, nil
	}
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(x.Call.PageToken)
	var plain []byte
	if err == nil {
		plain, err = cu.sealer.Unseal(pagePurpose, sealed, listBinding(x))
	}
	if err != nil || len(plain) == 0 || plain[0] != list {
		return nil, badPage().Because(err)
	}
	return plain[1:], nil
}

func badPage() *wire.Error {
	return wire.Errorf(wire.InvalidParams, "pageToken is not one that this list has given")
}

// listBinding says which list a call is about: whose, on which agent, and of which tasks, as
// the caller has put it. The size of pages does not belong to it.
func listBinding(x *exchange.Exchange) []byte {
	given := givenIn(&x.Call, x.Parameters())
	sum := sha256.New()
	part := func(s string) {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(s)))
		sum.Write(n[:])
		sum.Write([]byte(s))
	}
	part(x.Principal.Key())
	part(x.Agent.ID)
	part(x.NameFor(x.Call.ContextID))
	for _, name := range []string{"status", "statusTimestampAfter", "lastUpdatedAfter", "historyLength", "includeArtifacts"} {
		part(given[name])
		part(given[snake(name)])
	}
	return sum.Sum(nil)
}

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
