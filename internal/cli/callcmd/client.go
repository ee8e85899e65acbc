package callcmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/internal/grpcframe"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/sse"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/failure"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/mediatype"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/translate"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents/interfaces"
)

// client calls one interface of an agent.
type client struct {
	http       *http.Client
	at         card.Interface
	url        *url.URL
	extensions []string
}

// largest is the most that an answer or an event may have, in bytes, and that a call may bring.
const largest = 64 << 20

// limits are wide, as nobody shares this process with whoever is called.
var limits = wire.Limits{Body: largest, IDLength: 4096}

// side is how the interface speaks.
func (c *client) side() wire.Side { return wire.Side{Version: c.at.Version, Binding: c.at.Binding} }

// call makes a call of 1.0 by the interface, and hands on what comes of it: the results of
// JSON-RPC responses of 1.0, one for each event of a stream. The bytes are valid until each
// returns. Refusals of the agent are *wire.Error.
func (c *client) call(ctx context.Context, method string, params []byte, each func(result []byte) error) error {
	question := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":"1","method":%q,"params":%s}`, method, params)
	call := wire.Call{Accept: mediatype.JSON}
	if e := call.DecodeJSONRPC(question, wire.V10, limits); e != nil {
		return e
	}
	out, e := translate.Request(&call, nil, translate.To{Side: c.side(), Tenant: c.at.Tenant, ID: call.ID})
	if e != nil {
		return fmt.Errorf("A2A %s over %s cannot say this call: %w", c.at.Version, c.at.Binding, e)
	}
	r, err := c.request(ctx, &out)
	if err != nil {
		return err
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return unreached(c.at, err)
	}
	defer resp.Body.Close() // only read from
	retold := &translate.Retelling{From: c.side(), Call: &call, History: out.History}
	a := answer{client: c, call: &call, out: out.Call.Method, retold: retold, resp: resp, each: each}
	return a.read()
}

// request is the HTTP request of a call.
func (c *client) request(ctx context.Context, out *translate.Outbound) (*http.Request, error) {
	to := c.url
	switch c.at.Binding {
	case wire.JSONRPC:
		if interfaces.IsMethodPath(c.side(), c.url) {
			to = interfaces.MethodURL(c.url, out.Call.Method)
		}
	default:
		path := out.Path
		if c.at.Binding == wire.HTTPJSON {
			path = strings.TrimSuffix(c.url.EscapedPath(), "/") + path
		}
		u, err := c.url.Parse(path)
		if err != nil {
			return nil, fmt.Errorf("the card's URL: %w", err)
		}
		u.RawQuery = out.Query
		to = u
	}
	r, err := http.NewRequestWithContext(ctx, out.Verb, to.String(), bytes.NewReader(out.Body))
	if err != nil {
		return nil, fmt.Errorf("the card's URL: %w", secret.URL(to.String()).Hide(err))
	}
	c.describe(r.Header, out)
	return r, nil
}

// describe sets what a request says of itself. Both names of the extensions' header are sent, the
// one of 1.0 and the one of before.
func (c *client) describe(h http.Header, out *translate.Outbound) {
	h.Set("User-Agent", "a2a-gateway")
	h.Set("A2A-Version", string(c.at.Version))
	if len(c.extensions) > 0 {
		name := "X-A2A-Extensions"
		if c.at.Version == wire.V10 {
			name = "A2A-Extensions"
		}
		h.Set(name, strings.Join(c.extensions, ", "))
	}
	if c.at.Binding == wire.GRPC {
		h.Set("Content-Type", mediatype.GRPC)
		h.Set("Te", "trailers")
		return
	}
	if h.Set("Accept", mediatype.JSON); out.Call.Streaming {
		h.Set("Accept", mediatype.Events+", "+mediatype.JSON)
	}
	if len(out.Body) > 0 {
		h.Set("Content-Type", mediatype.JSON)
	}
}

// answer is what comes back of one call.
type answer struct {
	*client

	call   *wire.Call   // as it was made, in 1.0
	out    *wire.Method // as the interface has it
	retold *translate.Retelling
	resp   *http.Response
	each   func([]byte) error
}

// read reads the answer by what it says that it is: a stream may be asked for and an answer come,
// which is an error or all that there is.
func (a *answer) read() error {
	media, _, _ := mime.ParseMediaType(a.resp.Header.Get("Content-Type"))
	switch {
	case 300 <= a.resp.StatusCode && a.resp.StatusCode < 400:
		return fmt.Errorf("it answers HTTP %s to %s, and calls follow no redirect", a.resp.Status, secret.URL(a.resp.Header.Get("Location")))
	case strings.HasPrefix(media, mediatype.GRPC):
		return a.messages()
	case media == mediatype.Events && a.resp.StatusCode < 300:
		return a.events()
	}
	body, err := io.ReadAll(io.LimitReader(a.resp.Body, largest))
	if err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	if err := a.one(body); err != nil {
		return err
	}
	return a.retold.End(a.emit)
}

// events reads a stream of server-sent events.
func (a *answer) events() error {
	for r := sse.NewReader(a.resp.Body, largest); ; {
		e, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			return a.retold.End(a.emit)
		case err != nil:
			return fmt.Errorf("the stream broke off: %w", err)
		case !e.HasData || e.Comment:
			continue
		}
		if err := a.one(e.Data); err != nil {
			return err
		}
	}
}

// messages reads a gRPC answer, which has one message or one for each event, and the status
// behind them.
func (a *answer) messages() error {
	for r := grpcframe.NewReader(a.resp.Body, largest); ; {
		message, err := r.Next()
		if errors.Is(err, io.EOF) {
			if e := failure.ReadStatus(a.resp.Header, a.resp.Trailer); e != nil {
				return e
			}
			return a.retold.End(a.emit)
		}
		if err != nil {
			return fmt.Errorf("read the answer: %w", err)
		}
		doc, err := wire.ResponseJSON(a.out, a.at.Version, message)
		if err != nil {
			return fmt.Errorf("read the answer: %w", err)
		}
		if err := a.one(doc); err != nil {
			return err
		}
	}
}

// one reads one document: an answer, an event, or an error.
func (a *answer) one(doc []byte) error {
	seen, err := wire.ReadAnswer(a.at.Binding, a.at.Version, a.out, doc, limits)
	switch failed := a.resp.StatusCode >= 300; {
	case err != nil && failed:
		return a.unknown(doc)
	case err != nil:
		return fmt.Errorf("what answers at %s speaks no A2A %s over %s: %w", secret.URL(a.at.URL), a.at.Version, a.at.Binding, err)
	case seen.Error != 0 || failed:
		e := failure.ReadError(a.side(), a.resp.StatusCode, doc)
		failure.RetryAs(e, a.resp.Header)
		return e
	case a.call.Streaming:
		return a.retold.Event(doc, a.emit)
	}
	whole, err := a.retold.Answer(nil, doc)
	if err != nil {
		return err
	}
	return a.emit(whole)
}

// unknown is the error for an HTTP status whose body says nothing in A2A's words: that of a proxy
// on the way, or of another kind of server.
func (a *answer) unknown(body []byte) error {
	text := strings.Join(strings.Fields(string(body)), " ")
	if runes := []rune(text); len(runes) > 200 {
		text = string(runes[:200]) + "…"
	}
	if text != "" {
		text = ": " + text
	}
	return &statusError{a.resp.StatusCode, a.resp.Status, text}
}

// emit takes the result out of a response of 1.0.
func (a *answer) emit(response []byte) error {
	var doc struct {
		Result json.RawMessage `json:"result"`
	}
	if err := json.Unmarshal(response, &doc); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	return a.each(doc.Result)
}
