package api

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/console/login"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/mediatype"
)

// Call is a request on its way to an answer. It is made for each request, and used by one
// goroutine.
type Call struct {
	*http.Request

	Operation *Operation // nil where nothing is there
	Caller    Caller
	Query     url.Values // by the parameters of the operation, each there once

	// Audit records a change before it is made; without a record there is no change, unless
	// FailOpen.
	Audit    func(kind string, attrs map[string]string) error
	FailOpen bool
	Log      *slog.Logger
	MaxBody  int64 // admin.body
}

// Caller is who asks, as far as a credential says. The zero Caller is nobody, with the zero
// Role.
type Caller struct {
	Name    string   // in records
	Subject string   // at the identity provider, or the name of the token
	Groups  []string // values of admin.oidc.claim; nil for a token
	Role    Role
	Method  string // how it was proved
	Expires time.Time
	Label   string         // for people; "" for none
	Session *login.Session // nil for a caller who shows a token
	Cookie  string         // the id of the session
}

// Read takes the parameters of the query. It is called when the caller may make the call at
// all.
func (c *Call) Read() (err error) {
	c.Query, err = c.Operation.read(c.URL.RawQuery)
	return err
}

// Number is a parameter that is one, 0 where it is not there. The query was checked by
// Read, so that text which is no number does not get here.
func (c *Call) Number(name string) int {
	n, _ := strconv.Atoi(c.Query.Get(name))
	return n
}

// Time is a parameter that is one, zero where it is not there. layout is as the package
// time has it; the error names the parameter and the layout.
func (c *Call) Time(name, layout string) (time.Time, error) {
	text := c.Query.Get(name)
	if text == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(layout, text)
	if err != nil {
		return t, c.InvalidParameter(name + " must be a time as " + time.Date(2026, time.January, 2, 15, 4, 5, 0, time.UTC).Format(layout))
	}
	return t, nil
}

// InvalidParameter is the error that says what is wrong with one.
func (c *Call) InvalidParameter(message string) error { return invalidParameter.Refuse(message) }

// Document reads a JSON document of at most admin.body, or one of YAML where the operation takes that. Errors
// are refusals with the status 415, 413 or 400. Another media type than these is refused since browsers
// send forms of other sites with other types and without asking first.
func (c *Call) Document() ([]byte, error) {
	if types := c.Header["Content-Type"]; !c.SentYAML() && (len(types) != 1 || !mediatype.OfRequest(types[0])) {
		return nil, contentType.Refuse("send Content-Type: application/json")
	}
	doc, err := io.ReadAll(io.LimitReader(c.Body, c.MaxBody+1))
	switch {
	case err != nil:
		return nil, Malformed.Refuse("the body could not be read")
	case int64(len(doc)) > c.MaxBody:
		// Whoever still sends when the connection is closed may never read why.
		_, _ = io.CopyN(io.Discard, c.Body, c.MaxBody)
		return nil, tooLarge.Refuse(fmt.Sprintf("the body is longer than %d bytes (admin.body)", c.MaxBody))
	}
	return doc, nil
}

// SentYAML reports whether the body is YAML (RFC 9512), in an operation that takes it.
func (c *Call) SentYAML() bool {
	types := c.Header["Content-Type"]
	return c.Operation.YAML && len(types) == 1 && types[0] == "application/yaml"
}

// ClientIP is the address that the request comes from.
func (c *Call) ClientIP() string {
	host, _, err := net.SplitHostPort(c.RemoteAddr)
	if err != nil {
		return ""
	}
	return host
}

// By says who asks, in records.
func (c *Call) By() map[string]string {
	return map[string]string{"who": c.Caller.Name, "client_ip": c.ClientIP()}
}

// Changed is the answer to a change: what has become of what.
type Changed struct {
	ID    string `json:"id"`
	State string `json:"state"`
}

// Change makes a change of what attrs name, which is on record before it is made. One that
// then comes to nothing is on record as well, and missing is what is said of what is not
// there.
func (c *Call) Change(kind string, attrs map[string]string, missing error, do func(context.Context) (bool, error)) error {
	maps.Copy(attrs, c.By())
	if err := c.Audit(kind, attrs); err != nil {
		c.Log.Error("write audit event", "error", err)
		if !c.FailOpen {
			return Unrecorded.Refuse("the change cannot be recorded, and is not made")
		}
	}
	done, err := do(c.Context())
	switch {
	case err != nil:
		attrs["outcome"] = "failed"
	case !done:
		attrs["outcome"] = "not found"
	default:
		return nil
	}
	if failed := c.Audit(kind, attrs); failed != nil {
		c.Log.Error("write audit event", "error", failed)
	}
	if err == nil {
		err = missing
	}
	return err
}
