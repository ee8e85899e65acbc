package wire

import "unicode/utf8"

// Bounds of strings that are no ids.
const (
	longestToken = 6144 // page tokens are sealed state of the agent, and sealed once more here
	longestURI   = 2048 // extension URIs
)

// words reads an array of strings; null is absent.
func (d *decoder) words(what string, longest int) []string {
	if kind := d.Kind(); kind != '[' {
		if kind != 'n' {
			d.invalid(what + " is not an array")
		}
		d.Skip()
		return nil
	}
	var list []string
	for d.Enter(); d.More(); {
		var w string
		if d.word(&w, what, longest); w == "" {
			d.invalid(what + " has an element that is not a string or empty")
			continue
		}
		list = append(list, w)
	}
	return list
}

// word reads a string into dst; null is absent. A value that is already there
// must be the same.
func (d *decoder) word(dst *string, what string, longest int) {
	switch d.Kind() {
	case '"':
		if text := d.Text(); string(text) != *dst {
			d.agree(dst, string(text), what, longest)
		}
	case 'n':
		d.Skip()
	default:
		d.Skip()
		d.invalid(what + " is not a string")
	}
}

// agree puts value into dst, or refuses when something else is there. An empty
// value says nothing. Control characters are refused because a NUL ends the
// string for some agents and a line break forges lines in their logs.
//
// A task that is named in the path and in the body is named once if the two are equal. Servers differ
// in which of two they take.
func (d *decoder) agree(dst *string, value, what string, longest int) {
	switch {
	case value == "" || value == *dst:
	case *dst != "":
		d.invalid(what + " is given twice, and differently" + d.where())
	case len(value) > longest:
		d.Refuse(Errorf(InvalidParams, "%s is longer than %d bytes", what, longest))
	case !utf8.ValidString(value) || hasControl(value):
		d.invalid(what + " holds a control character or invalid UTF-8")
	default:
		*dst = value
	}
}

// hasControl looks for the control characters of ASCII and of Latin-1, which
// UTF-8 writes as C2 80 to C2 9F.
func hasControl(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c < ' ' || c == 0x7f || c == 0xc2 && i+1 < len(s) && s[i+1] < 0xa0 {
			return true
		}
	}
	return false
}

// where says which member or parameter it is that is wrong.
func (d *decoder) where() string {
	if d.at == nil {
		return ""
	}
	return ", in " + d.at.Camel
}

// invalid refuses params: -32602 on JSON-RPC, 400 and INVALID_ARGUMENT elsewhere.
func (d *decoder) invalid(what string) {
	d.Refuse(Errorf(InvalidParams, "Invalid parameters: %s", what))
}
