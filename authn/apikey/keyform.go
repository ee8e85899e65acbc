package apikey

import (
	"strconv"
	"strings"
	"time"
)

// The form that key files are written in: YAML, one member a line, in this order.
//
//	keys:
//	- id: alice
//	  subject: alice
//	  groups:
//	  - analysts
//	  created: 2030-01-01T00:00:00Z
//	  hash: sha256:…
//
// It is written and read here rather than by the YAML library, which takes seconds for
// a hundred thousand keys; a revoked key must be refused within one. A file in any
// other form, such as one that was edited by hand, is read by the library.

// keyFileHeader opens every file that is written.
const keyFileHeader = "# API keys: made and removed with `a2a-gateway keys`, which rewrites the file\n" +
	"# whole; comments are not kept.\n" +
	"# Only hashes are stored; a key is shown once, when it is made.\n"

const (
	noKeys    = "keys: []\n"
	firstKeys = "keys:\n"
)

// appendKeyFile appends the file that holds records, which are valid.
func appendKeyFile(b []byte, records []keyRecord) []byte {
	b = append(b, keyFileHeader...)
	if len(records) == 0 {
		return append(b, noKeys...)
	}
	b = append(b, firstKeys...)
	for i := range records {
		b = records[i].appendYAML(b)
	}
	return b
}

// appendYAML appends one key. Members without a value are left out, so that the form of a key is
// unique.
func (r *keyRecord) appendYAML(b []byte) []byte {
	b = append(b, "- id: "...)
	b = append(appendScalar(b, r.ID), '\n')
	b = appendMember(b, "subject", r.Subject)
	b = appendList(b, "groups", r.Groups)
	b = appendList(b, "scopes", r.Scopes)
	b = appendList(b, "agents", r.Agents)
	b = appendMember(b, "tenant", r.Tenant)
	b = appendMember(b, "owner", r.Owner)
	b = appendTime(b, "created", r.Created)
	b = appendTime(b, "expires", r.Expires)
	b = appendMember(b, "replacedBy", r.ReplacedBy)
	hash, _ := r.Hash.MarshalText() // never fails
	b = append(append(b, "  hash: "...), hash...)
	return append(b, '\n')
}

// appendMember appends a line with a text, or nothing.
func appendMember(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	b = append(append(append(b, "  "...), name...), ": "...)
	return append(appendScalar(b, value), '\n')
}

// appendList tells an empty list from none: as agents, one means no agent and the
// other any.
func appendList(b []byte, name string, list []string) []byte {
	if list == nil {
		return b
	}
	b = append(append(append(b, "  "...), name...), ':')
	if len(list) == 0 {
		return append(b, " []\n"...)
	}
	b = append(b, '\n')
	for _, s := range list {
		b = append(appendScalar(append(b, "  - "...), s), '\n')
	}
	return b
}

// appendTime appends a line with a time in UTC, or nothing for the zero one.
func appendTime(b []byte, name string, t time.Time) []byte {
	if t.IsZero() {
		return b
	}
	b = append(append(append(b, "  "...), name...), ": "...)
	return append(t.UTC().AppendFormat(b, time.RFC3339Nano), '\n')
}

// appendScalar writes what needs no quotes in any reading of YAML without them, and
// the rest in double ones; what Go escapes there, YAML escapes likewise.
func appendScalar(b []byte, s string) []byte {
	if bareScalar(s) {
		return append(b, s...)
	}
	return strconv.AppendQuote(b, s)
}

// bareScalar reports a text that begins with a letter and has only what YAML reads as it stands.
func bareScalar(s string) bool {
	if s == "" || len(s) > 256 || s[0]|0x20 < 'a' || s[0]|0x20 > 'z' {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !alphanumeric(c) && !strings.ContainsRune("-_.@/", rune(c)) {
			return false
		}
	}
	switch strings.ToLower(s) { // words that some version of YAML takes for something else
	case "true", "false", "yes", "no", "on", "off", "y", "n", "null":
		return false
	}
	return true
}
