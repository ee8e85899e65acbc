package proxy

// deduper answers a message that comes again with what became of it the first time.
type deduper struct {
	*recorder
	*answerStore

	repeats repeats
}
