package stream

import (
	"encoding/binary"
	"errors"
)

// Entries in a log are: the format's number, flags, the epoch, the feed's form and the
// event's name, each behind its length, and the data.
const entryFormat = 1

const (
	flagLast = 1 << iota
	flagRest
	flagMade
)

// record is an entry as a log has it. Its number is the log's.
type record struct {
	Entry

	epoch [8]byte
	form  string
}

var errRecord = errors.New("an entry of a log is malformed")

func flag(set bool, bit byte) byte {
	if set {
		return bit
	}
	return 0
}

// appendRecord appends an entry as it is stored:
//
//	01 | flags | epoch (8 bytes) | len(form) form | len(name) name | data
//
// Lengths are varints, as encoding/binary writes them. The format's number comes first, so that a
// later version can tell what it reads.
func appendRecord(dst []byte, r record) []byte {
	dst = append(dst, entryFormat, flag(r.Last, flagLast)|flag(r.Rest, flagRest)|flag(r.Made, flagMade))
	dst = append(dst, r.epoch[:]...)
	for _, text := range [...]string{r.form, r.Name} {
		dst = binary.AppendUvarint(dst, uint64(len(text)))
		dst = append(dst, text...)
	}
	return append(dst, r.Data...)
}

// readRecord reads what appendRecord wrote; the entry's data is a part of b.
func readRecord(b []byte) (r record, err error) {
	if len(b) < 10 || b[0] != entryFormat || b[1] >= flagMade<<1 {
		return r, errRecord
	}
	r.Last, r.Rest, r.Made = b[1]&flagLast != 0, b[1]&flagRest != 0, b[1]&flagMade != 0
	b = b[2+copy(r.epoch[:], b[2:]):]
	for _, text := range [...]*string{&r.form, &r.Name} {
		size, n := binary.Uvarint(b)
		if n <= 0 || size > uint64(len(b)-n) { //nolint:gosec // never below zero
			return r, errRecord
		}
		b = b[n:]
		*text, b = string(b[:size]), b[size:]
	}
	r.Data = b
	return r, nil
}
