package console

import (
	"net/http"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
)

// find is the operation of a request, with {id} as a path value.
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
	slices.Sort(methods)
	return nil, &api.Refusal{
		Code: wrongMethod, Message: "this method does nothing here",
		Header: http.Header{"Allow": {strings.Join(methods, ", ")}},
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
