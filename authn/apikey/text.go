package apikey

import (
	"encoding/binary"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
)

// The compact form of a key is its strings behind one another, each with its length in
// front: id, subject, tenant, owner and the id of the key that replaces it, then groups,
// scopes and agents, each list with one more than its length in front, or 0 where there is
// none.

// text is the compact form of a record, without its hash and times.
func (r *keyRecord) text() []byte {
	subject := r.Subject
	if subject == "" {
		subject = r.ID
	}
	var b []byte
	for _, s := range []string{r.ID, subject, r.Tenant, r.Owner, r.ReplacedBy} {
		b = appendText(b, s)
	}
	for _, list := range [][]string{r.Groups, r.Scopes, r.Agents} {
		if list == nil {
			b = append(b, 0)
			continue
		}
		b = binary.AppendUvarint(b, uint64(len(list))+1)
		for _, s := range list {
			b = appendText(b, s)
		}
	}
	return b
}

// appendText appends a string with its length in front, as a varint.
func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// ends is the record's expiry in whole seconds since 1970, or never.
func (r *keyRecord) ends() int64 {
	if r.Expires.IsZero() {
		return never
	}
	return r.Expires.Unix()
}

// made is when the record's key was made, in seconds since 1970; 0 where that is not known.
func (r *keyRecord) made() uint32 {
	if r.Created.IsZero() {
		return 0
	}
	return unixSeconds(r.Created)
}

// spec unpacks the compact form. Its strings are parts of a copy, so that a principal of a
// long stream does not keep all keys of its time in memory.
func (k *storedKey) spec() Spec {
	var spec Spec
	rest := strings.Clone(k.text)
	for _, s := range []*string{&spec.ID, &spec.Subject, &spec.Tenant, &spec.Owner, &spec.ReplacedBy} {
		*s, rest = cutText(rest)
	}
	for _, list := range []*[]string{&spec.Groups, &spec.Scopes, &spec.Agents} {
		*list, rest = cutTexts(rest)
	}
	if k.created != 0 {
		spec.Created = time.Unix(int64(k.created), 0).UTC()
	}
	if k.expires != never {
		spec.Expires = time.Unix(k.expires, 0).UTC()
	}
	return spec
}

// principal is the caller that the key stands for.
func (k *storedKey) principal() *authn.Principal {
	spec := k.spec()
	p := &authn.Principal{
		Issuer: Issuer, Method: Method,
		KeyID: spec.ID, Subject: spec.Subject, Tenant: spec.Tenant, Owner: spec.Owner,
		Groups: spec.Groups, Scopes: spec.Scopes, Agents: spec.Agents, Expires: spec.Expires,
	}
	p.KnownBy(k.hash)
	p.Attest(nil)
	return p
}

// id is the first string of the compact form.
func (k *storedKey) id() string {
	id, _ := cutText(k.text)
	return id
}

// cutText takes the first string off a compact form, cutTexts the first list.
func cutText(s string) (text, rest string) {
	n, s := cutLength(s)
	return s[:n], s[n:]
}

func cutTexts(s string) (list []string, rest string) {
	n, s := cutLength(s)
	if n == 0 {
		return nil, s
	}
	list = make([]string, n-1)
	for i := range list {
		list[i], s = cutText(s)
	}
	return list, s
}

// cutLength is binary.Uvarint of a string.
func cutLength(s string) (n int, rest string) {
	for shift := 0; ; shift += 7 {
		c := s[0]
		s = s[1:]
		n |= int(c&0x7f) << shift
		if c < 0x80 {
			return n, s
		}
	}
}
