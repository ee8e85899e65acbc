package wire

// idBeyond finds the id of a JSON-RPC call whose document is beyond a limit, so that the
// refusal can be told from those of other calls. The document is not held to limits here, and
// what is within the call's members is passed over by its brackets: one look at each byte,
// whatever the depth. It is nil where no id can be had, or where parsers would differ on
// which it is.
func idBeyond(doc []byte, lim Limits) []byte {
	s := newScanner(doc, Limits{Depth: 1, Members: len(doc) + 1})
	defer s.release()
	if s.kind() != '{' {
		return nil
	}
	var id []byte
	found := 0
	for s.enter(); s.more(); {
		like, field := envelopeNames.find(s.name())
		is := field == fieldRequestID
		if is || like != nil && like.camel == "id" { // a name that is almost that is to some parsers
			found++
		}
		s.names, s.arena = s.names[:0], s.arena[:0] // there may be very many
		kind := s.kind()
		start := s.pos // behind the space
		s.pass()
		if is && s.err == nil && mayBeID(kind, doc[start:s.pos], lim) {
			id = doc[start:s.pos]
		}
	}
	if s.finish() != nil || found != 1 {
		return nil
	}
	return id
}

// mayBeID reports whether a value is an id as JSON-RPC has them, of no more than the length
// that ids may have.
func mayBeID(kind byte, value []byte, lim Limits) bool {
	switch kind {
	case '"':
		return len(value)-2 <= lim.IDLength
	case '0':
		return len(value) <= lim.IDLength
	}
	return kind == 'n'
}

// pass reads over the next value; of an object or array only the strings are checked.
func (s *scanner) pass() {
	if kind := s.kind(); kind != '{' && kind != '[' {
		s.skip()
		return
	}
	for open := 0; s.err == nil; {
		if s.pos >= len(s.doc) {
			s.unexpected()
			return
		}
		switch s.doc[s.pos] {
		case '"':
			s.str()
			continue
		case '{', '[':
			open++
		case '}', ']':
			open--
		}
		if s.pos++; open == 0 {
			return
		}
	}
}
