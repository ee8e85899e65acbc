package wire

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// MayCarry reports whether ReadCarriers could find a Mark in doc, or a member whose
// name is almost that of one. False is certain, and found without reading the
// document: most calls end here, so that extensions cost them next to nothing.
func MayCarry(doc []byte) bool {
	for rest := doc; ; {
		at := bytes.IndexByte(rest, '\\')
		if at < 0 || at+1 >= len(rest) {
			break
		}
		if rest[at+1] == 'u' {
			return true // a name may be spelled in escapes
		}
		rest = rest[at+2:]
	}
	return mayName(doc) || bytes.Contains(doc, []byte("ſ")) // which some parsers read as s
}

// What a name with its quotes looks like wherever it stands: of each one in the
// document, exactly one of the first eight pieces of three bytes begins at a multiple
// of eight. Letters are compared without their case.
const (
	markWidth  = 3
	markStride = 8
)

var markNames = [...]string{`"metadata"`, `"extensions"`}

// markPieces says by markHash which pieces these three bytes can be: bit n*markStride+k
// is the one that begins at byte k of name n.
var markPieces = indexPieces()

func indexPieces() (index [1 << markBits]uint16) {
	for n, name := range markNames {
		for k := range markStride {
			w := uint32(name[k]) | uint32(name[k+1])<<8 | uint32(name[k+2])<<16
			index[markHash(w)] |= 1 << (n*markStride + k)
		}
	}
	return index
}

const markBits = 12

// markHash takes the case from three bytes and spreads what is left.
func markHash(w uint32) uint32 {
	return (w | 0x202020) << 8 * 0x9e3779b1 >> (32 - markBits)
}

// mayName looks for the names. Behind each there is a colon, so that four bytes can be
// read. Four pieces are looked up at a time, which is twice as fast.
func mayName(doc []byte) bool {
	i := 0
	for ; i+4*markStride <= len(doc); i += 4 * markStride {
		b := doc[i : i+4*markStride]
		w0, w1 := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[markStride:])
		w2, w3 := binary.LittleEndian.Uint32(b[2*markStride:]), binary.LittleEndian.Uint32(b[3*markStride:])
		if markPieces[markHash(w0)]|markPieces[markHash(w1)]|markPieces[markHash(w2)]|markPieces[markHash(w3)] == 0 {
			continue
		}
		for k := i; k < i+4*markStride; k += markStride {
			if nameAround(doc, k) {
				return true
			}
		}
	}
	for ; i+4 <= len(doc); i += markStride {
		if nameAround(doc, i) {
			return true
		}
	}
	return false
}

// nameAround reports whether one of the names has a piece at i.
func nameAround(doc []byte, i int) bool {
	pieces := markPieces[markHash(binary.LittleEndian.Uint32(doc[i:]))]
	for ; pieces != 0; pieces &= pieces - 1 {
		bit := bits.TrailingZeros16(pieces)
		name, from := markNames[bit/markStride], i-bit%markStride
		if from >= 0 && from+len(name) <= len(doc) && bytes.EqualFold(doc[from:from+len(name)], []byte(name)) {
			return true
		}
	}
	return false
}
