package apikey

import (
	"strconv"
	"strings"
	"time"
)

// parseWritten reads a file in the form that appendKeyFile writes, byte for byte. ok is
// false for every other file, whether it is one of keys or not.
func parseWritten(doc string) (records []keyRecord, ok bool) {
	rest, ok := strings.CutPrefix(doc, keyFileHeader)
	if !ok {
		return nil, false
	}
	if rest == noKeys {
		return nil, true
	}
	if rest, ok = strings.CutPrefix(rest, firstKeys); !ok {
		return nil, false
	}
	records = make([]keyRecord, 0, strings.Count(rest, "\n- id: ")+1)
	l := lines{rest: rest}
	for l.rest != "" && !l.bad {
		records = append(records, l.record())
	}
	// What was read is written again, rather than each byte judged on the way: so
	// there is one place that says what the form is.
	if l.bad || string(appendKeyFile(make([]byte, 0, len(doc)), records)) != doc {
		return nil, false
	}
	return records, true
}

// lines reads members off the front of rest. It is bad once something else than the
// written form was met.
type lines struct {
	rest string
	bad  bool
}

// record reads one key, with its members in the order in which they are written; those that are
// left out are zero.
func (l *lines) record() keyRecord {
	var r keyRecord
	r.ID = l.scalar("- id: ")
	r.Subject = l.scalar("  subject: ")
	r.Groups = l.list("  groups:")
	r.Scopes = l.list("  scopes:")
	r.Agents = l.list("  agents:")
	r.Tenant = l.scalar("  tenant: ")
	r.Owner = l.scalar("  owner: ")
	r.Created = l.time("  created: ")
	r.Expires = l.time("  expires: ")
	r.ReplacedBy = l.scalar("  replacedBy: ")
	hash, ok := l.line("  hash: ")
	if !ok || r.Hash.UnmarshalText([]byte(hash)) != nil {
		l.bad = true
	}
	return r
}

// line takes the line that begins with prefix, if it is the next one.
func (l *lines) line(prefix string) (value string, ok bool) {
	after, ok := strings.CutPrefix(l.rest, prefix)
	if !ok {
		return "", false
	}
	value, l.rest, ok = strings.Cut(after, "\n")
	l.bad = l.bad || !ok
	return value, true
}

// scalar reads a member's text, "" where the next line is another member.
func (l *lines) scalar(prefix string) string {
	value, ok := l.line(prefix)
	if ok && strings.HasPrefix(value, `"`) {
		text, err := strconv.Unquote(value)
		l.bad = l.bad || err != nil
		return text
	}
	return value
}

// list tells a list that is there and empty from none: agents: [] means no agent at all.
func (l *lines) list(prefix string) []string {
	value, ok := l.line(prefix)
	if !ok {
		return nil
	}
	list := []string{}
	for value == "" && strings.HasPrefix(l.rest, "  - ") {
		list = append(list, l.scalar("  - "))
	}
	return list
}

// time reads a member's time, the zero one where the next line is another member.
func (l *lines) time(prefix string) time.Time {
	value, ok := l.line(prefix)
	if !ok {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339Nano, value)
	l.bad = l.bad || err != nil
	return t
}
