package proxy

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	"github.com/google/uuid"

	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/translate"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents/interfaces"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream"
)

// What one probe may take.
const (
	probeTimeout = 10 * time.Second
	probeAnswer  = 1 << 20 // bytes of the answer
)

const typeJSON = "application/json"

// Finding is what an agent did when it was asked for a task that nobody has.
type Finding struct {
	Text  string // for an operator; agents may have chosen a part of it
	Fails bool   // calls would fail as well
	Odd   bool   // calls may work, and the answer is not the one that is due

	Refuses bool // an agent may be there: it does not take who calls
}

// fails is a finding with which calls would fail as well.
func fails(format string, args ...any) Finding {
	return Finding{Text: fmt.Sprintf(format, args...), Fails: true}
}

// odd is a finding with which calls may work.
func odd(format string, args ...any) Finding {
	return Finding{Text: fmt.Sprintf(format, args...), Odd: true}
}

// Probe asks an agent over one of its interfaces for a task that nobody has, with the
// credentials that depend on no caller. It changes nothing there.
//
// It is used by `validate --online` and by the console. GetTask with an unknown id was chosen
// because every A2A version has it, because it has no effect, and because the answer that is due,
// TASK_NOT_FOUND, tells an A2A agent from a web server.
//
//	POST /rpc  {"jsonrpc":"2.0","id":"<uuid>","method":"GetTask","params":{"id":"<uuid>"}}
//	-32001     it answers as it should
//	401        a credential is missing, or is not the right one
//	404, HTML  nothing is there, or something else
func Probe(ctx context.Context, up *upstream.Upstream, i card.Interface) Finding {
	ctx, cancel := context.WithTimeoutCause(ctx, probeTimeout, upstream.ErrLate)
	defer cancel()
	at := secret.URL(i.URL)
	r, a, err := unknownTask(ctx, i)
	if err != nil {
		return fails("it cannot be asked: %v", at.Hide(err))
	}
	before := len(r.Header)
	if err := up.Authorize(ctx, r.Header, nil); err != nil {
		return fails("there is no credential to show it: %v", at.Hide(err))
	}
	a.shown, a.asks = len(r.Header) > before, up.Asks()
	resp, _, err := up.RoundTrip(r, upstream.Hint{Safe: true})
	if err != nil {
		return unreached(ctx, i, err)
	}
	defer resp.Body.Close() // only read from
	if a.body, err = io.ReadAll(io.LimitReader(resp.Body, probeAnswer)); err != nil {
		return fails("its answer broke off: %v", at.Hide(err))
	}
	a.status, a.header, a.trailer = resp.StatusCode, resp.Header, resp.Trailer
	return a.found()
}

// unknownTask is the request for a task that nobody has, as the interface wants it. Its id is a
// UUID because some agents take no other.
//
// The request is made by the same functions as any upstream call, so that a probe fails where
// calls would.
func unknownTask(ctx context.Context, i card.Interface) (*http.Request, *probed, error) {
	side := wire.Side{Version: i.Version, Binding: i.Binding}
	a := &probed{Side: side, task: uuid.NewString()}
	a.id = []byte(`"` + a.task + `"`)
	call := wire.Call{Accept: typeJSON}
	question := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"method":%q,"params":{"id":%[1]s}}`, a.id, wire.GetTask)
	if e := call.DecodeJSONRPC(question, wire.V10, wire.Limits{}); e != nil {
		return nil, nil, e
	}
	out, e := translate.Request(&call, nil, translate.To{Side: side, Tenant: i.Tenant, ID: a.id})
	if e != nil {
		return nil, nil, e
	}
	u, err := secret.URL(i.URL).Parse()
	if err != nil {
		return nil, nil, err
	}
	l := exchange.UpstreamCall{Endpoint: &agents.Endpoint{Side: side, URL: u, Methods: interfaces.IsMethodPath(side, u)}, Call: &out.Call, Path: out.Path, Query: out.Query}
	to, err := l.Target()
	if err != nil {
		return nil, nil, err
	}
	r, err := http.NewRequestWithContext(ctx, out.Verb, to.String(), bytes.NewReader(out.Body))
	if err != nil {
		return nil, nil, err
	}
	r.GetBody = nil // see Upstream.RoundTrip
	r.Header = http.Header{"Accept-Encoding": intake.Unencoded, "A2a-Version": {string(i.Version)}, "User-Agent": {"a2a-gateway"}}
	l.Call, l.Own, l.Body = &out.Call, true, out.Body
	l.Describe(r.Header, nil)
	a.verb, a.method = out.Verb, out.Call.Method
	return r, a, nil
}

// noHTTP2 reports whether an error may come of speaking HTTP/2 to a server of HTTP/1.1:
// which of these it is depends on whether its answer, or its close, or the reset behind that
// is noticed first.
func noHTTP2(err error) bool {
	text := err.Error()
	return strings.Contains(text, "HTTP/1.1 header") || strings.Contains(text, "frame too large") ||
		strings.Contains(text, "client conn could not be established") ||
		errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed)
}

// unreached says why there is no answer, and what could be done about that.
//
// Errors of net and tls have no types for most of these cases, so that texts are compared. The
// URL in them may have a password, and is hidden.
func unreached(ctx context.Context, i card.Interface, err error) Finding {
	hidden := secret.URL(i.URL).Hide(err)
	text := err.Error()
	var record tls.RecordHeaderError
	var unknown x509.UnknownAuthorityError
	switch {
	case errors.Is(context.Cause(ctx), upstream.ErrLate):
		return fails("it does not answer within %s", probeTimeout)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fails("nobody listens there: %v", hidden)
	case errors.As(err, &record), strings.Contains(text, "server gave HTTP response to HTTPS client"):
		return fails("no TLS is spoken there: is the URL one with http? %v", hidden)
	case errors.As(err, &unknown):
		return fails("nobody who is trusted vouches for its certificate (agents[].tls.ca): %v", hidden)
	case i.Binding == wire.GRPC && noHTTP2(err):
		return fails("no answer comes over HTTP/2, which gRPC needs: is the interface another one? %v", hidden)
	}
	return fails("it cannot be called: %v", hidden)
}
