package proxy

import (
	"slices"

	"github.com/a2a-gateway/a2a-gateway/internal/wire/translate"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
)

// uses notes that a quirk was used for the call.
func (x *recording) usesQuirk(q agents.Quirk) {
	if !slices.Contains(x.rec.Quirks, string(q)) {
		x.rec.Quirks = append(x.rec.Quirks, string(q))
	}
}

// zoned is an answer or event of such a side as it is read, and whether that is otherwise than
// it came.
func zoned(doc []byte) (read []byte, changed bool) {
	read = translate.Zoned(doc)
	return read, !same(doc, read)
}
