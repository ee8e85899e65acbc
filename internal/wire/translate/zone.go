package translate

import (
	"bytes"
	"slices"
	"time"
)

// naive are how times are written that say no zone. Python's datetime does so unless it is
// told one.
var naive = [...]string{"2006-01-02T15:04:05", "2006-01-02 15:04:05"}

// Bounds of such a time: readers of ProtoJSON take at most nine digits of fraction.
const (
	shortestNaive = len("2006-01-02T15:04:05")
	longestNaive  = len("2006-01-02T15:04:05.999999999")
)

// Zoned gives an answer or event of ProtoJSON with its tasks' timestamps that have no zone in
// UTC: ProtoJSON knows RFC 3339 alone (A2A 1.0 §5.6.1), and its readers refuse the whole
// document. It is doc itself where there is none, and a copy else. Nothing but timestamps of
// statuses is touched, and of these only what follows the last digit, and a space in the place
// of the "T". The document may be one that is not valid; then so is what comes of it.
func Zoned(doc []byte) []byte {
	if !mayBeNaive(doc) {
		return doc
	}
	z := zoner{doc: doc}
	z.object(next(doc, 0), "", 0)
	if z.at == nil {
		return doc
	}
	out, done := make([]byte, 0, len(doc)+len(z.at)), 0
	for _, at := range z.at {
		out = append(out, doc[done:at[0]]...)
		out[len(out)-len("T15:04:05")-at[1]] = 'T'
		out = append(out, 'Z')
		done = at[0]
	}
	return append(out, doc[done:]...)
}

// mayBeNaive is false for a document that is certain to have no such timestamp.
func mayBeNaive(doc []byte) bool {
	name := []byte(`"timestamp"`)
	for i := bytes.Index(doc, name); i >= 0; {
		from := next(doc, i+len(name))
		if end := stringEndAt(doc, from); end > 0 && isNaive(doc[from:end]) {
			return true
		}
		n := bytes.Index(doc[i+len(name):], name)
		if n < 0 {
			return false
		}
		i += len(name) + n
	}
	return false
}

// stringEndAt is where the string ends that begins at i; 0 where none does.
func stringEndAt(doc []byte, i int) int {
	if i >= len(doc) || doc[i] != '"' {
		return 0
	}
	return stringEnd(doc, i)
}

// isNaive reports whether a JSON string is a time without a zone.
func isNaive(raw []byte) bool {
	n := len(raw) - len(`""`)
	if n < shortestNaive || n > longestNaive {
		return false
	}
	return slices.ContainsFunc(naive[:], func(layout string) bool {
		t, err := time.Parse(layout, string(inside(raw)))
		return err == nil && t.Year() >= 1
	})
}

// zoner finds the timestamps of a document.
type zoner struct {
	doc []byte
	at  [][2]int // where a zone is missing, in the order of the document, and how long the fraction before it is
}

// deepest is how far inside of an answer a status can be: result, list, task.
const deepest = 4

// object looks at the members of the object that begins at i, and what it is called.
func (z *zoner) object(i int, called string, depth int) {
	if depth > deepest || i >= len(z.doc) || z.doc[i] != '{' {
		return
	}
	i = next(z.doc, i+1)
	for i < len(z.doc) && z.doc[i] == '"' {
		start := i + 1
		if i = stringEnd(z.doc, i); i <= start {
			return
		}
		name := z.doc[start : i-1]
		from := next(z.doc, i)
		i = valueEnd(z.doc, from)
		if called == "status" {
			z.stamp(name, from, i)
		} else {
			z.member(string(unescaped(name)), from, i, depth)
		}
		i = next(z.doc, i)
	}
}

// member looks at one member of what an answer is made of.
func (z *zoner) member(name string, from, to, depth int) {
	switch name {
	case "result", "task", "statusUpdate", "status_update", "status":
		z.object(from, name, depth+1)
	case "tasks":
		z.list(from, to, depth)
	}
}

// stamp looks at a member of a status.
func (z *zoner) stamp(name []byte, from, to int) {
	if string(unescaped(name)) != "timestamp" || !isNaive(z.doc[from:to]) {
		return
	}
	z.at = append(z.at, [2]int{to - 1, to - from - len(`""`) - shortestNaive})
}

// list looks at the tasks of a list.
func (z *zoner) list(from, to, depth int) {
	if from >= to || z.doc[from] != '[' {
		return
	}
	for i := next(z.doc, from+1); i < to && z.doc[i] != ']'; {
		end := valueEnd(z.doc, i)
		if end == i {
			return
		}
		z.object(i, "", depth+1)
		i = next(z.doc, end)
	}
}
