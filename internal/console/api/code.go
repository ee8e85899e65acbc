package api

import "net/http"

// Code says what is wrong, for programs: it stays what it is. A screen declares those that
// are its own beside its operations.
type Code struct {
	Name   string
	Status int // of the answer
}

// Codes that several screens answer with, beside those of requests as such.
var (
	Busy            = Code{"BUSY", http.StatusServiceUnavailable}
	InvalidQuestion = Code{"INVALID_QUESTION", http.StatusBadRequest}
	Malformed       = Code{"MALFORMED", http.StatusBadRequest}
	NoAgent         = Code{"NO_SUCH_AGENT", http.StatusNotFound}
	Unrecorded      = Code{"UNRECORDED", http.StatusServiceUnavailable}
)

// Codes of requests that are not as their operation takes them.
var (
	contentType      = Code{"CONTENT_TYPE", http.StatusUnsupportedMediaType}
	invalidParameter = Code{"INVALID_PARAMETER", http.StatusBadRequest}
	tooLarge         = Code{"TOO_LARGE", http.StatusRequestEntityTooLarge}
)

// Refuse is the error that says so.
func (c Code) Refuse(message string) error { return &Refusal{Code: c, Message: message} }

// Refusal is an error that the operator is told.
type Refusal struct {
	Code    Code
	Message string
	Needs   Role // that would do
	Line    int  // of what was sent
	Header  http.Header
}

// Error implements error.
func (r *Refusal) Error() string { return r.Message }

// QuestionInvalid says what is wrong with a question, and where.
type QuestionInvalid struct {
	Member string
	Err    error
}

// Error implements error.
func (e QuestionInvalid) Error() string { return e.Member + ": " + e.Err.Error() }

// Refusal is what the operator is told of it.
func (e QuestionInvalid) Refusal() *Refusal {
	return &Refusal{Code: InvalidQuestion, Message: e.Error()}
}
