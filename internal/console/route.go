package console

import (
	"net/http"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
)

// find is the operation of a request, with {id} as a path value. An error is a 404, or a
// 405 with the methods that the path has (RFC 9110, section 15.5.6). The operations are a
// few dozen, so that a loop is fast enough and no router is needed.
func find(operations []api.Operation, r *http.Request) (*api.Operation, error) {
	var methods []string
	for i := range operations {
		id, ok := match(operations[i].Path, r.URL.Path)
		if !ok {
			continue
		}
		if operations[i].Method == r.Method {
			r.SetPathValue("id", id)
			return &operations[i], nil
		}
		methods = append(methods, operations[i].Method)
	}
	if methods == nil {
		return nil, notFound.Refuse("there is nothing here")
	}
	// The order of rows is that of screens, and says nothing to a client.
	slices.Sort(methods)
	return nil, &api.Refusal{
		Code: wrongMethod, Message: "this method does nothing here",
		Header: http.Header{"Allow": {strings.Join(methods, ", ")}},
	}
}

// match compares segment by segment. Segments are those of the decoded path, so that an
// encoded slash in an id makes one more segment and matches nothing. An empty id is none.
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
