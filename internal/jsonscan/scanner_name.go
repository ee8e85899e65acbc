package jsonscan

import (
	"bytes"
	"hash/maphash"
)

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

// fewNames is up to how many names an object is checked for duplicates by
// comparing each with each, which is fastest for the objects that exist.
const fewNames = 16

// Name reads the next member's name and the colon behind it. The result is
// unescaped and valid until Release: "\u0069d" is id here, as it is to every parser. A name
// that the object has had before is a refusal.
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

// duplicate refuses a duplicate member, by the name at an offset, which is not quoted.
func (s *Scanner) duplicate(at int) {
	s.Refuse(&Error{Duplicate: true, What: "two members of one object have the same name", At: at})
}

// nameSeed keeps an attacker from choosing names that collide in uniqueNames.
var nameSeed = maphash.MakeSeed()

// uniqueNames checks an object of more names than name compares one by one,
// when it closes: once over an open-addressed table of indexes, in linear time.
func (s *Scanner) uniqueNames(base int) {
	names := s.names[base:]
	if len(names) <= fewNames {
		return
	}
	size := 1
	for size < 2*len(names) {
		size *= 2
	}
	if cap(s.table) < size {
		s.table = make([]int32, size)
	}
	table := s.table[:size] // 0 is free, else index into names plus one
	clear(table)
	for i, ref := range names {
		name := s.bytesOf(ref)
		slot := int(maphash.Bytes(nameSeed, name) & uint64(size-1)) //nolint:gosec // sizes are above zero
		for ; table[slot] != 0; slot = (slot + 1) & (size - 1) {
			if other := names[table[slot]-1]; bytes.Equal(s.bytesOf(other), name) {
				s.duplicate(int(ref.start))
				break
			}
		}
		table[slot] = int32(i + 1)
	}
}
