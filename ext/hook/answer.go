package hook

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// What an answer may be at most, in bytes.
// An answer may hold a whole document; a message for the caller is a sentence.
const (
	maxAnswer  = 4 << 20
	maxMessage = 256
)

// answer is what a service says to a callout.
type answer struct {
	Action   string         `json:"action"`
	Message  *string        `json:"message"`  // with deny, optional
	Document jsontext.Value `json:"document"` // with mutate
}

// read takes nothing but 204, which is a pass, and 200 with JSON. Whatever else
// comes was not written by a service that knows what it was asked.
func read(resp *http.Response) (*answer, error) {
	switch resp.StatusCode {
	case http.StatusNoContent:
		return &answer{Action: "pass"}, nil
	case http.StatusOK:
	default:
		return nil, fmt.Errorf("answered with status %d", resp.StatusCode)
	}
	if media, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type")); err != nil || media != "application/json" {
		return nil, errors.New("answered with something other than application/json")
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return nil, fmt.Errorf("read answer: %w", bare(err))
	}
	if len(body) > maxAnswer {
		return nil, fmt.Errorf("answered with more than %d bytes", maxAnswer)
	}
	return parse(body)
}

// parse is strict: a member that this version does not know could be what the
// answer turns on.
func parse(body []byte) (*answer, error) {
	a := new(answer)
	if err := json.Unmarshal(body, a, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("read answer: %w", quiet(err))
	}
	return a, nil
}

// quiet leaves out of a JSON error what the document has: the values, and the names
// around them.
func quiet(err error) error {
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) {
		return fmt.Errorf("malformed JSON at byte %d", syntactic.ByteOffset)
	}
	if errors.Is(err, json.ErrUnknownName) {
		return errors.New("it has a member beside action, message and document")
	}
	return errors.New("it is not an object with a text for action")
}

// Settle reads an answer with status 200 to the callout, for others that speak the protocol of hooks, as
// guards do. It returns the document as the service wants it, or an error as Hook.Call does.
func (c *Callout) Settle(body []byte) ([]byte, error) {
	a, err := parse(body)
	if err != nil {
		return nil, err
	}
	return a.settle(c.Document)
}

// settle makes a document or a *Denied of an answer; was is the document that the
// service saw.
// A member too many is an error: {"action":"pass","document":…} may have been meant as mutate.
func (a *answer) settle(was []byte) ([]byte, error) {
	switch {
	case a.Action == "pass" && a.Document == nil && a.Message == nil:
		return was, nil
	case a.Action == "mutate" && a.Message == nil:
		return a.replacement()
	case a.Action == "deny" && a.Document == nil:
		return nil, &Denied{Message: a.message()}
	case a.Action == "pass", a.Action == "mutate", a.Action == "deny":
		return nil, fmt.Errorf("answered %s with a member that does not go with it", a.Action)
	}
	return nil, errors.New("answered with an action other than pass, mutate and deny")
}

// replacement is on one line, as an event of a stream has to be.
func (a *answer) replacement() ([]byte, error) {
	if a.Document.Kind() != '{' {
		return nil, errors.New("answered mutate with a document that is not an object")
	}
	if err := a.Document.Compact(); err != nil {
		return nil, fmt.Errorf("read answer: %w", quiet(err))
	}
	return a.Document, nil
}

// message leaves out a text that callers cannot be shown. The no stays a no: were it
// a failure, onFailure could make a yes of it.
func (a *answer) message() string {
	if a.Message == nil || len(*a.Message) > maxMessage || strings.ContainsFunc(*a.Message, unicode.IsControl) {
		return ""
	}
	return *a.Message
}
