// Package cursors seals the tokens that clients bring back: page tokens of lists, and event ids
// (Last-Event-ID) of streams. A sealed token opens only for the caller, the agent and the list
// or task that it was made for.
//
// Sealing is authenticated encryption under a key that all replicas share; caller, agent and
// filter are associated data, so that a token opens for nobody else, and does not grow by them.
package cursors

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// Cursors seals what clients bring back unchanged: page tokens of lists and the event ids by which
// streams are resumed.
type Cursors struct {
	Sealer Sealer
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

// OwnList begins the sealed text of a page token that is the gateway's own; the agent's have
// another byte.
const OwnList byte = 'o'

// SealPage makes a page token. It is good for this caller, agent and filter.
func (cu *Cursors) SealPage(x *exchange.Exchange, list byte, plain []byte) string {
	sealed := cu.Sealer.Seal(pagePurpose, append([]byte{list}, plain...), listBinding(x))
	return base64.RawURLEncoding.EncodeToString(sealed)
}

// OpenPage reads the page token of the call; nil without one. What is wrong with a token
// that is not good here, nobody is told: it may be somebody else's.
func (cu *Cursors) OpenPage(x *exchange.Exchange, list byte) ([]byte, *wire.Error) {
	if x.Call.PageToken == "" {
		return nil, nil
	}
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(x.Call.PageToken)
	var plain []byte
	if err == nil {
		plain, err = cu.Sealer.Unseal(pagePurpose, sealed, listBinding(x))
	}
	if err != nil || len(plain) == 0 || plain[0] != list {
		return nil, BadPage().Because(err)
	}
	return plain[1:], nil
}

// BadPage is the error (Invalid params) of a page token that was not given to this caller for
// this list.
func BadPage() *wire.Error {
	return wire.Errorf(wire.InvalidParams, "pageToken is not one that this list has given")
}

// listBinding says which list a call is about: whose, on which agent, and of which tasks, as
// the caller has put it. The size of pages does not belong to it.
func listBinding(x *exchange.Exchange) []byte {
	given := GivenIn(&x.Call, x.Parameters())
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
		part(given[Snake(name)])
	}
	return sum.Sum(nil)
}

// Outlive has a call with a place among those that may run at the same time go on when its
// client hangs up, until the agent's answer is there or is late. Agents need not notice that
// nobody waits any more, or stop for it: were the place free with the connection, a caller
// could have any number of jobs done at once by hanging up on each. Other calls end with
// their client, and so do subscriptions, which have the agent do nothing.
func (cu *Cursors) Outlive(x *exchange.Exchange) error {
	if !x.LimitPass.Holds() || x.Call.Streaming && cu.Resumes(x) != "" {
		return nil
	}
	if x.Ctx.Err() != nil { // it has not been sent
		return context.Cause(x.Ctx)
	}
	x.Ctx, x.Outlives = context.WithoutCancel(x.Ctx), true
	return nil
}

// Resumes is the task that a call asks after and has nothing done on; "" for none. Who has
// left its stream can ask for it without another place.
func (cu *Cursors) Resumes(x *exchange.Exchange) string {
	if m := x.Call.Method; m.Extension == "" && m.Subject == wire.OfTask {
		return x.Call.TaskID
	}
	var m Mark
	if lines := x.Request.Header[ResumeHeader]; x.Call.Streaming && len(lines) == 1 && cu.ReadMark(x, lines[0], &m) {
		return m.Task
	}
	return ""
}
