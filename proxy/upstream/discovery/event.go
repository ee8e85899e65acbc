package discovery

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// What a line of a watch may be about.
const (
	added    = "ADDED"
	modified = "MODIFIED"
	deleted  = "DELETED"
	bookmark = "BOOKMARK" // nothing but a newer version to go on from
	failure  = "ERROR"
)

// event is one line of a watch for objects of a kind.
type event[T any] struct {
	kind   string
	object T // of a bookmark, the version alone
}

// status is how the API server says what is wrong.
type status struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// readEvent reads a line. One that reports a failure is an error, errGone where the
// version is too old.
//
// The API server reports a watch that it cannot serve with status 200 and a first line of the
// type ERROR, which carries a Status object: {"type":"ERROR","object":{"code":410,"message":"too
// old resource version"}}.
func readEvent[T any](line []byte) (event[T], error) {
	var raw struct {
		Type   string          `json:"type"`
		Object json.RawMessage `json:"object"`
	}
	if err := json.Unmarshal(line, &raw); err != nil {
		return event[T]{}, err
	}
	e := event[T]{kind: raw.Type}
	switch raw.Type {
	case added, modified, deleted, bookmark:
		err := json.Unmarshal(raw.Object, &e.object)
		return e, err
	case failure:
		var s status
		if err := json.Unmarshal(raw.Object, &s); err != nil {
			return e, err
		}
		if s.Code == http.StatusGone {
			return e, errGone
		}
		return e, fmt.Errorf("the API server says %d: %.200q", s.Code, s.Message)
	}
	return e, fmt.Errorf("an event of the unknown type %.40q", raw.Type)
}
