package reader

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/audit/chain"
	"github.com/a2a-gateway/a2a-gateway/audit/segment"
)

// Call is what the record of a call says, as far as it is about who asked for what and
// what was decided. The fields are the members of docs/audit.md, with the text that was
// cleaned as it was before.
type Call struct {
	Caller

	Seq        uint64    `json:"seq"`
	Version    int       `json:"v"`
	Type       string    `json:"type"`
	Start      time.Time `json:"start"`
	RequestID  string    `json:"request_id"`
	Agent      string    `json:"agent"`
	Skill      string    `json:"skill"`
	Method     string    `json:"method"`
	Binding    string    `json:"binding"`
	A2A        string    `json:"version"`
	Decision   string    `json:"decision"`
	Rule       string    `json:"rule"`
	Sharing    string    `json:"sharing"`
	Limit      string    `json:"limit"`
	Reason     string    `json:"reason"`
	Cause      string    `json:"cause"`
	Extensions []string  `json:"extensions_requested"`
	Streamed   bool      `json:"streamed"`
	Translated string    `json:"translated_to"`
	Guards     []Finding `json:"guards"`
	Content    Content   `json:"content"`

	// Cut says that some of it was longer than records are, cause not counted.
	Cut bool `json:"-"`
}

// Finding is what a guard found in the call.
type Finding struct {
	Guard  string `json:"guard"`
	Kind   string `json:"kind"`
	Action string `json:"action"`
	Shadow bool   `json:"shadow"`
}

// Content names what was captured of the call; without an id nothing was, or it was lost.
type Content struct {
	ID     string `json:"id"`
	Digest string `json:"digest"`
	Lost   bool   `json:"lost"`
}

// Caller is what a record says of who asked: the identity that rules are about, and how far it
// was proven. Its members stand among the others.
type Caller struct {
	Principal  string    `json:"principal"`
	Issuer     string    `json:"issuer"`
	Client     string    `json:"client"`
	Tenant     string    `json:"tenant"`
	AuthMethod string    `json:"auth_method"`
	KeyID      string    `json:"key_id"`
	KeyOwner   string    `json:"key_owner"`
	Proof      string    `json:"proof"`
	ACR        string    `json:"acr"`
	AMR        []string  `json:"amr"`
	AuthTime   time.Time `json:"auth_time"`
	Actors     []string  `json:"actors"`
	Workload   string    `json:"workload"`
	Groups     []string  `json:"groups"`
	Scopes     []string  `json:"scopes"`
	ClientIP   string    `json:"client_ip"`
}

// typeCall is the type of the records of calls.
const typeCall = "call"

// Calls reads the records of calls, in a file or a directory of segments, in their order,
// each once; what else is recorded is passed over. A line that is no record ends it with
// an error, but for a torn one at the end of a file.
// It does not wait for more and does not follow: a log that grows meanwhile may or may not show
// what came.
func (s Source) Calls() iter.Seq2[*Call, error] {
	return func(yield func(*Call, error) bool) {
		dir, names, err := s.files()
		if err != nil {
			yield(nil, err)
			return
		}
		for _, n := range names {
			if !(Source{Path: dir, Keys: s.Keys}).readCalls(n, yield) {
				return
			}
		}
	}
}

// files lists the segments of a directory, or the one file.
// A path to one file, with any name, is for a file that was copied out of the directory.
func (s Source) files() (dir string, names []segment.Name, err error) {
	info, err := os.Stat(s.Path)
	if err != nil {
		return "", nil, err
	}
	if !info.IsDir() {
		return filepath.Dir(s.Path), []segment.Name{segment.FileNamed(filepath.Base(s.Path))}, nil
	}
	names, err = segment.List(s.Path)
	if err != nil {
		return "", nil, err
	}
	if len(names) == 0 {
		return "", nil, fmt.Errorf("%s: there is no segment of an audit log (audit-YYYY-MM-DD.jsonl)", s.Path)
	}
	return s.Path, names, nil
}

// readCalls reads one file. It reports whether to go on.
// Errors name file and line, as a compiler does.
func (s Source) readCalls(n segment.Name, yield func(*Call, error) bool) bool {
	in, err := s.Dir().Open(n, 0)
	if err != nil {
		yield(nil, err)
		return false
	}
	defer func() { _ = in.Close() }() // only read from
	at, buf := 0, make([]byte, segment.BlockSize)
	for {
		block, err := in.Next(buf)
		if errors.Is(err, io.EOF) { // whatever is left is torn
			return true
		}
		if err != nil {
			yield(nil, fmt.Errorf("%s:%d: %w", n.Path(s.Path), at+1, err))
			return false
		}
		for line := range bytes.Lines(block) {
			at++
			c, err := callIn(line)
			if err != nil {
				yield(nil, fmt.Errorf("%s:%d: %w", n.Path(s.Path), at, err))
				return false
			}
			if c != nil && !yield(c, nil) {
				return false
			}
		}
	}
}

// Call is what the record says if it is that of a call, and nil otherwise.
func (e Entry) Call() (*Call, error) { return callIn(e.Line) }

// callIn reads a line, nil when it is the record of something else.
// A line that is no record at all is an error, so that a file of something else is not taken for an
// empty log.
func callIn(line []byte) (*Call, error) {
	// Looking for the text first saves parsing the other half of a log, its intents. A call whose
	// user agent holds that text is parsed all the same, and its type decides.
	if !bytes.Contains(line, []byte(`"type":"call"`)) {
		if !bytes.HasPrefix(line, []byte(chain.SeqPrefix)) {
			return nil, errors.New("it is no record of an audit log")
		}
		return nil, nil
	}
	c, err := parseCall(line)
	if err != nil || c.Type != typeCall {
		return nil, err
	}
	return c, nil
}

// parseCall reads one record.
func parseCall(line []byte) (*Call, error) {
	c := &Call{}
	if err := json.Unmarshal(line, c); err != nil {
		return nil, errors.New("it is no record of an audit log")
	}
	// Members of another version may mean something else, and a decision that is replayed from them
	// would be about another call.
	if c.Version != chain.Version {
		return nil, fmt.Errorf("its schema is version %d; %d is known", c.Version, chain.Version)
	}
	// Members whose values are words of the gateway's own (decision, reason, binding) are never
	// cleaned.
	for _, s := range []*string{
		&c.Agent, &c.Skill, &c.Method, &c.Principal, &c.Issuer, &c.Client, &c.Tenant, &c.KeyID, &c.KeyOwner,
		&c.ACR, &c.Workload, &c.ClientIP, &c.Rule, &c.Sharing, &c.Limit,
	} {
		c.restore(s)
	}
	c.Cause, _ = original(c.Cause)
	for _, l := range [][]string{c.AMR, c.Actors, c.Groups, c.Scopes, c.Extensions} {
		for i := range l {
			c.restore(&l[i])
		}
	}
	return c, nil
}

// restore undoes the cleaning of one text.
func (c *Call) restore(s *string) {
	text, whole := original(*s)
	*s, c.Cut = text, c.Cut || !whole
}

// original undoes telemetry.Clean. whole is false where something was left out.
// Clean writes control characters and bytes that are no UTF-8 as \x0a, \u202e or \U0001f600, a
// backslash as two, and marks what it cut off with a backslash and an ellipsis.
func original(s string) (text string, whole bool) {
	if !strings.Contains(s, `\`) {
		return s, true
	}
	var b []byte
	for s != "" {
		plain, rest, escaped := strings.Cut(s, `\`)
		b = append(b, plain...)
		if !escaped {
			break
		}
		n, ok := map[byte]int{'x': 2, 'u': 4, 'U': 8}[first(rest)]
		switch {
		case first(rest) == '\\':
			b, s = append(b, '\\'), rest[1:]
			continue
		case !ok || len(rest) < 1+n: // the mark of what was cut
			return string(b), false
		}
		value, err := strconv.ParseUint(rest[1:1+n], 16, 32)
		if err != nil {
			return string(b), false
		}
		if n == 2 {
			b = append(b, byte(value)) //nolint:gosec // two digits
		} else {
			b = utf8.AppendRune(b, rune(value)) //nolint:gosec // what is no rune becomes U+FFFD
		}
		s = rest[1+n:]
	}
	return string(b), true
}

// first is the first byte of a text, 0 for none.
func first(s string) byte {
	if s == "" {
		return 0
	}
	return s[0]
}
