package console

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
	"github.com/a2a-gateway/a2a-gateway/internal/console/approvals"
	"github.com/a2a-gateway/a2a-gateway/internal/hostname"
	"github.com/a2a-gateway/a2a-gateway/internal/server/screen"
)

// reply is an answer that is more than a document.
type reply struct {
	to      string // another place to look at
	cookies []*http.Cookie
	body    any // nil for none
}

// ServeHTTP implements http.Handler. An answer is a document, a reply with cookies or a
// redirect, or a handler that writes by itself, as a stream of records does; the last is
// not under answerTimeout.
func (s *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.harden(w.Header())
	if headSize(r) > headerSize+int(s.Tokens().TokenBytes()) {
		w.Header().Set("Connection", "close") // as net/http does beyond what it reads
		http.Error(w, "431 Request Header Fields Too Large", http.StatusRequestHeaderFieldsTooLarge)
		return
	}
	if s.page(w, r) {
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), answerTimeout)
	defer cancel()
	c := &api.Call{
		Request: r.WithContext(ctx), Audit: s.Audit, FailOpen: s.FailOpen, Log: s.Log, MaxBody: int64(s.config.Body),
	}
	answer, err := s.serve(c)
	if err != nil {
		no := s.told(r, err)
		s.refused(c, no)
		fail(w, no)
		return
	}
	switch a := answer.(type) {
	case http.Handler:
		a.ServeHTTP(w, r) // which takes its own time
	case reply:
		a.send(w, r)
	default:
		respond(w, r, answer)
	}
}

// send writes the reply. A redirect is a 303, so that the browser follows it with a GET
// whatever the request was.
func (a reply) send(w http.ResponseWriter, r *http.Request) {
	for _, cookie := range a.cookies {
		http.SetCookie(w, cookie)
	}
	if a.to == "" {
		respond(w, r, a.body)
		return
	}
	w.Header().Set("Location", a.to)
	w.WriteHeader(http.StatusSeeOther)
}

// headSize is how many bytes the head of a request has, with the least white space. What
// net/http reads is bounded for as long as it serves, by the longest token that a configuration
// may permit; the one in force may permit less.
func headSize(r *http.Request) int {
	n := len(r.Method) + len(r.RequestURI) + len(r.Proto) + len(" ") + len(" ") + len("\r\n")
	n += len("Host: \r\n") + len(r.Host) // which is no field here
	for name, values := range r.Header {
		for _, value := range values {
			n += len(name) + len(": ") + len(value) + len("\r\n")
		}
	}
	return n + len("\r\n")
}

// harden sets what every answer has: it is not kept, not taken for something else, not
// shown inside of another page, and brings nothing along. The policy permits scripts and
// styles of this origin alone: what an agent's card or a record holds cannot run, even
// where a page forgot to escape it. Strict-Transport-Security is only sent over TLS (RFC
// 6797, section 7.2).
func (s *Console) harden(h http.Header) {
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	if s.secured != nil {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
}

// serve puts the questions in order, and answers. Nobody without a credential learns
// anything, not even which paths there are. The package doc has the questions in a table.
func (s *Console) serve(c *api.Call) (any, error) {
	if host, ok := hostname.Canonical(c.Host); !ok || !s.hosts[host] {
		return nil, unknownHost.Refuse("this host is not served here; admin.hosts lists others")
	}
	if e := screen.Request(c.Request, s.limits.Screen()); e != nil {
		message, _, _ := strings.Cut(e.Message, " (server.limits.") // whose keys are not this listener's
		return nil, api.Malformed.Refuse(message)
	}
	op, absent := find(s.operations, c.Request)
	if c.Operation = op; op == nil || op.Role != nobody {
		var err error
		if c.Caller, err = s.access.identify(c.Request); err != nil {
			return nil, err
		}
	}
	if err := s.own(c); err != nil {
		return nil, err
	}
	if c.ContentLength != 0 && (op == nil || op.In == nil) {
		return nil, api.Malformed.Refuse("this request takes no body")
	}
	if absent != nil {
		return nil, absent
	}
	if err := s.permit(c); err != nil {
		return nil, err
	}
	return op.Answer(c)
}

// own asks whether a request that a browser makes is made by a page of this listener. What
// a session's cookie proves, any page of the browser could have sent. Browsers say in
// Sec-Fetch-Site where a request comes from; those that do not are caught by the Origin
// header (http.CrossOriginProtection) and by the CSRF token, which another site cannot
// read.
func (s *Console) own(c *api.Call) error {
	if err := s.cross.Check(c.Request); err != nil {
		return crossOrigin.Refuse("requests from pages of other origins are refused")
	}
	if c.Caller.Session == nil {
		return nil
	}
	// To look at a page from elsewhere, or coming back from the provider, is no harm.
	looks := c.Method == http.MethodGet && c.Header.Get("Sec-Fetch-Mode") == "navigate"
	if site := c.Header.Get("Sec-Fetch-Site"); (site == "cross-site" || site == "same-site") && !looks {
		return crossOrigin.Refuse("requests from pages of other origins are refused")
	}
	shown := c.Header.Get("X-Csrf-Token")
	if c.Method != http.MethodGet && subtle.ConstantTimeCompare([]byte(shown), []byte(c.Caller.Session.CSRF)) != 1 {
		return csrf.Refuse("the header X-CSRF-Token is missing or wrong; GET /api/v1/session has it")
	}
	return nil
}

// permit asks whether this caller may, and whether anybody may. The role comes first: who
// may not do a thing need not learn that nobody may at the moment. Last, the parameters and
// the body are read (Call.Read).
func (s *Console) permit(c *api.Call) error {
	if !c.Caller.Role.May(c.Operation.Role) {
		return &api.Refusal{
			Code: forbidden, Message: "this takes the role " + string(c.Operation.Role) + "; yours is " + string(c.Caller.Role), Needs: c.Operation.Role,
		}
	}
	if c.Operation.Writes && s.config.ReadOnly {
		return readOnly.Refuse("admin.readOnly: nothing can be changed here")
	}
	return c.Read()
}

// refused puts on record that something was not permitted: not to this caller, or not to
// anybody. What is merely wrong is not. A record names who asked, which operation and why
// not. A failure to write it changes nothing, as the request was refused already.
func (s *Console) refused(c *api.Call, no *api.Refusal) {
	switch no.Code {
	case forbidden, readOnly, crossOrigin, csrf, loginFailed, approvals.NotApprover:
	case unauthenticated:
		if c.Header["Authorization"] == nil {
			return // nobody claims anything
		}
	default:
		return
	}
	attrs := c.By()
	attrs["why"] = no.Code.Name
	if c.Operation != nil {
		attrs["operation"] = c.Operation.ID
		if id := c.PathValue("id"); api.ValidID(id) {
			attrs["id"] = id
		}
	}
	if no.Needs != nobody {
		attrs["needs"] = string(no.Needs)
	}
	if err := s.Audit("admin.refused", attrs); err != nil {
		s.Log.Error("write audit event", "error", err)
	}
}

// respond answers with a document, or says that the caller has it. The ETag is a digest of
// the body, so that a page which asks every ten seconds mostly gets a 304 without a body
// (RFC 9110, section 13.1.2).
func respond(w http.ResponseWriter, r *http.Request, answer any) {
	body, err := json.Marshal(answer)
	if err != nil {
		fail(w, &api.Refusal{Code: internal, Message: "internal error"})
		return
	}
	if r.Method == http.MethodGet {
		sum := sha256.Sum256(body)
		tag := `"` + base64.RawURLEncoding.EncodeToString(sum[:16]) + `"`
		w.Header().Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body) //nolint:gosec // JSON, which browsers are told is nothing else; the operator has gone
}

// write answers with a status and a document, for errors.
func write(w http.ResponseWriter, status int, media string, answer any) {
	w.Header().Set("Content-Type", media)
	w.WriteHeader(status)
	_ = json.MarshalWrite(w, answer) // the operator has gone
}
