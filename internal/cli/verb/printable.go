package verb

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Printable is a text as it may go to a terminal. Errors have words of others in them: the status
// line of a server, a name in a document.
func Printable(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		switch {
		case r == '\n' || r == '\t', strconv.IsGraphic(r) && (r != utf8.RuneError || n > 1):
			b.WriteString(text[:n])
		default:
			quoted := strconv.Quote(text[:n])
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		text = text[n:]
	}
	return b.String()
}

// Cell is a text that others chose, on one line: what a terminal would obey is escaped, and an
// empty one is "-", so that the columns of a table stay where they are.
func Cell(s string) string {
	if s == "" {
		return "-"
	}
	quoted := strconv.QuoteToGraphic(s)
	return quoted[1 : len(quoted)-1]
}

// Moment is a point in time as tables have it; otherwise stands for none.
func Moment(t *time.Time, otherwise string) string {
	if t == nil || t.IsZero() {
		return otherwise
	}
	return t.Format(time.RFC3339)
}

// Legible is a text of which others chose a part: quotes stay, what a terminal would obey does
// not.
func Legible(s string) string { return strings.ReplaceAll(Cell(s), `\"`, `"`) }
