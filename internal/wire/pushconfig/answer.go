package pushconfig

import "github.com/a2a-gateway/a2a-gateway/internal/wire"

// answer reads the document of an answer, and says whether it is a list.
func (r *pushReader) answer(b wire.Binding) (list bool) {
	if b != wire.JSONRPC {
		return r.result()
	}
	if r.Kind() != '{' {
		r.Skip()
		return false
	}
	for r.Enter(); r.More(); {
		if string(r.Name()) == "result" {
			list = r.result()
		} else {
			r.Skip()
		}
	}
	return list
}

// result reads one config, or a list in either form.
func (r *pushReader) result() (list bool) {
	switch r.Kind() {
	case '[':
		r.list()
		return true
	case '{':
		before := len(r.entries)
		at := entry{first: len(r.hooks)}
		r.Kind()
		at.span[0] = r.Pos
		r.config(&at)
		at.span[1] = r.Pos
		if at.hooks == 0 { // a list, also an empty one
			return true
		}
		r.entries = append(r.entries[:before], at)
		return false
	}
	r.Skip()
	return false
}

// list reads the entries of a list.
func (r *pushReader) list() {
	for r.Enter(); r.More(); {
		r.Kind()
		at := entry{span: [2]int{r.Pos}, first: len(r.hooks)}
		if r.Kind() == '{' {
			r.config(&at)
		} else {
			r.Skip()
		}
		at.span[1] = r.Pos
		r.entries = append(r.entries, at)
	}
}
