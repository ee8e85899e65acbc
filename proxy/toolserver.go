package proxy

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/server/mcp"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
)

// ToolServer is the server of MCP at server.mcp.path: it reads that protocol, and makes A2A calls of
// the calls of its tools. A request comes to it once its host and origin are checked, and its caller
// is known.
type ToolServer interface {
	// ServeTools answers a request. An error is for what was not answered yet, and is written as
	// those of A2A over HTTP are.
	ServeTools(v *Visit) error
}

// mountTools adds the endpoint of MCP and its metadata (RFC 9728), where there is one.
func (p *Proxy) mountTools(t *intake.Routes) {
	if p.Server.MCP == nil || p.Tools == nil {
		return
	}
	path := p.Server.MCP.Path
	t.FixTools(path, p.recorder.Do(p.frontend.EnterTools, p.admissions.Admit, p.authenticator.Authenticate,
		p.admissions.FairShare, p.serveTools))
	t.FixTools(exchange.MetadataPath+path, p.recorder.Do(p.documents.ServeMetadata))
}

// serveTools hands a request to the server of MCP, with its body read within server.limits.body.
func (p *Proxy) serveTools(x *exchange.Exchange) error {
	if err := p.frontend.CheckHops(x); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(x.Request.Context())
	defer cancel()
	if p.Drain != nil { // a session's stream would stay for ever
		defer p.Drain(cancel)()
	}
	v := &Visit{Principal: x.Principal, Config: p.Server.MCP, Proxy: p, x: x}
	v.Request = x.Request.Clone(ctx) // the server of MCP may look at it when the handler has returned
	v.Request.Body = http.NoBody
	if x.Request.Method == http.MethodPost {
		body, err := p.decoder.ReadBody(x)
		if err != nil {
			return err
		}
		x.Body, x.Rec.RequestBytes = body, int64(len(body.Bytes()))
		v.Body = bytes.Clone(body.Bytes())
		v.Request.Body = io.NopCloser(bytes.NewReader(v.Body))
	}
	v.Writer = toolWriter{x.Writer}
	return p.Tools.ServeTools(v)
}

// toolWriter is the answer to a host, which may be a stream that is silent for long.
type toolWriter struct{ *exchange.Response }

// FlushError implements what http.ResponseController looks for. The time for a write ends with it.
func (w toolWriter) FlushError() error {
	w.ArmDeadline()
	defer w.Settle()
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Visit is one request to the server of MCP. Its methods are safe for concurrent use, until ServeTools
// returns.
type Visit struct {
	Principal *authn.Principal
	Config    *mcp.Config
	Request   *http.Request // a copy; its context ends with the client, and when the gateway drains
	Body      []byte        // of a POST
	Writer    http.ResponseWriter
	Proxy     *Proxy // of the configuration that the request began with

	x *exchange.Exchange
}

// Stay ends the visit's being counted as a call in flight: it is a stream that waits for what happens.
func (v *Visit) Stay() { v.Proxy.admissions.Discharge(v.x) }

// Call carries out a JSON-RPC call of A2A 1.0 for the caller, on an agent or, unless skill is "", on
// one skill of it, and writes the answer to w. It passes the stages of any other call but those that
// the visit has passed, and leaves a record of its own, with MCP as its binding. It ends with ctx.
func (v *Visit) Call(ctx context.Context, w http.ResponseWriter, agent, skill string, body []byte) {
	r := &http.Request{
		Method: http.MethodPost, URL: &url.URL{Path: v.Request.URL.Path}, Host: v.Request.Host,
		Proto: v.Request.Proto, ProtoMajor: v.Request.ProtoMajor, ProtoMinor: v.Request.ProtoMinor,
		Header: v.header(), Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
		RemoteAddr: v.Request.RemoteAddr, RequestURI: v.Request.RequestURI, TLS: v.Request.TLS,
	}
	v.Proxy.tool(w, r.WithContext(ctx), exchange.Site{Agent: agent, Skill: skill, Tool: v.Principal})
}

// ofRequest are the fields of a visit's header that are about its own body and answer.
var ofRequest = []string{
	"Accept", "Accept-Encoding", "Connection", "Content-Encoding", "Content-Length", "Content-Type", "Expect", "Last-Event-Id",
	"Mcp-Method", "Mcp-Name", "Mcp-Protocol-Version", "Mcp-Session-Id", "Origin", "Te", "Trailer", "Transfer-Encoding", "Traceparent", "Tracestate",
}

// header is that of a call: what the visit has brought, and its trace.
func (v *Visit) header() http.Header {
	h := v.Request.Header.Clone()
	for _, name := range ofRequest {
		delete(h, name)
	}
	h["Content-Type"], h["A2a-Version"] = []string{"application/json"}, []string{string(wire.V10)}
	v.Proxy.Telemetry.Carry(v.x.Ctx, &v.x.Rec, h)
	return h
}

// introduce is the stage Authenticate of a tool's call: its caller was authenticated with the
// request that brought it, which may be a while ago.
func (p *Proxy) introduce(x *exchange.Exchange) error {
	x.Principal = x.Site.Tool
	return p.Authn.Stands(x.Principal)
}

// Stays reports whether a principal would still be let in: nil, or why not.
func (p *Proxy) Stays(who *authn.Principal) error { return p.Authn.Stands(who) }

// Tooled are the skills of an agent that a caller may call as tools; see CardFor for their texts.
func (p *Proxy) Tooled(who *authn.Principal, agent string) []string {
	return p.documents.SkillsOver(wire.MCP, who, agent)
}

// InputOf is the JSON Schema that the configuration has for the data of a skill; nil for none.
func (p *Proxy) InputOf(agent, skill string) []byte {
	a := p.agents[agent]
	if a == nil {
		return nil
	}
	v := a.Look()
	if v == nil {
		return nil
	}
	return v.Schemas[skill].Document
}

// Views are what is known of the agents, in the order of Options.Agents: while the same pointers are
// in it, their cards are the same.
func (p *Proxy) Views() []*agents.View {
	list := make([]*agents.View, len(p.Agents))
	for i, a := range p.Agents {
		list[i] = a.Look()
	}
	return list
}
