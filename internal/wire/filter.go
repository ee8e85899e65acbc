package wire

import (
	"errors"
	"math"
	"slices"
	"strconv"
)

// FilterTasks cuts the tasks that keep says no to out of the list that an extension's
// method answers, and leaves every other byte as it was, the white space between
// entries included. Those of ListTasks itself are put together from pages; see Page.
// a is what ReadAnswer made of body; keep is asked about each of its tasks, in order. When keep says yes to every task, body itself is
// returned; otherwise the result is new memory and body is unchanged.
//
// A totalSize, where the list has one as that of ListTasks, becomes the number of tasks
// kept as soon as one is cut: an agent that lists other people's tasks counts them too,
// and the difference would tell how many there are.
func FilterTasks(b Binding, _ Version, body []byte, a Answer, keep func(TaskRef) bool) ([]byte, error) {
	if a.Kind != kindList {
		return nil, filterError("not a list of tasks")
	}
	cuts, kept, err := cutTasks(len(body), a.Tasks, func(i int) bool { return keep(a.Tasks[i]) })
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
		cuts = append(cuts, splice{span[0], span[1], strconv.Itoa(kept)})
	}
	return spliced(body, cuts), nil
}

// cutTasks cuts those entries of a list out of a body that keep says no to.
func cutTasks(length int, tasks []TaskRef, keep func(i int) bool) (cuts []splice, kept int, err error) {
	for i, t := range tasks {
		if !follows(t.Span, tasks[:i], length) {
			return nil, 0, filterError("not the body that was read")
		}
		if keep(i) {
			kept++
			continue
		}
		cuts = append(cuts, cutting(i, len(tasks), kept, func(i int) [2]int { return tasks[i].Span }))
	}
	return cuts, kept, nil
}

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

// splice replaces body[start:end] by text.
type splice struct {
	start, end int
	text       string
}

// cutting takes entry i out of n in an array or object, of which kept stay before it,
// with a comma. span says where each stands.
func cutting(i, n, kept int, span func(int) [2]int) splice {
	at := span(i)
	switch {
	case kept > 0: // the comma before it goes too
		return splice{start: span(i - 1)[1], end: at[1]}
	case i+1 < n: // nothing stays before it: the comma behind it goes
		return splice{start: at[0], end: span(i + 1)[0]}
	}
	return splice{start: at[0], end: at[1]}
}

// spliced returns a copy of body with the splices made. They must not overlap.
func spliced(body []byte, cuts []splice) []byte {
	slices.SortFunc(cuts, func(x, y splice) int { return x.start - y.start })
	out := make([]byte, 0, len(body)+len(cuts[len(cuts)-1].text))
	from := 0
	for _, c := range cuts {
		out = append(out, body[from:c.start]...)
		out = append(out, c.text...)
		from = c.end
	}
	return append(out, body[from:]...)
}

// totalSize finds the values of totalSize, in camelCase and as its proto name,
// whatever their type. It reads the body a second time rather than have every
// answer carry the place: only lists that are filtered need it.
func totalSize(b Binding, body []byte) ([][2]int, error) {
	// ReadAnswer has held the body to the limits that count.
	s := newScanner(body, Limits{Depth: math.MaxInt32, Members: math.MaxInt32})
	defer s.release()
	var found [][2]int
	page := func() {
		for s.enter(); s.more(); {
			name := string(s.name())
			start, end := s.skip()
			if name == "totalSize" || name == "total_size" {
				found = append(found, [2]int{start, end})
			}
		}
	}
	switch {
	case s.kind() != '{': // an extension's list may be an array
		s.skip()
	case b != JSONRPC:
		page()
	default:
		for s.enter(); s.more(); {
			if string(s.name()) == "result" && s.kind() == '{' {
				page()
			} else {
				s.skip()
			}
		}
	}
	if e := s.finish(); e != nil {
		return nil, badAnswer(e)
	}
	return found, nil
}
