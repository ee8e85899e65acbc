package console

import (
	"errors"
	"net/http"

	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// Problem is an error as the API tells it (RFC 9457). Its type is about:blank: the code
// says what is wrong, and stays what it is.
type Problem struct {
	Type   string   `json:"type"`
	Title  string   `json:"title"` // of the status
	Status int      `json:"status"`
	Code   string   `json:"code" doc:"code of the error, for programs; it is stable"`
	Detail string   `json:"detail" doc:"description of the error, for people"`
	Needs  api.Role `json:"needs,omitzero" doc:"lowest role that may use the operation"`
	Line   int      `json:"line,omitzero" doc:"line of the first mistake in the draft"`
}

// Codes of requests that come to no operation, or that are not permitted.
var (
	crossOrigin     = api.Code{Name: "CROSS_ORIGIN", Status: http.StatusForbidden}
	csrf            = api.Code{Name: "CSRF_TOKEN", Status: http.StatusForbidden}
	forbidden       = api.Code{Name: "FORBIDDEN", Status: http.StatusForbidden}
	internal        = api.Code{Name: "INTERNAL", Status: http.StatusInternalServerError}
	loginFailed     = api.Code{Name: "LOGIN_FAILED", Status: http.StatusForbidden}
	noProvider      = api.Code{Name: "PROVIDER_UNAVAILABLE", Status: http.StatusServiceUnavailable}
	noState         = api.Code{Name: "STATE_UNAVAILABLE", Status: http.StatusServiceUnavailable}
	notFound        = api.Code{Name: "NOT_FOUND", Status: http.StatusNotFound}
	readOnly        = api.Code{Name: "READ_ONLY", Status: http.StatusForbidden}
	throttled       = api.Code{Name: "THROTTLED", Status: http.StatusTooManyRequests}
	unauthenticated = api.Code{Name: "UNAUTHENTICATED", Status: http.StatusUnauthorized}
	unknownHost     = api.Code{Name: "UNKNOWN_HOST", Status: http.StatusMisdirectedRequest}
	wrongMethod     = api.Code{Name: "METHOD_NOT_ALLOWED", Status: http.StatusMethodNotAllowed}
)

// told makes of any error what the operator is told. What was not meant for anybody goes to
// the log. Packages of screens have errors of their own, which say by a method Refusal what
// the operator is told. An error without that is internal: its text may name files or
// addresses, and stays in the log.
func (s *Console) told(r *http.Request, err error) *api.Refusal {
	var no *api.Refusal
	if errors.As(err, &no) {
		return no
	}
	if errors.Is(err, state.ErrUnavailable) {
		s.Log.Warn("admin request", "path", r.URL.Path, "error", err)
		return &api.Refusal{Code: noState, Message: "the state cannot be reached"}
	}
	var telling interface {
		error
		Refusal() *api.Refusal
	}
	if errors.As(err, &telling) {
		return telling.Refusal()
	}
	s.Log.Error("admin request", "path", r.URL.Path, "error", err)
	return &api.Refusal{Code: internal, Message: "internal error; the log says more"}
}

// fail answers with an error. Headers of the refusal, such as Retry-After or
// WWW-Authenticate, are set before the status.
func fail(w http.ResponseWriter, no *api.Refusal) {
	for name, values := range no.Header {
		w.Header()[name] = values
	}
	status := no.Code.Status
	write(w, status, "application/problem+json", Problem{
		Type: "about:blank", Title: http.StatusText(status), Status: status, Code: no.Code.Name, Detail: no.Message, Needs: no.Needs, Line: no.Line,
	})
}
