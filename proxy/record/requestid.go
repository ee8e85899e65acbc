package record

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"time"
)

// NewRequestID is a UUID of version 7 (RFC 9562 §5.7): ids sort by the millisecond in which
// their requests came, and what follows is random. The uuid package would keep those of one
// millisecond in order too, by a lock that all requests take.
func NewRequestID(now time.Time) string {
	var id [16]byte
	binary.BigEndian.PutUint64(id[:], uint64(now.UnixMilli())<<16) // positive since 1970
	_, _ = rand.Read(id[6:])                                       // never fails
	id[6] = id[6]&0x0f | 0x70
	id[8] = id[8]&0x3f | 0x80
	var text [36]byte
	at := 0
	for i, b := range id {
		switch i {
		case 4, 6, 8, 10:
			text[at] = '-'
			at++
		}
		hex.Encode(text[at:], []byte{b})
		at += 2
	}
	return string(text[:])
}
