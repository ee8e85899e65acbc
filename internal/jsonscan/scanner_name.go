package jsonscan

import "bytes"

// nameRef is the unescaped name of a member of an open object. Offsets instead
// of slices, so that the pool keeps no document alive.
type nameRef struct {
	start, end int32
	inArena    bool // the name had escapes
}

// bytesOf is the name itself, wherever its bytes are.
func (s *Scanner) bytesOf(r nameRef) []byte {
	if r.inArena {
		return s.arena[r.start:r.end]
	}
	return s.Doc[r.start:r.end]
}

// Name reads the next member's name and the colon behind it. The result is
// unescaped and valid until Release: "\u0069d" is id here, as it is to every parser. A name
// that the object has had before is a refusal (duplicates.go).
func (s *Scanner) Name() []byte {
	if s.peek() != '"' {
		s.unexpected()
		return nil
	}
	start, end, escaped := s.str()
	if s.halved > start {
		s.failHalf()
	}
	ref := nameRef{int32(start + 1), int32(end - 1), false} //nolint:gosec // bodies are bounded far below
	if escaped && s.err == nil {
		ref = nameRef{int32(len(s.arena)), 0, true} //nolint:gosec // bodies are bounded far below
		s.arena = unescape(s.arena, s.Doc[start+1:end-1])
		ref.end = int32(len(s.arena)) //nolint:gosec // bodies are bounded far below
	}
	if s.peek() != ':' {
		s.unexpected()
		return nil
	}
	s.Pos++
	name := s.bytesOf(ref)
	base := int(s.frames[len(s.frames)-1].base)
	if len(s.names)-base < fewNames {
		for _, other := range s.names[base:] {
			if bytes.Equal(s.bytesOf(other), name) {
				s.duplicate(start)
				break
			}
		}
	}
	s.names = append(s.names, ref)
	if mark := s.rules.Mark; mark != nil {
		s.marks = mark(s.marks, name)
	}
	return name
}
