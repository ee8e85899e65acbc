package stream

// Borrow counts n bytes that the gateway has for one client only, a task as it is, as
// kept, for as long as that client takes to read them. It is ErrFull where there is no
// room for them beside what clients still need, or where who asks has borrowed more than is
// left for others; otherwise Return is owed the same n.
func (h *Hub) Borrow(who string, n int64) error {
	h.bytes.Add(n)
	h.evict()
	left := int64(h.settings().Buffer.Total) - h.bytes.Load()
	if left < 0 || !h.borrowers.Take(who, n, left) {
		h.bytes.Add(-n)
		return ErrFull
	}
	return nil
}

// Return gives back what Borrow has taken.
func (h *Hub) Return(who string, n int64) {
	h.borrowers.Give(who, n)
	h.bytes.Add(-n)
}

// Kept is how many bytes are kept of all streams, and how many may be.
func (h *Hub) Kept() (bytes, limit int64) {
	return h.bytes.Load(), int64(h.settings().Buffer.Total)
}
