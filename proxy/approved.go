package proxy

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/hostname"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/approvals"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/record"
)

// mountApproved makes what sends calls that people have agreed to: the stages of any call, but for those
// that it has passed with its request, and for what would take it for a repetition of itself.
func (p *Proxy) mountApproved(governed []record.Stage) [2]record.Handler {
	last := p.approver.Send(p.sessions.WithVersionFallback(p.sessions.Forward))
	path := slices.Concat([]record.Stage{p.approver.Recall}, governed[admitted:len(governed)-1], []record.Stage{last})
	stages := func(locate record.Stage) record.Handler {
		return p.recorder.Do(p.approver.Sending(slices.Insert(slices.Clone(path), 0, locate)...))
	}
	return [2]record.Handler{stages(p.decoder.Locate), stages(p.decoder.LocateRPC)}
}

// SendApproved carries out a call that people have agreed to, and whose outcome is this gateway's to
// settle (standing.Sending). It returns when the agent's answer has ended; ctx ends it before.
func (p *Proxy) SendApproved(ctx context.Context, st *approvals.Status) {
	c := &st.Request
	r := &http.Request{
		Method: c.Verb, URL: new(url.URL), Host: c.Host, Proto: "HTTP/1.1", ProtoMajor: c.Major, ProtoMinor: 1,
		Header: c.Header.Clone(), Body: io.NopCloser(bytes.NewReader(c.Body)), ContentLength: int64(len(c.Body)),
		RemoteAddr: c.Remote, RequestURI: c.URL,
	}
	if c.Major == 2 {
		r.Proto, r.ProtoMinor = "HTTP/2.0", 0
	}
	if u, err := url.ParseRequestURI(c.URL); err == nil {
		r.URL = u
	}
	if host, ok := hostname.Canonical(c.Host); !ok || !p.serves(host) {
		r.Host = p.PublicURL.Host // the gateway goes by another name by now
	}
	at := exchange.Site{Fixed: c.Fixed, Agent: c.Agent, Skill: c.Skill, Rest: c.Rest, Approved: &approvals.Dispatch{Status: st}}
	if c.Tool {
		at.Tool = new(authn.Principal) // until Recall knows it
	}
	handler := p.approved[0]
	if st.Binding == wire.GRPC.String() {
		handler = p.approved[1]
	}
	handler(discard{http.Header{}}, r.WithContext(ctx), at)
}

// Timeout is how long an agent may take for the answer to a method; 0 where there is no such agent.
func (p *Proxy) Timeout(agent, method string) time.Duration {
	if a := p.agents[agent]; a != nil {
		return a.Upstream.Timeout(method)
	}
	return 0
}

// serves reports whether requests may name a host.
func (p *Proxy) serves(host string) bool {
	_, own := p.self[host]
	return own || p.hosts[host] != nil
}

// discard is a client that nobody is: who waits for the call reads what has become of it in the state.
type discard struct{ header http.Header }

// Header implements http.ResponseWriter.
func (d discard) Header() http.Header { return d.header }

// WriteHeader implements http.ResponseWriter.
func (discard) WriteHeader(int) {}

// Write implements io.Writer.
func (discard) Write(b []byte) (int, error) { return len(b), nil }

// FlushError implements what http.ResponseController looks for.
func (discard) FlushError() error { return nil }
