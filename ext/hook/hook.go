// Package hook calls an HTTP service of the operator's at a phase of a call, so that
// extensions can be written in any language.
//
// It owns what the service is sent, and what counts as an answer. It does not own
// when a hook is called, in what order, or what becomes of a refusal. It imports
// internal/secret only.
//
//	POST /  {"phase":"request","extension":"https://…","agent":"billing", …,"document":{…}}
//
//	204                                         the document goes on as it is
//	200 {"action":"pass"}                       the same
//	200 {"action":"mutate","document":{…}}      this document goes on in its place
//	200 {"action":"deny","message":"…"}         the call, answer or event is refused
//
// Anything else is a failure, which onFailure makes a refusal or a pass.
package hook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
)

// Phase is a moment of a call.
type Phase string

// The phases.
const (
	Request  Phase = "request"  // before the agent sees the call
	Response Phase = "response" // of a unary answer, before the caller sees it
	Event    Phase = "event"    // of every event of a stream
)

// Header is a header of every callout.
type Header struct {
	// Name and value of the header.
	Name  string       `yaml:"name"`
	Value secret.Value `yaml:"value"`
}

// Callout is what the service is told, as JSON.
type Callout struct {
	Phase     Phase  `json:"phase"`
	Extension string `json:"extension"` // URI
	Agent     string `json:"agent"`     // configured id
	Method    string `json:"method"`    // 1.0 name, or the extension's own
	Version   string `json:"version"`   // of document: "1.0", "0.3"
	Binding   string `json:"binding"`   // of document: "JSONRPC", "HTTP+JSON", "GRPC"
	Skill     string `json:"skill,omitempty"`
	Principal string `json:"principal,omitempty"` // subject
	Tenant    string `json:"tenant,omitempty"`
	RequestID string `json:"requestId"`
	TaskID    string `json:"taskId,omitempty"`
	Document  []byte `json:"-"` // sent verbatim as "document": params, result or event; nil is sent as null

	// Failed is told of what onFailure lets pass, and would otherwise never be known.
	// Nil for nobody.
	Failed func(error) `json:"-"`
}

// Denied is the service's no.
type Denied struct {
	Message string // for the caller; "" for none
}

// Error is for the log.
func (d *Denied) Error() string {
	if d.Message == "" {
		return "denied by a hook"
	}
	return "denied by a hook: " + d.Message
}

// Hook is a Config made ready. Any number of goroutines may use it.
// The connections are its own: a slow service of one extension takes none from another's.
type Hook struct {
	url     string
	name    string // url without its query, which may be a credential
	phases  []Phase
	timeout time.Duration
	lenient bool // onFailure is pass
	header  http.Header
	client  *http.Client
	pool    *http.Transport
}

// New makes a Hook.
func New(c Config) (*Hook, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	u, err := c.URL.Parse()
	if err != nil {
		return nil, fmt.Errorf("url: %w", errURL)
	}
	h := &Hook{
		url:     c.URL.Reveal(),
		name:    u.Scheme + "://" + u.Host + u.Path,
		phases:  c.Phases,
		timeout: c.timeout(),
		lenient: c.OnFailure == passing,
		header:  c.header(),
		pool:    newPool(),
	}
	h.client = &http.Client{
		Transport: h.pool,
		// Calls go to the address that was configured and no further.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return h, nil
}

// newPool makes the connections to one service.
func newPool() *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	return &http.Transport{
		// No Proxy: an environment variable must not reroute what people say to agents.
		Protocols:           protocols,
		MaxIdleConns:        64,
		MaxIdleConnsPerHost: 64,
		IdleConnTimeout:     90 * time.Second,
		// A compressed answer could be a bomb.
		DisableCompression:     true,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

// Through has the service reached by a way out, before the first call.
func (h *Hook) Through(egress *tunnel.Proxy) { h.pool.DialContext = egress.Dialer(dialTimeout) }

// dialTimeout is for a connection, beside what a call may take in all.
const dialTimeout = 10 * time.Second

// Handles reports whether a phase is posted.
func (h *Hook) Handles(p Phase) bool {
	for _, own := range h.phases {
		if own == p {
			return true
		}
	}
	return false
}

// Call posts a phase and returns the document as it is to go on: Callout.Document
// itself, or what the service put in its place, which is a JSON object on one line.
// The error is a *Denied, or says why there was no usable answer; with onFailure pass
// there is none of the latter.
func (h *Hook) Call(ctx context.Context, c Callout) ([]byte, error) {
	doc, err := h.ask(ctx, &c)
	var denied *Denied
	switch {
	case err == nil:
		return doc, nil
	case errors.As(err, &denied):
		return nil, denied
	}
	err = fmt.Errorf("hook %s: %w", h.name, err)
	if !h.lenient {
		return nil, err
	}
	if c.Failed != nil {
		c.Failed(err)
	}
	return c.Document, nil
}

// ask posts the callout once. It is not repeated after a failure, as a service may count what it
// is told.
func (h *Hook) ask(ctx context.Context, c *Callout) ([]byte, error) {
	body, err := c.encode()
	if err != nil {
		return nil, err
	}
	// The time covers the connection, the question and the whole answer.
	ctx, cancel := context.WithTimeout(ctx, h.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url, bytes.NewReader(body))
	if err != nil {
		return nil, bare(err)
	}
	req.Header = h.header.Clone()
	resp, err := h.client.Do(req)
	if err != nil {
		return nil, bare(err)
	}
	defer resp.Body.Close()
	a, err := read(resp)
	if err != nil {
		return nil, err
	}
	return a.settle(c.Document)
}

// encode puts the document behind the members of a callout. It is JSON already, and
// not read again.
func (c *Callout) encode() ([]byte, error) {
	// The document of a long message would otherwise be checked and copied again by the encoder.
	head, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("write callout: %w", err)
	}
	doc := c.Document
	if len(doc) == 0 {
		doc = []byte("null")
	}
	const join = `,"document":`
	body := make([]byte, 0, len(head)+len(join)+len(doc))
	body = append(body, head[:len(head)-1]...)
	body = append(body, join...)
	body = append(body, doc...)
	return append(body, '}'), nil
}

// bare is err without the URL that net/http puts in front, query and all.
func bare(err error) error {
	var at *url.Error
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// Close lets go of idle connections.
func (h *Hook) Close() { h.pool.CloseIdleConnections() }
