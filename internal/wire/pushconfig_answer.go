package wire

// answer reads the document of an answer, and says whether it is a list.
func (r *pushReader) answer(b Binding) (list bool) {
	if b != JSONRPC {
		return r.result()
	}
	if r.kind() != '{' {
		r.skip()
		return false
	}
	for r.enter(); r.more(); {
		if string(r.name()) == "result" {
			list = r.result()
		} else {
			r.skip()
		}
	}
	return list
}

// result reads one config, or a list in either form.
func (r *pushReader) result() (list bool) {
	switch r.kind() {
	case '[':
		r.list()
		return true
	case '{':
		before := len(r.entries)
		at := entry{first: len(r.hooks)}
		r.space()
		at.span[0] = r.pos
		r.config(&at)
		at.span[1] = r.pos
		if at.hooks == 0 { // a list, also an empty one
			return true
		}
		r.entries = append(r.entries[:before], at)
		return false
	}
	r.skip()
	return false
}

// list reads the entries of a list.
func (r *pushReader) list() {
	for r.enter(); r.more(); {
		r.space()
		at := entry{span: [2]int{r.pos}, first: len(r.hooks)}
		if r.kind() == '{' {
			r.config(&at)
		} else {
			r.skip()
		}
		at.span[1] = r.pos
		r.entries = append(r.entries, at)
	}
}
