package state

// tops is a binary heap of tasks, the first in the order of lists on top.
type tops []*entry

// push adds an entry to the heap.
func (t *tops) push(e *entry) {
	*t = append(*t, e)
	h := *t
	for i := len(h) - 1; i > 0; {
		parent := (i - 1) / 2
		if !h[i].before(h[parent]) {
			return
		}
		h[i], h[parent] = h[parent], h[i]
		i = parent
	}
}

// pass puts the next of its shelf in the place of the top, if there is one.
func (t *tops) pass() {
	h := *t
	last := len(h) - 1
	if h[0].older != nil {
		h[0] = h[0].older
	} else {
		h[0] = h[last]
		h = h[:last]
	}
	*t = h
	for i := 0; ; {
		first := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(h); child++ {
			if h[child].before(h[first]) {
				first = child
			}
		}
		if first == i {
			return
		}
		h[i], h[first] = h[first], h[i]
		i = first
	}
}
