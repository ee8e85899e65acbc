//go:build !minimal

package mcpserver

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// errOver is told to requests whose connection has gone.
var errOver = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the request has ended"}

// session is what a host has open: a session of MCP before 2026-07-28, or a subscription.
type session struct {
	id           string
	subscription bool // no request names it
	serving      *mcp.Server
	seen         sight // what its host has been told of tools; watch alone uses it, once it is registered

	mu        sync.Mutex
	principal *authn.Principal  // whose it is, as the latest request has it
	requests  int               // under way
	used      time.Time         // when the latest request ended
	contexts  map[string]string // of the latest answers, by agent
	streams   map[*visit]func() // that wait for what happens, and how they are ended
}

// enter begins a request of the session. One that only listens is ended, by stop, once its credential
// is not good any more, and keeps no session from being idle.
func (at *session) enter(v *visit, listens bool, stop func()) {
	at.mu.Lock()
	defer at.mu.Unlock()
	at.principal = v.Principal
	if listens {
		at.streams[v] = stop
		return
	}
	at.requests++
}

func (at *session) leave(v *visit) {
	at.mu.Lock()
	defer at.mu.Unlock()
	if _, listens := at.streams[v]; listens {
		delete(at.streams, v)
		return
	}
	at.requests--
	at.used = time.Now()
}

// idle reports whether no request was under way since a time.
func (at *session) idle(since time.Time) bool {
	at.mu.Lock()
	defer at.mu.Unlock()
	return !at.subscription && at.requests == 0 && at.used.Before(since)
}

// hush ends the streams that wait.
func (at *session) hush() {
	at.mu.Lock()
	defer at.mu.Unlock()
	for _, stop := range at.streams {
		stop()
	}
}

// context is the conversation with an agent; "" for none.
func (at *session) context(agent string) string {
	if at == nil {
		return ""
	}
	at.mu.Lock()
	defer at.mu.Unlock()
	return at.contexts[agent]
}

// remember has the next call on an agent go on with a conversation. There are no more of them than
// agents that have answered.
func (at *session) remember(agent, conversation string) {
	if at == nil || conversation == "" {
		return
	}
	at.mu.Lock()
	defer at.mu.Unlock()
	at.contexts[agent] = conversation
}

// who is the caller whose session it is.
func (at *session) who() *authn.Principal {
	at.mu.Lock()
	defer at.mu.Unlock()
	return at.principal
}

// sessions are those that are open, over all reloads.
type sessions struct {
	watch func(ctx context.Context)

	mu     sync.Mutex
	open   map[string]*session
	each   map[string]int // how many a caller has
	end    func()         // ends watch; nil while nothing is open
	closed bool
}

// begin makes a session for the caller of a visit, within server.mcp.sessions.
func (ss *sessions) begin(v *visit, subscription bool, serving func(id string) *mcp.Server) (*session, error) {
	at := &session{
		id: rand.Text(), subscription: subscription, principal: v.Principal, used: time.Now(),
		contexts: map[string]string{}, streams: map[*visit]func(){},
	}
	at.serving, at.seen = serving(at.id), look(v.Proxy, v.Principal)
	bounds, caller := v.Config.Sessions, v.Principal.Key()
	ss.mu.Lock()
	defer ss.mu.Unlock()
	switch {
	case ss.closed:
		return nil, exchange.RetryLater("1", "the gateway is shutting down")
	case len(ss.open) >= bounds.Total:
		const why = "too many MCP sessions are open (server.mcp.sessions.total)"
		return nil, exchange.RetryLater("5", why).Because(errors.New(why))
	case ss.each[caller] >= bounds.PerCaller:
		return nil, wire.Errorf(wire.RateLimited, "the caller has %d MCP sessions open (server.mcp.sessions.perCaller)", bounds.PerCaller)
	}
	if ss.end == nil {
		ctx, cancel := context.WithCancel(context.Background())
		ss.open, ss.each, ss.end = map[string]*session{}, map[string]int{}, cancel
		go ss.watch(ctx)
	}
	ss.open[at.id] = at
	ss.each[caller]++
	return at, nil
}

// find is a session of the caller's; nil for one of somebody else, as for none.
func (ss *sessions) find(id, caller string) *session {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	at := ss.open[id]
	if at == nil || at.subscription || at.who().Key() != caller {
		return nil
	}
	return at
}

// settle ends what the SDK has ended, or never begun: the host has deleted it, or no session has come
// of initialize.
func (ss *sessions) settle(at *session) {
	for range at.serving.Sessions() {
		return
	}
	ss.drop(at)
}

// drop forgets a session.
func (ss *sessions) drop(at *session) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if ss.open[at.id] != at {
		return
	}
	delete(ss.open, at.id)
	caller := at.who().Key()
	if ss.each[caller]--; ss.each[caller] == 0 {
		delete(ss.each, caller)
	}
	if len(ss.open) == 0 && ss.end != nil {
		ss.end()
		ss.end = nil
	}
}

// list is all that is open.
func (ss *sessions) list() []*session {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	all := make([]*session, 0, len(ss.open))
	for _, at := range ss.open {
		all = append(all, at)
	}
	return all
}

// close ends all of them, and lets none begin.
func (ss *sessions) close() {
	ss.mu.Lock()
	ss.closed = true
	ss.mu.Unlock()
	for _, at := range ss.list() {
		ss.finish(at)
	}
}

// finish ends a session, with the SDK's, which waits for the requests that are under way.
func (ss *sessions) finish(at *session) {
	ss.drop(at)
	at.hush()
	for open := range at.serving.Sessions() {
		_ = open.Close() // its host is gone, or finds out with its next request
	}
}
