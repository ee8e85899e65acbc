package cursors

import (
	"cmp"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// Listed is one task of a list: the members of a 1.0 Task.
type Listed struct {
	ID        jsontext.Value `json:"id,omitzero"`
	ContextID jsontext.Value `json:"contextId,omitzero"`
	Status    jsontext.Value `json:"status,omitzero"`
	Artifacts jsontext.Value `json:"artifacts,omitzero"`
	History   jsontext.Value `json:"history,omitzero"`
	Metadata  jsontext.Value `json:"metadata,omitzero"`

	State  string          `json:"-"`
	At     time.Time       `json:"-"` // of the status, else of the first sight of the task
	TaskID string          `json:"-"`
	Strays exchange.Strays `json:"-"`
}

// Cursor is where a page ended: the order of a list is that of its tasks' last
// change, newest first, and of their ids where that is the same.
type Cursor struct {
	At time.Time
	ID string
}

// Compare is positive where the task comes behind the cursor in a list, which has the newest first.
func (c Cursor) Compare(t Listed) int {
	return cmp.Or(c.At.Compare(t.At), strings.Compare(t.TaskID, c.ID))
}

// ReadCursor reads where the page begins that the call asks for; nil for the beginning.
func (cu *Cursors) ReadCursor(x *exchange.Exchange) (*Cursor, *wire.Error) {
	plain, e := cu.OpenPage(x, OwnList)
	if e != nil || plain == nil {
		return nil, e
	}
	when, id, ok := strings.Cut(string(plain), " ")
	at, err := time.Parse(time.RFC3339Nano, when)
	if err != nil || !ok {
		return nil, BadPage()
	}
	return &Cursor{at, id}, nil
}

// Plain is the text of the cursor before it is sealed.
func (c Cursor) Plain() []byte {
	return []byte(c.At.UTC().Format(time.RFC3339Nano) + " " + c.ID)
}
