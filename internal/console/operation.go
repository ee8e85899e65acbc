package console

import (
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// operation is one request that is answered. Its row is all there is to say about it:
// requests are held to it, and the document of the API is made from it.
type operation struct {
	method  string
	path    string // exact but for {id}, which is one segment
	id      string // in the document and in records
	tag     string
	role    Role // the least that may; nobody for anybody
	writes  bool // it changes something
	summary string
	params  []param      // of the query
	in      reflect.Type // of the body, nil for none
	out     reflect.Type // of the answer
	media   string       // of an answer that is not JSON
	status  int          // of the answer; 0 for 200
	loose   bool         // others decide what else is in the query
	errors  []string     // codes, beside those of all
	answer  func(*Console, *call) (any, error)
}

// param is a parameter of the query.
type param struct {
	name        string
	text        string // what it says
	required    bool
	values      []string // that it may have; nil for any
	least, most int      // of a number; 0 and 0 for none
}

// call is a request on its way to an answer.
type call struct {
	*http.Request

	op    *operation // nil where nothing is there
	who   caller
	query url.Values // by op.params, each there once
}

// operations are all of them. What is not here is not found, and nothing below it either.
var operations = slices.Concat(apiOperations, loginOperations, deliveryOperations, cardOperations, agentOperations, contentOperations,
	runningOperations, keyOperations, streamOperations, recordOperations, ruleOperations, policyOperations, extensionOperations,
	[]operation{healthOperation, identitiesOperation, clusterOperation, tryOperation, exportOperation, liveOperation, mapOperation, courseOperation, limitsOperation, pairOperation, replayOperation}, profileOperations())

// find is the operation of a request, with {id} as a path value.
func find(r *http.Request) (*operation, error) {
	var methods []string
	for i := range operations {
		id, ok := match(operations[i].path, r.URL.Path)
		if !ok {
			continue
		}
		if operations[i].method == r.Method {
			r.SetPathValue("id", id)
			return &operations[i], nil
		}
		methods = append(methods, operations[i].method)
	}
	if methods == nil {
		return nil, refuse(codeNotFound, "there is nothing here")
	}
	slices.Sort(methods)
	return nil, &refusal{
		code: codeMethod, message: "this method does nothing here",
		header: http.Header{"Allow": {strings.Join(methods, ", ")}},
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

// read takes the parameters, each of which is known and there once: what is misspelt must
// not be a wider question than was meant.
func (c *call) read() error {
	q, err := url.ParseQuery(c.URL.RawQuery)
	if err != nil {
		return parameter("the query is malformed")
	}
	asked := 0
	for i := range c.op.params {
		p := &c.op.params[i]
		if err := p.check(q[p.name]); err != nil {
			return err
		}
		asked += len(q[p.name])
	}
	if asked != len(q) && !c.op.loose {
		return parameter("the query holds an unknown parameter")
	}
	c.query = q
	return nil
}

func (p *param) check(values []string) error {
	switch {
	case len(values) > 1:
		return parameter(p.name + " is there more than once")
	case p.required && (len(values) == 0 || values[0] == ""):
		return parameter(p.name + " is missing: it says " + p.text)
	case len(values) == 0:
		return nil
	case p.values != nil && !slices.Contains(p.values, values[0]):
		return parameter(p.name + " must be " + strings.Join(p.values, " or "))
	case p.most > 0:
		if n, err := strconv.Atoi(values[0]); err != nil || n < p.least || n > p.most {
			return parameter(fmt.Sprintf("%s must be a number from %d to %d", p.name, p.least, p.most))
		}
	}
	return nil
}

// number is a parameter that is one, 0 where it is not there.
func (c *call) number(name string) int {
	n, _ := strconv.Atoi(c.query.Get(name))
	return n
}
