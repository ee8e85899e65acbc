package jsonscan

import "slices"

// Splice replaces doc[Start:End] by Text. With Start and End equal it inserts. The text is JSON,
// and the caller's business: with its commas, the document is one before and after.
type Splice struct {
	Start, End int
	Text       string
}

// Cutting takes entry i out of n in an array or object, of which kept stay before it, together
// with one comma. span says where each stands: of a member, with its name. Entries are to be
// cut in order, with kept counted along:
//
//	[a, b, c]  without a: [b, c]   without b: [a, c]   without a and b: [c]
func Cutting(i, n, kept int, span func(int) [2]int) Splice {
	at := span(i)
	switch {
	case kept > 0: // the comma before it goes too
		return Splice{Start: span(i - 1)[1], End: at[1]}
	case i+1 < n: // nothing stays before it: the comma behind it goes
		return Splice{Start: at[0], End: span(i + 1)[0]}
	}
	return Splice{Start: at[0], End: at[1]}
}

// Spliced returns a copy of body with the splices made, of which there is at least one. They
// may come in any order, are sorted where they are, and must not overlap. Every byte that none
// of them replaces stays as it was, white space included.
func Spliced(body []byte, cuts []Splice) []byte {
	slices.SortFunc(cuts, func(x, y Splice) int { return x.Start - y.Start })
	out := make([]byte, 0, len(body)+len(cuts[len(cuts)-1].Text))
	from := 0
	for _, c := range cuts {
		out = append(out, body[from:c.Start]...)
		out = append(out, c.Text...)
		from = c.End
	}
	return append(out, body[from:]...)
}

// Replaced returns body with body[from:to] replaced. body itself is not changed.
func Replaced(body []byte, from, to int, with []byte) []byte {
	out := make([]byte, 0, len(body)-(to-from)+len(with))
	out = append(out, body[:from]...)
	out = append(out, with...)
	return append(out, body[to:]...)
}
