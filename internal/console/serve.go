package console

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// route is one request that is answered. Its path is exact but for {id}, which is one
// segment.
type route struct {
	method string
	path   string
	writes bool // it changes something
	answer func(*Console, *http.Request) (any, error)
}

// routes are all of them. What is not here is not found, and nothing below it either.
var routes = slices.Concat(deliveryRoutes, agentRoutes, contentRoutes)

// deliveryRoutes are those about webhooks.
var deliveryRoutes = []route{
	{http.MethodGet, "/api/v1/push", false, (*Console).depth},
	{http.MethodGet, "/api/v1/push/deliveries", false, (*Console).list},
	{http.MethodPost, "/api/v1/push/deliveries/{id}/retry", true, (*Console).retry},
	{http.MethodDelete, "/api/v1/push/deliveries/{id}", true, (*Console).drop},
	{http.MethodGet, "/api/v1/cards", false, (*Console).cards},
	{http.MethodGet, "/api/v1/cards/{id}", false, (*Console).card},
	{http.MethodPost, "/api/v1/cards/{id}/approve", true, (*Console).approve},
	{http.MethodPost, "/api/v1/cards/{id}/reject", true, (*Console).reject},
}

// refusal is an error that the operator is told.
type refusal struct {
	status  int
	reason  string // for programs
	message string
	header  http.Header
}

func (r *refusal) Error() string { return r.message }

func refuse(status int, reason, message string) error {
	return &refusal{status: status, reason: reason, message: message}
}

// ServeHTTP implements http.Handler.
func (s *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	err := s.admit(r)
	if err == nil {
		if p := profile(r); p != nil {
			w.Header().Set("Cache-Control", "no-store")
			p.ServeHTTP(w, r)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), answerTimeout)
		defer cancel()
		var answer any
		if answer, err = s.serve(r.WithContext(ctx)); err == nil {
			write(w, http.StatusOK, answer)
			return
		}
	}
	s.fail(w, r, err)
}

// fail answers with an error.
func (s *Console) fail(w http.ResponseWriter, r *http.Request, err error) {
	var no *refusal
	switch {
	case errors.As(err, &no):
	case errors.Is(err, state.ErrUnavailable):
		s.Log.Warn("admin request", "path", r.URL.Path, "error", err)
		no = &refusal{status: http.StatusServiceUnavailable, reason: "STATE_UNAVAILABLE", message: "the state cannot be reached"}
	default:
		s.Log.Error("admin request", "path", r.URL.Path, "error", err)
		no = &refusal{status: http.StatusInternalServerError, reason: "INTERNAL", message: "internal error; the log says more"}
	}
	for name, values := range no.header {
		w.Header()[name] = values
	}
	write(w, no.status, map[string]any{"error": map[string]any{"reason": no.reason, "message": no.message}})
}

// admit puts the questions that come before any other, in order. Nobody without the token
// learns anything, not even which paths there are; a page of somebody else's gets no
// further than its origin.
func (s *Console) admit(r *http.Request) error {
	if host, ok := server.CanonicalHost(r.Host); !ok || !s.hosts[host] {
		return refuse(http.StatusMisdirectedRequest, "UNKNOWN_HOST", "this host is not served here; admin.hosts lists others")
	}
	if e := server.Screen(r, s.limits); e != nil {
		return refuse(http.StatusBadRequest, "MALFORMED", e.Message)
	}
	if err := s.cross.Check(r); err != nil {
		return refuse(http.StatusForbidden, "CROSS_ORIGIN", "requests from pages of other origins are refused")
	}
	if !s.known(r) {
		return &refusal{
			http.StatusUnauthorized, "UNAUTHENTICATED", "the token of the admin API is missing or wrong",
			http.Header{"Www-Authenticate": {`Bearer realm="admin"`}},
		}
	}
	if r.ContentLength != 0 && !bodied(r) {
		return refuse(http.StatusBadRequest, "MALFORMED", "this request takes no body")
	}
	return nil
}

// serve answers what is in the table.
func (s *Console) serve(r *http.Request) (any, error) {
	found, err := find(r)
	if err != nil {
		return nil, err
	}
	if found.writes && s.config.ReadOnly {
		return nil, refuse(http.StatusForbidden, "READ_ONLY", "admin.readOnly: nothing can be changed here")
	}
	return found.answer(s, r)
}

// known reports whether a request shows the token. Digests are compared, so that the time
// that takes says nothing of the token, its length included.
func (s *Console) known(r *http.Request) bool {
	shown := r.Header["Authorization"]
	if len(shown) != 1 {
		return false
	}
	scheme, token, ok := strings.Cut(shown[0], " ")
	got, want := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(s.token.Reveal()))
	same := subtle.ConstantTimeCompare(got[:], want[:]) == 1
	return ok && same && strings.EqualFold(scheme, "Bearer")
}

// find is the route of a request, with {id} as a path value.
func find(r *http.Request) (*route, error) {
	var methods []string
	for i := range routes {
		id, ok := match(routes[i].path, r.URL.Path)
		if !ok {
			continue
		}
		if routes[i].method == r.Method {
			r.SetPathValue("id", id)
			return &routes[i], nil
		}
		methods = append(methods, routes[i].method)
	}
	if methods == nil {
		return nil, refuse(http.StatusNotFound, "NOT_FOUND", "there is nothing here")
	}
	slices.Sort(methods)
	return nil, &refusal{
		http.StatusMethodNotAllowed, "METHOD_NOT_ALLOWED", "this method does nothing here",
		http.Header{"Allow": {strings.Join(methods, ", ")}},
	}
}

// match compares segment by segment.
func match(pattern, path string) (id string, ok bool) {
	want, got := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(want) != len(got) {
		return "", false
	}
	for i := range want {
		switch {
		case want[i] == "{id}" && got[i] != "":
			id = got[i]
		case want[i] != got[i]:
			return "", false
		}
	}
	return id, true
}

// change makes a change of what id names, which is on record before it is made. One that
// then comes to nothing is on record as well, and missing is what is said of what is not
// there.
func (s *Console) change(r *http.Request, kind string, attrs map[string]string, missing error, do func(context.Context) (bool, error)) error {
	maps.Copy(attrs, by(r))
	if err := s.Audit(kind, attrs); err != nil {
		s.Log.Error("write audit event", "error", err)
		if !s.FailOpen {
			return refuse(http.StatusServiceUnavailable, "UNRECORDED", "the change cannot be recorded, and is not made")
		}
	}
	done, err := do(r.Context())
	switch {
	case err != nil:
		attrs["outcome"] = "failed"
	case !done:
		attrs["outcome"] = "not found"
	default:
		return nil
	}
	if failed := s.Audit(kind, attrs); failed != nil {
		s.Log.Error("write audit event", "error", failed)
	}
	if err == nil {
		err = missing
	}
	return err
}

// by says who asks for a change, in the record of it.
func by(r *http.Request) map[string]string {
	who := map[string]string{"who": adminToken, "client_ip": ""}
	if host, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
		who["client_ip"] = host
	}
	return who
}

// adminToken is who changes something with the token of the admin API.
const adminToken = "admin-token"

func write(w http.ResponseWriter, status int, answer any) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	w.WriteHeader(status)
	_ = json.MarshalWrite(w, answer) // the operator has gone
}
