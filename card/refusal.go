package card

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// ErrAbsent says of a URL that no document is there: the card is at another one.
var ErrAbsent = errors.New("no document is there")

// headSize is how much of an answer that is no card is looked at to say what it is.
const headSize = 4 << 10

// refusal is a status in the place of a card, and what an operator can do about it.
type refusal struct {
	text   string
	absent bool
}

func (r *refusal) Error() string { return r.text }

func (r *refusal) Is(target error) bool { return r.absent && target == ErrAbsent }

// refused says what a status other than 200 means where a card is asked for.
func refused(resp *http.Response) error {
	head, _ := io.ReadAll(io.LimitReader(resp.Body, headSize)) // what came counts
	r := &refusal{text: "the server answered " + resp.Status}
	switch {
	case resp.StatusCode == http.StatusUnauthorized, resp.StatusCode == http.StatusForbidden,
		resp.StatusCode == http.StatusProxyAuthRequired:
		r.text += ": the card is behind a login" + challenged(resp.Header) +
			", and the gateway shows no credential there: let this path be read without one"
	case resp.StatusCode == http.StatusNotFound, resp.StatusCode == http.StatusGone:
		r.absent = true
	case SpeaksMCP(resp.Header, head):
		r.text += otherProtocol
	case resp.StatusCode == http.StatusMethodNotAllowed, resp.StatusCode == http.StatusNotAcceptable:
		r.absent = true
		r.text += ": this is an endpoint, and its card has another URL"
	}
	return r
}

// challenged names the scheme that a server asks for, as far as it is a word.
func challenged(h http.Header) string {
	scheme, _, _ := strings.Cut(h.Get("Www-Authenticate"), " ")
	if scheme = strings.Trim(scheme, ","); scheme == "" || strings.Trim(strings.ToLower(scheme), "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return ""
	}
	return " (" + scheme + ")"
}

const otherProtocol = ": an MCP server answers so, which speaks another protocol than A2A"

// instead is what a document is that is no card, for the error about it; "" where that says
// enough.
func instead(resp *http.Response, raw []byte) string {
	doc := bytes.TrimLeft(bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf")), " \t\r\n")
	top := members(doc)
	switch {
	case SpeaksMCP(resp.Header, nil):
		return otherProtocol
	case bytes.HasPrefix(doc, []byte("<")) && bytes.Contains(bytes.ToLower(doc), []byte(`type="password"`)):
		return ": a login page is there: let this path be read without a credential"
	case bytes.HasPrefix(doc, []byte("<")):
		return ": a web page is there, such as one to log in, or of another service"
	case top.found("jsonrpc"):
		return ": it is an answer of JSON-RPC: the URL is that of an endpoint, and its card has another"
	case top.found("openapi"), top.found("swagger"):
		return ": it is the description of an HTTP API (OpenAPI)"
	case top.found("issuer"), top.found("authorization_servers"):
		return ": it is the metadata of an authorization server or of a protected resource"
	}
	return ""
}

// found reports whether there is such a member.
func (o object) found(name string) bool { return o.exact(name) != nil }

// mcp is what servers of the Model Context Protocol say to whoever does not speak it, and
// A2A agents do not.
var mcp = [][]byte{[]byte("mcp"), []byte("session id"), []byte("text/event-stream"), []byte("server not initialized")}

// SpeaksMCP reports whether an answer looks like one of a server of the Model Context
// Protocol, which people take for an agent's. What is for people to read tells nothing.
func SpeaksMCP(h http.Header, body []byte) bool {
	if h.Get("Mcp-Session-Id") != "" || h.Get("Mcp-Protocol-Version") != "" {
		return true
	}
	text := bytes.ToLower(body[:min(len(body), headSize)])
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("<")) {
		return false
	}
	for _, word := range mcp {
		if bytes.Contains(text, word) {
			return true
		}
	}
	return false
}

// elsewhere is the error about a redirect to another origin, which may be that of a login.
func elsewhere(to string) error {
	return fmt.Errorf("redirected to another origin, %q: to a login, or because the card has moved; give the URL at which the card is itself", to)
}
