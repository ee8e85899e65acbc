package metrics

import (
	"strconv"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// codeIndex numbers the values of the code label.
type codeIndex struct {
	names   []string
	byName  map[string]int
	classes [6]int // index of HTTP_nXX by n; 0 is "none"
}

const codeOK = 0 // index of the code of a call that went well

// newCodeIndex numbers the reasons of the error table of internal/wire, and the classes of statuses. A
// reason that is added there is a value of the label from then on.
func newCodeIndex() codeIndex {
	c := codeIndex{names: []string{"OK", labelOther, labelNone}}
	for _, kind := range wire.Kinds() {
		c.names = append(c.names, kind.Reason)
	}
	for class := 1; class < len(c.classes); class++ {
		c.classes[class] = len(c.names)
		c.names = append(c.names, "HTTP_"+strconv.Itoa(class)+"XX")
	}
	c.byName = make(map[string]int, len(c.names))
	for i, name := range c.names {
		c.byName[name] = i
	}
	c.classes[0] = c.byName[labelNone]
	return c
}

// class is the index for an HTTP status; statuses that do not exist are "none".
func (c *codeIndex) class(status int) int {
	if class := status / 100; class > 0 && class < len(c.classes) {
		return c.classes[class]
	}
	return c.classes[0]
}

// call is the index for a finished call.
func (c *codeIndex) call(reason string, status int) int {
	switch {
	case reason != "":
		if i, ok := c.byName[reason]; ok {
			return i
		}
		return c.byName[labelOther]
	case status >= 400:
		return c.class(status)
	}
	return codeOK
}
