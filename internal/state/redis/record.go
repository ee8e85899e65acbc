package redis

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// A record is stored as
//
//	form     1 byte, below
//	created  12 bytes: seconds of Unix time with the sign bit turned, nanoseconds; big-endian
//	context  4 bytes of length, big-endian, then that many
//	owner    the same
//	tenant, skill, endpoint, version
//	         a varint of length, then that many bytes
//	extensions
//	         a varint of how many, then each as before
//
// Agent, kind and id are in its key. The scripts read as far as owner. The order of
// created as bytes is that of time.
const form = 1

const createdSize = 12

// appendCreated writes when a record was made, or nothing for the zero time, which the
// server fills in.
func appendCreated(b []byte, t time.Time) []byte {
	if t.IsZero() {
		return b
	}
	b = binary.BigEndian.AppendUint64(b, uint64(t.Unix())^(1<<63))
	return binary.BigEndian.AppendUint32(b, uint32(t.Nanosecond()))
}

// encode writes what follows created.
func encode(r state.Record) []byte {
	b := make([]byte, 0, 64+len(r.Context)+len(r.Owner)+len(r.Tenant)+len(r.Skill)+len(r.Endpoint))
	for _, s := range []string{r.Context, r.Owner} {
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(s))), s...)
	}
	for _, s := range []string{r.Tenant, r.Skill, r.Endpoint, r.Version} {
		b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
	}
	b = binary.AppendUvarint(b, uint64(len(r.Extensions)))
	for _, s := range r.Extensions {
		b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
	}
	return b
}

// decode reads a stored record; agent, kind and id are the key's.
func decode(stored string, agent string, k state.Kind, id string) (state.Record, error) {
	bad := func(what string) (state.Record, error) {
		return state.Record{}, fmt.Errorf("%w: the record of %s %q of agent %q %s", errRecord, kindName(k), id, agent, what)
	}
	if stored == "" || stored[0] != form {
		return bad("has another form")
	}
	p := parser{rest: stored[1:]}
	r := state.Record{Agent: agent, Kind: k, ID: id, Created: p.created()}
	r.Context, r.Owner = p.take(p.fixed()), p.take(p.fixed())
	r.Tenant, r.Skill = p.take(p.varint()), p.take(p.varint())
	r.Endpoint, r.Version = p.take(p.varint()), p.take(p.varint())
	for n := p.varint(); n > 0 && !p.failed; n-- {
		r.Extensions = append(r.Extensions, p.take(p.varint()))
	}
	if p.failed || p.rest != "" {
		return bad("is cut off or too long")
	}
	return r, nil
}

// parser reads parts of a record. After a failure it reads nothing but zeros.
type parser struct {
	rest   string
	failed bool
}

func (p *parser) take(n uint64) string {
	if n > uint64(len(p.rest)) {
		p.rest, p.failed = "", true
		return ""
	}
	s := p.rest[:n]
	p.rest = p.rest[n:]
	return s
}

func (p *parser) created() time.Time {
	b := p.take(createdSize)
	if p.failed {
		return time.Time{}
	}
	return time.Unix(int64(bigEndian(b[:8])^(1<<63)), int64(bigEndian(b[8:]))).UTC()
}

func (p *parser) fixed() uint64 { return bigEndian(p.take(4)) }

func (p *parser) varint() uint64 {
	var n uint64
	for shift := 0; shift < 64; shift += 7 {
		b := p.take(1)
		if p.failed {
			return 0
		}
		n |= uint64(b[0]&0x7f) << shift
		if b[0] < 0x80 {
			return n
		}
	}
	p.failed = true
	return math.MaxUint64
}

func bigEndian(s string) uint64 {
	var n uint64
	for i := range len(s) {
		n = n<<8 | uint64(s[i])
	}
	return n
}
