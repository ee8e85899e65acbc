package wire

import (
	"errors"
	"strconv"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
)

// FilterTasks cuts the tasks that keep says no to out of the list that an extension's
// method answers, and leaves every other byte as it was, the white space between
// entries included. Those of ListTasks itself are put together from pages; see taskpage.
// a is what ReadAnswer made of body; keep is asked about each of its tasks, in order. When keep says yes to every task, body itself is
// returned; otherwise the result is new memory and body is unchanged.
//
// A totalSize, where the list has one as that of ListTasks, becomes the number of tasks
// kept as soon as one is cut: an agent that lists other people's tasks counts them too,
// and the difference would tell how many there are.
//
//	{"tasks":[{"id":"a",…},{"id":"b",…}],"totalSize":2}     keep says no to b
//	{"tasks":[{"id":"a",…}],"totalSize":1}
func FilterTasks(b Binding, _ Version, body []byte, a Answer, keep func(TaskRef) bool) ([]byte, error) {
	if a.Kind != kindList {
		return nil, filterError("not a list of tasks")
	}
	cuts, kept, err := CutTasks(len(body), a.Tasks, func(i int) bool { return keep(a.Tasks[i]) })
	if err != nil {
		return nil, err
	}
	if len(cuts) == 0 {
		return body, nil
	}
	total, err := totalSize(b, body)
	if err != nil {
		return nil, err
	}
	for _, span := range total {
		cuts = append(cuts, jsonscan.Splice{Start: span[0], End: span[1], Text: strconv.Itoa(kept)})
	}
	return jsonscan.Spliced(body, cuts), nil
}

// CutTasks returns the splices that cut those entries of a list out of a body of length bytes that
// keep says no to, and how many entries are kept. tasks are what ReadAnswer has found.
//
// Each cut takes the comma beside the entry with it, the one before or the one behind, by how many are
// kept so far.
func CutTasks(length int, tasks []TaskRef, keep func(i int) bool) (cuts []jsonscan.Splice, kept int, err error) {
	for i, t := range tasks {
		if !follows(t.Span, tasks[:i], length) {
			return nil, 0, filterError("not the body that was read")
		}
		if keep(i) {
			kept++
			continue
		}
		cuts = append(cuts, jsonscan.Cutting(i, len(tasks), kept, func(i int) [2]int { return tasks[i].Span }))
	}
	return cuts, kept, nil
}

// filterError is the refusal of an answer that cannot be filtered: what cannot be cut out must not
// be shown.
func filterError(reason string) error {
	return &Error{Kind: BadAgentResponse, Err: errors.New("filter tasks: " + reason)}
}

// follows reports whether span can be the next entry behind those before it.
func follows(span [2]int, before []TaskRef, length int) bool {
	from := 0
	if n := len(before); n > 0 {
		from = before[n-1].Span[1]
	}
	return from <= span[0] && span[0] < span[1] && span[1] <= length
}

// totalSize finds the values of totalSize, in camelCase and as its proto name,
// whatever their type. It reads the body a second time rather than have every
// answer carry the place: only lists that are filtered need it.
//
//	HTTP+JSON   {"tasks":[…],"totalSize":2}
//	JSON-RPC    {"jsonrpc":"2.0","id":1,"result":{"tasks":[…],"totalSize":2}}
func totalSize(b Binding, body []byte) ([][2]int, error) {
	// ReadAnswer has held the body to the limits that count.
	s := Rescan(body)
	defer s.Release()
	var found [][2]int
	page := func() {
		for s.Enter(); s.More(); {
			name := string(s.Name())
			start, end := s.Skip()
			if name == "totalSize" || name == "total_size" {
				found = append(found, [2]int{start, end})
			}
		}
	}
	switch {
	case s.Kind() != '{': // an extension's list may be an array
		s.Skip()
	case b != JSONRPC:
		page()
	default:
		for s.Enter(); s.More(); {
			if string(s.Name()) == "result" && s.Kind() == '{' {
				page()
			} else {
				s.Skip()
			}
		}
	}
	if e := Finish(s); e != nil {
		return nil, BadAnswer(e)
	}
	return found, nil
}
