package transcode

import (
	"bytes"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// mapEntry is an entry of a map. What was not written is empty, or zero.
type mapEntry struct{ key, value value }

// appendMap appends a map in the order of its keys, which are texts. Of entries with one key the last
// counts, as it does for every parser.
func (f *field) appendMap(dst, from []byte) ([]byte, error) {
	var few [8]mapEntry
	entries := few[:0]
	err := f.each(from, func(message []byte) error {
		e, err := f.of.entry(message)
		entries = append(entries, e)
		return err
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(entries, func(a, b mapEntry) int { return bytes.Compare(a.key.bytes, b.key.bytes) })
	dst = append(dst, '{')
	begin := len(dst)
	for i := range entries {
		e := &entries[i]
		if i+1 < len(entries) && bytes.Equal(e.key.bytes, entries[i+1].key.bytes) {
			continue
		}
		if len(dst) > begin {
			dst = append(dst, ',')
		}
		if dst, err = appendString(dst, e.key.bytes); err != nil {
			return nil, err
		}
		if dst, err = f.of.fields[1].appendValue(append(dst, ':'), e.value); err != nil {
			return nil, err
		}
	}
	return append(dst, '}'), nil
}

// entry reads one entry of a map: its key is the first field, its value the second.
func (m *Message) entry(message []byte) (e mapEntry, err error) {
	found, err := m.find(message)
	if err != nil {
		return e, err
	}
	for i, to := range []*value{&e.key, &e.value} {
		if found[i] == 0 {
			continue
		}
		if *to, err = first(message[found[i]-1:]); err != nil {
			return e, err
		}
	}
	return e, nil
}

// first is the value of the field that from begins with.
func first(from []byte) (value, error) {
	_, kind, n := protowire.ConsumeTag(from)
	if n < 0 {
		return value{}, protowire.ParseError(n)
	}
	v, n := consume(kind, from[n:])
	if n < 0 {
		return value{}, protowire.ParseError(n)
	}
	return v, nil
}
