package auditcmd

import (
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/audit/index"
	"github.com/a2a-gateway/a2a-gateway/audit/reader"
	"github.com/a2a-gateway/a2a-gateway/internal/spelling"
)

// mostHinted are the newest records whose values are compared with what was asked for: few enough to
// be read in a moment, and enough to have had every agent and rule that is in use.
const mostHinted = 10_000

// typed are the texts of a query that people type, by the names of their flags.
func typed(q index.Query) map[string]string {
	texts := map[string]string{}
	for name, of := range index.Texts {
		if !index.IsID(name) {
			texts[name] = *of(&q)
		}
	}
	return texts
}

// noMatch says that no record is what was asked for, and which similar value the newest records have
// in place of one that none of them has: a slip of the pen must not read as "nothing happened". An
// error is one of reading those.
//
//	no record matches; records have the agent "billing", did you mean that?
func noMatch(w io.Writer, q index.Query, search func(index.Query) iter.Seq2[reader.Entry, error]) error {
	asked := typed(q)
	maps.DeleteFunc(asked, func(_, text string) bool { return text == "" || strings.Contains(text, "*") })
	hints := ""
	if len(asked) > 0 {
		known, err := knownValues(search(index.Query{Limit: mostHinted}))
		if err != nil {
			return err
		}
		for _, name := range slices.Sorted(maps.Keys(asked)) {
			if known[name][asked[name]] {
				continue
			}
			if meant := spelling.Meant(asked[name], slices.Collect(maps.Keys(known[name]))); meant != "" {
				if name == "rule" {
					name = "rule or limit" // whichever has the value
				}
				hints += fmt.Sprintf("; records have the %s %q, did you mean that?", name, meant)
			}
		}
	}
	_, err := fmt.Fprintf(w, "no record matches%s\n", hints)
	return err
}

// knownValues are the texts that records have, by the names of Texts.
func knownValues(found iter.Seq2[reader.Entry, error]) (map[string]map[string]bool, error) {
	known := map[string]map[string]bool{}
	var h index.Head
	for e, err := range found {
		if err != nil {
			return nil, err
		}
		if h.Read(e.Line) != nil {
			continue // what cannot be read has no values
		}
		for name := range index.Texts {
			for _, text := range h.Has(name) {
				if known[name] == nil {
					known[name] = map[string]bool{}
				}
				known[name][text] = true
			}
		}
	}
	return known, nil
}
