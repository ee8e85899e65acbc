// Package files judges the files in messages and artifacts: where their URIs lead, what
// they say they are, how large they are and what they are called.
//
// It owns those rules. It does not own how a part is read (internal/wire), how an
// address is (internal/egress), nor what becomes of a document with a file that breaks
// one (proxy). It does no I/O: nothing is fetched or resolved. It may import
// internal/egress, internal/secret and internal/wire.
package files

import (
	"fmt"

	"github.com/a2a-gateway/a2a-gateway/internal/egress"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/message"
)

// Rules are a Config made ready. They are safe for concurrent use.
type Rules struct {
	config Config
	uris   *egress.URIs
	types  []mediaRange    // nil: any
	wanted map[string]bool // those of types that are one type
	inline bool            // data: is among the schemes
}

// New compiles a configuration: an agent's own over what holds for all.
func New(own, all Config) (*Rules, error) {
	c := own.Over(all).Over(defaults)
	if err := c.Validate(); err != nil {
		return nil, err
	}
	uris, err := egress.NewURIs(c.Schemes, c.Hosts, c.PrivateAddresses == allow)
	if err != nil {
		return nil, err
	}
	r := &Rules{config: c, uris: uris, wanted: map[string]bool{}, inline: listsData(c.Schemes)}
	for _, name := range c.MediaTypes {
		m, _ := rangeOf(name) // it has been validated
		r.types = append(r.types, m)
		if m.minor != "*" {
			r.wanted[m.major+"/"+m.minor] = true
		}
	}
	return r, nil
}

// Request is what becomes of callers' files, Answer of agents'.
func (r *Rules) Request() Action { return r.config.OnViolation.Request }

// Answer is what becomes of agents' files.
func (r *Rules) Answer() Action { return r.config.OnViolation.Answer }

// The kinds of Fault; metrics and records use the words.
const (
	faultURI  = "file_uri"
	faultType = "file_type"
	faultSize = "file_size"
	faultName = "file_name"
)

// Fault is one thing that is wrong with a file.
type Fault struct {
	Kind     string // file_uri, file_type, file_size or file_name
	Text     string // what is wrong, without anything that the file says
	Detail   string // what it says of that, for the record: a host or a media type
	Enforced bool   // the action is for it; else it is only recorded
}

// Judge says what is wrong with a file, which is the nth of its message or artifact,
// counted from 1. The first fault of each kind is all that anybody needs to know.
func (r *Rules) Judge(f *message.File, nth int) []Fault {
	var faults []Fault
	add := func(kind, text, detail string, enforced bool) {
		faults = append(faults, Fault{kind, text, detail, enforced})
	}
	types, bytes := f.MediaTypes, f.Bytes
	for _, link := range f.URLs {
		if what, n, ok := r.data(link); ok {
			types, bytes = append(types[:len(types):len(types)], what), max(bytes, n)
			continue
		}
		if host, why := r.uris.Judge(link); why != "" {
			add(faultURI, "a file's URI is not permitted: "+string(why), host, true)
			break
		}
	}
	if bytes > int64(r.config.MaxBytes) {
		add(faultSize, fmt.Sprintf("a file exceeds policy.fileParts.maxBytes (%d bytes)", r.config.MaxBytes), "", true)
	} else if nth > r.config.MaxParts {
		add(faultSize, fmt.Sprintf("there are more files than policy.fileParts.maxParts (%d)", r.config.MaxParts), "", true)
	}
	if what, ok := r.untyped(types); ok {
		add(faultType, "a file's media type is not permitted", what, true)
	} else if what := r.active(types, f); what != "" && r.config.ActiveContent != off {
		add(faultType, "a file is of a type that browsers run", what, r.config.ActiveContent == enforce)
	}
	if why := r.misnamed(f.Names); why != "" {
		add(faultName, why, "", r.config.Names == enforce)
	}
	return faults
}
