package redis

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
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
//	trace    as tenant, in the form traced only
//
// A context without a trace, created at the epoch, owned by "al", begins with the bytes
//
//	01  80 00 00 00 00 00 00 00  00 00 00 00  00 00 00 00  00 00 00 02 61 6c …
//
// Agent, kind and id are in its key. The scripts read as far as owner. The order of
// created as bytes is that of time.
const (
	form   = 1
	traced = 2

	forms = "\x01\x02" // that are read
)

const createdSize = 12

// formOf is the form that a record is written in: the first, which gateways before the
// second read too, unless there is more to say.
func formOf(r state.Record) byte {
	if r.Trace != "" {
		return traced
	}
	return form
}

// appendCreated writes when a record was made, or nothing for the zero time, which the
// server fills in.
func appendCreated(b []byte, t time.Time) []byte {
	if t.IsZero() {
		return b
	}
	b = binary.BigEndian.AppendUint64(b, uint64(t.Unix())^(1<<63))  //nolint:gosec // all of the bits are kept
	return binary.BigEndian.AppendUint32(b, uint32(t.Nanosecond())) //nolint:gosec // all of the bits are kept
}

// encode writes what follows created.
func encode(r state.Record) []byte {
	// 64 is for the lengths, and the version.
	b := make([]byte, 0, 64+len(r.Context)+len(r.Owner)+len(r.Tenant)+len(r.Skill)+len(r.Endpoint)+len(r.Trace))
	for _, s := range []string{r.Context, r.Owner} {
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(s))), s...) //nolint:gosec // all of the bits are kept
	}
	for _, s := range []string{r.Tenant, r.Skill, r.Endpoint, r.Version} {
		b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
	}
	b = binary.AppendUvarint(b, uint64(len(r.Extensions)))
	for _, s := range r.Extensions {
		b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
	}
	if r.Trace != "" {
		b = append(binary.AppendUvarint(b, uint64(len(r.Trace))), r.Trace...)
	}
	return b
}

// decode reads a stored record; agent, kind and id are the key's.
func decode(stored string, agent string, k state.Kind, id string) (state.Record, error) {
	bad := func(what string) (state.Record, error) {
		return state.Record{}, fmt.Errorf("%w: the record of %s %q of agent %q %s", errRecord, kindName(k), id, agent, what)
	}
	if stored == "" || strings.IndexByte(forms, stored[0]) < 0 {
		return bad("has another form")
	}
	// The order is that in which encode writes.
	p := parser{rest: stored[1:]}
	r := state.Record{Agent: agent, Kind: k, ID: id, Created: p.created()}
	r.Context, r.Owner = p.take(p.fixed()), p.take(p.fixed())
	r.Tenant, r.Skill = p.take(p.varint()), p.take(p.varint())
	r.Endpoint, r.Version = p.take(p.varint()), p.take(p.varint())
	// n is what the bytes say: without a look at failed, a huge one would count down for years.
	for n := p.varint(); n > 0 && !p.failed; n-- {
		r.Extensions = append(r.Extensions, p.take(p.varint()))
	}
	if stored[0] == traced {
		r.Trace = p.take(p.varint())
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

// take cuts n bytes off. Fewer are a failure.
func (p *parser) take(n uint64) string {
	if n > uint64(len(p.rest)) {
		p.rest, p.failed = "", true
		return ""
	}
	s := p.rest[:n]
	p.rest = p.rest[n:]
	return s
}

// created reads the 12 bytes that appendCreated writes.
func (p *parser) created() time.Time {
	b := p.take(createdSize)
	if p.failed {
		return time.Time{}
	}
	return time.Unix(int64(bigEndian(b[:8])^(1<<63)), int64(bigEndian(b[8:]))).UTC() //nolint:gosec // all of the bits are kept
}

// fixed reads a length of 4 bytes, which Lua reads with struct.unpack too.
func (p *parser) fixed() uint64 { return bigEndian(p.take(4)) }

// varint reads 7 bits a byte, the lowest first; a set high bit says that more follow. More than ten
// bytes are a failure.
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

// bigEndian reads up to 8 bytes, the highest first.
func bigEndian(s string) uint64 {
	var n uint64
	for i := range len(s) {
		n = n<<8 | uint64(s[i])
	}
	return n
}
