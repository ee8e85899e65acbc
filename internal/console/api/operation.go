package api

import (
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/spelling"
)

// Operation is one request that is answered. Its row is all there is to say about it:
// requests are held to it, and the document of the API is made from it.
type Operation struct {
	Method  string
	Path    string // exact but for {id}, which is one segment
	ID      string // in the document and in records
	Tag     string
	Role    Role // the least that may; the zero Role for anybody
	Writes  bool // it changes something
	Summary string
	Params  []Param      // of the query
	Pages   bool         // the answer is a list that comes page by page
	In      reflect.Type // of the body, nil for none
	YAML    bool         // the body may be YAML as well
	Out     reflect.Type // of the answer
	Media   string       // of an answer that is not JSON, or need not be
	Status  int          // of the answer; 0 for 200
	Loose   bool         // others decide what else is in the query
	Errors  []Code       // beside those of all
	// Answer answers with a document, or with an http.Handler that writes the answer itself.
	Answer func(*Call) (any, error)
}

// Param is a parameter of the query.
type Param struct {
	Name        string
	Text        string // what it says
	Required    bool
	Values      []string // that it may have; nil for any
	Least, Most int      // of a number; 0 and 0 for none
}

// Query are all parameters of the query.
func (o *Operation) Query() []Param {
	if !o.Pages {
		return o.Params
	}
	return slices.Concat(o.Params, pageParams)
}

// Codes are the errors of the operation, but for those of whoever may not come in.
func (o *Operation) Codes() []Code {
	codes := []Code{invalidParameter}
	if o.Writes {
		codes = append(codes, Unrecorded)
	}
	if o.In != nil {
		codes = append(codes, contentType, tooLarge)
	}
	return append(codes, o.Errors...)
}

// read takes the parameters of a query, each of which is known and there once: what is
// misspelt must not be a wider question than was meant.
func (o *Operation) read(query string) (url.Values, error) {
	q, err := url.ParseQuery(query)
	if err != nil {
		return nil, invalidParameter.Refuse("the query is malformed")
	}
	asked := 0
	for _, p := range o.Query() {
		if err := p.check(q[p.Name]); err != nil {
			return nil, err
		}
		asked += len(q[p.Name])
	}
	if asked != len(q) && !o.Loose {
		return nil, invalidParameter.Refuse(o.unknown(q))
	}
	return q, nil
}

// unknown says that a query has a parameter which the operation does not take, and which was probably meant. The
// name is not repeated: a secret may have been pasted there.
func (o *Operation) unknown(q url.Values) string {
	var known []string
	for _, p := range o.Query() {
		known = append(known, p.Name)
	}
	const text = "the query holds an unknown parameter"
	for _, name := range slices.Sorted(maps.Keys(q)) {
		if hint := spelling.Hint(name, known); hint != "" && !slices.Contains(known, name) {
			return text + hint
		}
	}
	if len(known) == 0 {
		return text + "; this operation takes none"
	}
	return text + "; this operation takes " + strings.Join(known, ", ")
}

func (p *Param) check(values []string) error {
	switch {
	case len(values) > 1:
		return invalidParameter.Refuse(p.Name + " is there more than once")
	case p.Required && (len(values) == 0 || values[0] == ""):
		return invalidParameter.Refuse(p.Name + " is missing: it says " + p.Text)
	case len(values) == 0:
		return nil
	case p.Values != nil && !slices.Contains(p.Values, values[0]):
		return invalidParameter.Refuse(p.Name + " must be " + strings.Join(p.Values, " or "))
	case p.Most > 0:
		if n, err := strconv.Atoi(values[0]); err != nil || n < p.Least || n > p.Most {
			return invalidParameter.Refuse(fmt.Sprintf("%s must be a number from %d to %d", p.Name, p.Least, p.Most))
		}
	}
	return nil
}

var id = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// ValidID keeps what is no id out of records. What makes one is the gateway's to say.
func ValidID(text string) bool { return id.MatchString(text) }
