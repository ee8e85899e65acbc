package wire

// idBeyond finds the id of a JSON-RPC call whose document is beyond a limit, so that the
// refusal can be told from those of other calls. The document is not held to limits here, and
// what is within the call's members is passed over by its brackets: one look at each byte,
// whatever the depth. It is nil where no id can be had, or where parsers would differ on
// which it is.
func idBeyond(doc []byte, lim Limits) []byte {
	s := NewScanner(doc, Limits{Depth: 1, Members: len(doc) + 1})
	defer s.Release()
	if s.Kind() != '{' {
		return nil
	}
	var id []byte
	found := 0
	for s.Enter(); s.More(); {
		like, field := envelopeNames.Find(s.Name())
		is := field == fieldRequestID
		if is || like != nil && like.Camel == "id" { // a name that is almost that is to some parsers
			found++
		}
		s.ForgetNames() // there may be very many
		kind := s.Kind()
		start := s.Pos // behind the space
		s.Pass()
		if is && !s.Failed() && mayBeID(kind, doc[start:s.Pos], lim) {
			id = doc[start:s.Pos]
		}
	}
	if Finish(s) != nil || found != 1 {
		return nil
	}
	return id
}

// mayBeID reports whether a value is an id as JSON-RPC has them, of no more than the length
// that ids may have.
//
// JSON-RPC 2.0 §4: a string, a number or null. Length is counted in bytes of the document, so that
// what comes back is never longer than what was sent.
func mayBeID(kind byte, value []byte, lim Limits) bool {
	switch kind {
	case '"':
		return len(value)-2 <= lim.IDLength
	case '0':
		return len(value) <= lim.IDLength
	}
	return kind == 'n'
}
