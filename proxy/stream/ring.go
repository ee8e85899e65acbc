package stream

// item is an entry as a feed keeps it.
type item struct {
	Entry

	cost int64 // bytes that it is taken to hold
}

// overhead is what an entry takes beside its data, about.
const overhead = 100

// ring is a queue of items. It grows as far as it is filled, and what is left of it is
// not moved.
//
// The length of items is a power of two, so that an index is a mask and not a division.
type ring struct {
	items []item
	head  int
	n     int
}

// at is the item that i others stand before.
func (r *ring) at(i int) *item { return &r.items[(r.head+i)&(len(r.items)-1)] }

// push adds the newest, in a slice of twice the size where there is no room.
func (r *ring) push(it item) {
	if r.n == len(r.items) {
		grown := make([]item, max(2*r.n, 4)) // always a power of 2
		for i := range r.n {
			grown[i] = *r.at(i)
		}
		r.items, r.head = grown, 0
	}
	r.n++
	*r.at(r.n - 1) = it
}

// costOf is what an entry is taken to hold.
func costOf(e Entry) int64 { return int64(len(e.Data) + len(e.Name) + overhead) }

// retract takes the newest away and tells its cost.
func (r *ring) retract() int64 {
	newest := r.at(r.n - 1)
	cost := newest.cost
	*newest = item{}
	r.n--
	return cost
}

// drop takes the oldest away and tells its cost.
func (r *ring) drop() int64 {
	oldest := r.at(0)
	cost := oldest.cost
	*oldest = item{}
	r.head = (r.head + 1) & (len(r.items) - 1)
	if r.n--; r.n == 0 {
		r.items, r.head = nil, 0
	}
	return cost
}
