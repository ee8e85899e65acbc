package fold

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
)

// Altered reports whether a Task, as an agent shows it now, has other content in one of the
// artifacts that t knows. Content is the parts: how a text is divided into them does not
// matter, and neither does how JSON is written. An artifact that is missing, or new, is not
// altered, and neither is one whose id is not the only one. t does not change.
func (t *Task) Altered(task []byte) (bool, error) {
	now, err := readTask(jsonscan.Mend(task))
	switch {
	case err != nil:
		return false, fmt.Errorf("read task: %w", err)
	case t.id != "" && t.id != now.id:
		return false, errors.New("the task is another one")
	case len(now.index) != len(now.artifacts):
		return false, nil
	}
	for i := range now.artifacts {
		if t.differs(&now.artifacts[i]) {
			return true, nil
		}
	}
	return false, nil
}

// AlteredBy reports whether an artifact update would put another content in the place of
// what t knows. Other events, and those that append, alter nothing in that sense.
func (t *Task) AlteredBy(event []byte) (bool, error) {
	e, err := readEvent(bytes.Clone(jsonscan.Mend(event)))
	if err != nil {
		return false, fmt.Errorf("read event: %w", err)
	}
	return e.artifact.rest.members != nil && !e.append && t.differs(&e.artifact), nil
}

// differs reports whether an artifact has other contents than the one that the task has of its id.
func (t *Task) differs(a *artifact) bool {
	at, known := t.index[a.id]
	return known && len(t.index) == len(t.artifacts) && !sameContent(t.artifacts[at].parts, a.parts)
}

// sameContent compares parts. A part of text that says nothing else goes on with the one
// before it.
func sameContent(a, b [][]byte) bool {
	if len(a) == len(b) {
		same := true
		for i := range a {
			same = same && bytes.Equal(bare(a[i]), bare(b[i]))
		}
		if same {
			return true
		}
	}
	x, y := contentOf(a), contentOf(b)
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		if !bytes.Equal(x[i], y[i]) {
			return false
		}
	}
	return true
}

// contentOf brings parts into the one form of all that have the same content.
func contentOf(parts [][]byte) (content [][]byte) {
	running := false
	for _, p := range parts {
		p = bare(p)
		text, ok := textOf(p)
		switch {
		case !ok:
			content, running = append(content, plain(p)), false
		case running:
			last := len(content) - 1
			content[last] = append(content[last], text...)
		default:
			content, running = append(content, append([]byte{'"'}, text...)), true
		}
	}
	return content
}

// textOf is the text of a part that has nothing else.
func textOf(part []byte) (text []byte, ok bool) {
	if len(part) == 0 || part[0] != '{' {
		return nil, false
	}
	r := read(part)
	defer r.done()
	err := r.object(func(name string) error {
		value, err := r.value()
		if err != nil {
			return err
		}
		switch {
		case name == "text" && value[0] == '"':
			text, err = jsontext.AppendUnquote(nil, value)
			ok = true
		case value[0] != 'n':
			return errMore
		}
		return err
	})
	return text, ok && err == nil
}

var errMore = errors.New("more than a text")
