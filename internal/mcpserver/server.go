//go:build !minimal

// Package mcpserver is an MCP server whose tools are the skills of agents: it reads the Model Context
// Protocol with its official SDK, and makes A2A calls of the calls of tools.
//
// A request comes as a proxy.Visit, whose host, origin, credentials and size are checked. Its life:
//
//	ServeTools      a session of the SDK's: one for the request, or one that it names
//	tools/list      list.go: the skills that the caller may use, in the words of served cards
//	tools/call      call.go: the arguments become a message (arguments.go), the proxy carries it out in
//	                process (exchange.go), and the task that it becomes is the result (answer.go)
//
// An A2A call passes the stages of package proxy, which decide about it and leave its record. So this
// package decides nothing: whoever calls a tool that is not in the caller's list is answered by those
// stages.
//
// # Sessions
//
// MCP 2026-07-28 has no sessions: each request is served on its own. Hosts that speak an earlier
// revision begin a session with initialize (session.go), which belongs to the principal who began it
// and is not there for anybody else. It holds what such a host can do, and the context of the
// conversation with each agent, which goes on with the next call. watch.go tells hosts when their
// tools have changed, and ends idle sessions.
//
// The package owns no rules, no names of tools (toolname) and no limits (internal/server/mcp). It may
// import proxy and below; internal/gateway alone imports it.
package mcpserver

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/a2a-gateway/a2a-gateway/proxy"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// sessionless is the first revision of MCP without sessions.
const sessionless = "2026-07-28"

// Options are what a Server is made of.
type Options struct {
	Version string // of the gateway, which hosts are told
	// Current is the proxy of the configuration in force, held until release; nil once the gateway has
	// closed.
	Current func() (p *proxy.Proxy, release func())
}

// Server implements proxy.ToolServer, over all reloads. Its methods are safe for concurrent use.
type Server struct {
	options  Options
	sessions sessions
	stateful http.Handler // for requests that belong to a session, or begin one
	single   http.Handler // for requests on their own
}

// New makes a server, which does nothing before a request comes.
func New(o Options) *Server {
	s := &Server{options: o}
	s.sessions.watch = s.watch
	mounted := func(r *http.Request) *mcp.Server {
		serving, _ := r.Context().Value(servingKey{}).(*mcp.Server)
		return serving
	}
	// The gateway has checked the host, the origin and the size of the request.
	options := mcp.StreamableHTTPOptions{DisableLocalhostProtection: true, MaxRequestBodyBytes: -1}
	s.stateful = known(mcp.NewStreamableHTTPHandler(mounted, &options))
	options.Stateless, options.PropagateRequestCancellation = true, true
	s.single = known(mcp.NewStreamableHTTPHandler(mounted, &options))
	return s
}

type servingKey struct{} // of a request's context: the *mcp.Server that serves it

// visit is a request, as handlers of the SDK find it again.
type visit struct {
	*proxy.Visit
	session *session // nil for a request on its own

	ctx   context.Context
	mu    sync.Mutex
	over  bool           // no call begins any more
	calls sync.WaitGroup // under way
}

type visitKey struct{} // of a request's context: the *visit

// visitName is where the SDK hands a visit on to handlers, which run on a context of the session's.
const visitName = "visit"

// known has the SDK know the caller, by whom it keeps sessions apart too.
func known(h http.Handler) http.Handler {
	caller := func(ctx context.Context, _ string, _ *http.Request) (*auth.TokenInfo, error) {
		v, _ := ctx.Value(visitKey{}).(*visit)
		return &auth.TokenInfo{UserID: v.Principal.Key(), Extra: map[string]any{visitName: v}}, nil
	}
	return auth.RequireBearerToken(caller, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(h)
}

// ServeTools implements proxy.ToolServer.
func (s *Server) ServeTools(of *proxy.Visit) error {
	v := &visit{Visit: of}
	ctx, cancel := context.WithCancel(context.WithValue(of.Request.Context(), visitKey{}, v))
	// What the visit has begun ends with it: its caller's configuration, and its place among the calls
	// in flight, are held no longer.
	defer v.finish(cancel)
	v.ctx = ctx
	handler, serving, done, err := s.admit(v, cancel)
	if errors.Is(err, errAnswered) {
		return nil
	}
	if err != nil {
		return err
	}
	defer done()
	r := of.Request.WithContext(context.WithValue(ctx, servingKey{}, serving))
	// The SDK's way to hand values on to handlers begins with a token. The caller's own has been
	// verified, by whichever scheme it was, and is not its concern.
	r.Header = r.Header.Clone()
	r.Header.Set("Authorization", "Bearer -")
	handler.ServeHTTP(of.Writer, r)
	return nil
}

// errAnswered is for a request that has its answer already.
var errAnswered = errors.New("answered")

// admit says who serves a request: a session that it names, a session that it begins, or neither.
// done is called when it is served; stop ends it.
func (s *Server) admit(v *visit, stop func()) (handler http.Handler, serving *mcp.Server, done func(), err error) {
	id, asked := v.Request.Header.Get("Mcp-Session-Id"), methodOf(v.Body)
	alone := v.Config.Stateless || v.Request.Header.Get("Mcp-Protocol-Version") >= sessionless
	listens := alone && asked == "subscriptions/listen" || !alone && v.Request.Method == http.MethodGet
	handler = s.stateful
	var at *session
	switch {
	case listens && alone: // it is open like a session, and counts as one
		handler = s.single
		at, err = s.sessions.begin(v, true, func(string) *mcp.Server { return s.newServer(v, "") })
	case !alone && id != "":
		if at = s.sessions.find(id, v.Principal.Key()); at == nil {
			// As the SDK answers for what it does not know; hosts begin anew (2025-11-25, Transports).
			http.Error(v.Writer, "session not found", http.StatusNotFound)
			return nil, nil, nil, errAnswered
		}
	case !alone && asked == "initialize":
		at, err = s.sessions.begin(v, false, func(id string) *mcp.Server { return s.newServer(v, id) })
	case v.Request.Method != http.MethodPost:
		err = exchange.NotAllowed([]string{http.MethodPost})
	default: // hosts of earlier revisions that do not begin with initialize are answered as well
		return s.single, s.newServer(v, ""), func() {}, nil
	}
	if err != nil {
		return nil, nil, nil, err
	}
	if listens {
		v.Stay()
	}
	v.session = at
	at.enter(v, listens, stop)
	return handler, at.serving, func() {
		at.leave(v)
		if at.subscription {
			s.sessions.drop(at)
			return
		}
		s.sessions.settle(at)
	}, nil
}

// methodOf is the method of a JSON-RPC request; "" for what is none.
func methodOf(body []byte) string {
	var request struct {
		Method string `json:"method"`
	}
	if json.Unmarshal(body, &request) != nil {
		return ""
	}
	return request.Method
}

// newServer is the SDK's server for one request, or for a session with an id.
func (s *Server) newServer(v *visit, id string) *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "a2a-gateway", Version: s.options.Version}, &mcp.ServerOptions{
		Instructions: instructions,
		Logger:       slog.New(slog.DiscardHandler), // the gateway's record of the request has what became of it
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{ListChanged: !v.Config.Stateless}},
		GetSessionID: func() string { return id },
		SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.CacheScope = "private" },
	})
	server.AddReceivingMiddleware(s.answer)
	return server
}

// instructions are for the model behind a host.
const instructions = "Each tool is a skill of an agent. Results have structured content with the ids of the agent, the task and " +
	"the conversation: pass contextId to go on with a conversation, and taskId to answer a task that asks for input. " +
	"A task that is not over yet can be looked at with a2a_get_task and ended with a2a_cancel_task."

// answer takes the requests that are about tools out of the SDK's hands: which there are depends on
// the caller of each request.
func (s *Server) answer(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if !strings.HasPrefix(method, "tools/") {
			return next(ctx, method, req)
		}
		v := visitOf(req)
		if v == nil || !v.enter() {
			return nil, errOver
		}
		defer v.calls.Done()
		switch req := req.(type) {
		case *mcp.ListToolsRequest:
			return list(v, req)
		case *mcp.CallToolRequest:
			return call(ctx, v, req)
		}
		return next(ctx, method, req)
	}
}

// visitOf is the visit that brought a request.
func visitOf(req mcp.Request) *visit {
	if extra := req.GetExtra(); extra != nil && extra.TokenInfo != nil {
		v, _ := extra.TokenInfo.Extra[visitName].(*visit)
		return v
	}
	return nil
}

// enter counts one more request of the visit; false where it is over.
func (v *visit) enter() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.over {
		return false
	}
	v.calls.Add(1)
	return true
}

// finish ends the calls that are under way, and waits for their ends.
func (v *visit) finish(cancel func()) {
	v.mu.Lock()
	v.over = true
	v.mu.Unlock()
	cancel()
	v.calls.Wait()
}

// Close ends all sessions.
func (s *Server) Close() { s.sessions.close() }
