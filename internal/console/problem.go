package console

import (
	"errors"
	"net/http"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// Problem is an error as the API tells it (RFC 9457). Its type is about:blank: the code
// says what is wrong, and stays what it is.
type Problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"` // of the status
	Status int    `json:"status"`
	Code   string `json:"code" doc:"for programs; it does not change"`
	Detail string `json:"detail" doc:"for people"`
	Needs  Role   `json:"needs,omitzero" doc:"the least role that may do this"`
	Line   int    `json:"line,omitzero" doc:"of the draft, where the first of what is wrong with it is"`
}

// The codes, with the status of each.
const (
	codeAgentExists      = "AGENT_EXISTS"
	codeAgentInFile      = "AGENT_IN_FILE"
	codeAgentsFull       = "AGENTS_FULL"
	codeAgentsOff        = "AGENTS_OFF"
	codeBusy             = "BUSY"
	codeContentType      = "CONTENT_TYPE"
	codeCrossOrigin      = "CROSS_ORIGIN"
	codeForbidden        = "FORBIDDEN"
	codeInternal         = "INTERNAL"
	codeInvalidAgent     = "INVALID_AGENT"
	codeInvalidCall      = "INVALID_CALL"
	codeInvalidConfig    = "INVALID_CONFIG"
	codeInvalidDraft     = "INVALID_DRAFT"
	codeInvalidKey       = "INVALID_KEY"
	codeInvalidParameter = "INVALID_PARAMETER"
	codeInvalidQuestion  = "INVALID_QUESTION"
	codeCSRF             = "CSRF_TOKEN"
	codeKeysOff          = "KEYS_OFF"
	codeLogin            = "LOGIN_FAILED"
	codeMalformed        = "MALFORMED"
	codeMethod           = "METHOD_NOT_ALLOWED"
	codeNotErased        = "NOT_ERASED"
	codeNotFound         = "NOT_FOUND"
	codeNoAgent          = "NO_SUCH_AGENT"
	codeNoCard           = "NO_SUCH_CARD"
	codeNoDelivery       = "NO_SUCH_DELIVERY"
	codeNoFile           = "NO_CONFIG_FILE"
	codeNoKey            = "NO_SUCH_KEY"
	codeNoRecord         = "NO_SUCH_RECORD"
	codeNoStream         = "NO_SUCH_STREAM"
	codeProvider         = "PROVIDER_UNAVAILABLE"
	codeReadOnly         = "READ_ONLY"
	codeReplayLimit      = "REPLAY_LIMIT"
	codeState            = "STATE_UNAVAILABLE"
	codeThrottled        = "THROTTLED"
	codeTooLarge         = "TOO_LARGE"
	codeUnauthenticated  = "UNAUTHENTICATED"
	codeUnknownHost      = "UNKNOWN_HOST"
	codeUnrecorded       = "UNRECORDED"
)

func statusOf(code string) int {
	switch code {
	case codeMalformed, codeInvalidParameter, codeInvalidAgent, codeInvalidCall, codeInvalidConfig, codeInvalidKey, codeInvalidQuestion,
		codeInvalidDraft, codeReplayLimit:
		return http.StatusBadRequest
	case codeUnauthenticated:
		return http.StatusUnauthorized
	case codeForbidden, codeReadOnly, codeCrossOrigin, codeAgentsOff, codeKeysOff, codeCSRF, codeLogin:
		return http.StatusForbidden
	case codeNotFound, codeNoAgent, codeNoCard, codeNoDelivery, codeNoKey, codeNoRecord, codeNoStream:
		return http.StatusNotFound
	case codeMethod:
		return http.StatusMethodNotAllowed
	case codeAgentExists, codeAgentInFile, codeAgentsFull, codeNoFile:
		return http.StatusConflict
	case codeTooLarge:
		return http.StatusRequestEntityTooLarge
	case codeContentType:
		return http.StatusUnsupportedMediaType
	case codeUnknownHost:
		return http.StatusMisdirectedRequest
	case codeThrottled:
		return http.StatusTooManyRequests
	case codeState, codeUnrecorded, codeProvider, codeBusy:
		return http.StatusServiceUnavailable
	default: // INTERNAL, NOT_ERASED
		return http.StatusInternalServerError
	}
}

// refusal is an error that the operator is told.
type refusal struct {
	code    string
	message string
	needs   Role // that would do
	line    int  // of what was sent
	header  http.Header
}

func (r *refusal) Error() string { return r.message }

func refuse(code, message string) error { return &refusal{code: code, message: message} }

func parameter(message string) error { return refuse(codeInvalidParameter, message) }

// told makes of any error what the operator is told. What was not meant for anybody goes
// to the log.
func (s *Console) told(r *http.Request, err error) *refusal {
	var no *refusal
	switch {
	case errors.As(err, &no):
		return no
	case errors.Is(err, state.ErrUnavailable):
		s.Log.Warn("admin request", "path", r.URL.Path, "error", err)
		return &refusal{code: codeState, message: "the state cannot be reached"}
	}
	var odd QuestionInvalid
	if errors.As(err, &odd) {
		return &refusal{code: codeInvalidQuestion, message: odd.Error()}
	}
	var wrong AttemptInvalid
	if errors.As(err, &wrong) {
		return &refusal{code: codeInvalidCall, message: wrong.Error()}
	}
	var draft DraftInvalid
	if errors.As(err, &draft) {
		return &refusal{code: codeInvalidDraft, message: draft.Error(), line: draft.Line}
	}
	if errors.Is(err, ErrBusy) {
		return &refusal{code: codeBusy, message: ErrBusy.Error(), header: http.Header{"Retry-After": {"5"}}}
	}
	s.Log.Error("admin request", "path", r.URL.Path, "error", err)
	return &refusal{code: codeInternal, message: "internal error; the log says more"}
}

// fail answers with an error.
func fail(w http.ResponseWriter, no *refusal) {
	for name, values := range no.header {
		w.Header()[name] = values
	}
	status := statusOf(no.code)
	write(w, status, "application/problem+json", Problem{
		Type: "about:blank", Title: http.StatusText(status), Status: status, Code: no.code, Detail: no.message, Needs: no.needs, Line: no.line,
	})
}
