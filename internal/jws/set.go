package jws

import (
	"crypto/sha256"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Limits of a key set. A large provider publishes about ten keys in twenty KiB.
const (
	MaxSet     = 256 << 10 // bytes of the document
	maxMembers = 200       // keys that are looked at; the first ones are
	MaxKeys    = 50        // that are taken
	MaxSameID  = 4         // keys of one kid that are taken, and so tried for one signature
	MaxKeyID   = 256       // bytes of a kid
)

// Set is a JWK set (RFC 7517 §5) as far as it can verify signatures.
type Set struct {
	Keys    []*Key    // never empty, in the order of the document
	Skipped []Skipped // the others
}

// Skipped is a key of a set that is not taken.
type Skipped struct {
	Index  int    // in the set, from 0
	ID     string // kid, if it can be read, of no more than MaxKeyID bytes
	Reason Reason
	Err    error // what is wrong with it; quotes nothing that is secret
}

// String is for people: which key, and what is wrong with it.
func (s Skipped) String() string {
	if s.ID == "" {
		return fmt.Sprintf("key %d: %v", s.Index, s.Err)
	}
	return fmt.Sprintf("key %d, kid %.40q: %v", s.Index, s.ID, s.Err)
}

// Level is how loud it is to be said: a key for something else, such as encryption, is nothing
// to worry about.
func (s Skipped) Level() slog.Level {
	if s.Reason == reasonOther {
		return slog.LevelInfo
	}
	return slog.LevelWarn
}

// Newly are those of after that were not skipped before, wherever in the set they stood: what is
// to be said of a set that is fetched again and again.
func Newly(before, after []Skipped) []Skipped {
	return slices.DeleteFunc(slices.Clone(after), func(a Skipped) bool {
		return slices.ContainsFunc(before, func(b Skipped) bool {
			return a.ID == b.ID && a.Reason == b.Reason && a.Err.Error() == b.Err.Error()
		})
	})
}

// Reason is why a key is not taken, of a closed set that is fit for a metric label.
type Reason string

// The reasons. All but reasonOther are mistakes of whoever publishes the set.
const (
	reasonOther     Reason = "other"     // for another use, algorithm or kind of signature: RFC 7517 §5 has it ignored
	reasonMalformed Reason = "malformed" // a member is missing, doubled, or not what it has to be
	reasonWeak      Reason = "weak"      // can be broken, or is made to burn time
	reasonSecret    Reason = "secret"    // is symmetric, or published with its private half
	reasonExcess    Reason = "excess"    // beyond maxMembers, MaxKeys, MaxSameID or MaxKeyID
)

// reasons are all of them.
func reasons() []Reason {
	return []Reason{reasonOther, reasonMalformed, reasonWeak, reasonSecret, reasonExcess}
}

// thumbprint is that of RFC 7638.
type thumbprint = [sha256.Size]byte

// unusable is an error with its reason.
type unusable struct {
	error

	reason Reason
	leaked *thumbprint // of a key that comes with its private half, where it is one at all
}

func unfit(r Reason, format string, args ...any) error {
	return unusable{error: fmt.Errorf(format, args...), reason: r}
}

// reasonOf is why a key is not taken. What no reason was given for, could not be read.
func reasonOf(err error) Reason {
	if u, ok := err.(unusable); ok { //nolint:errorlint // never wrapped: Set asks first
		return u.reason
	}
	return reasonMalformed
}

// Set reads a JWK set. A key that cannot be used is skipped, whatever is wrong with it, and
// the others work, as RFC 7517 §5 asks. A key that stands there twice is one key. Several keys
// of one kid are kept: which of them made a signature, the signature shows. The error says that
// the document is no set, or has no key that can verify a signature, and why.
func (p Profile) Set(doc []byte) (*Set, error) {
	if len(doc) > MaxSet {
		return nil, fmt.Errorf("more than %d bytes", MaxSet)
	}
	members, err := membersOf(doc)
	if err != nil {
		return nil, err
	}
	r := reader{profile: p, leaked: map[thumbprint]bool{}, ids: map[string]int{}}
	for i, text := range members {
		if i == maxMembers {
			r.skip(i, "", unfit(reasonExcess, "more than %d keys, of which this one and those behind it are not looked at", maxMembers))
			break
		}
		r.member(i, text)
	}
	r.disown()
	if len(r.set.Keys) == 0 {
		return nil, fmt.Errorf("no key that can verify a signature%s", reasonsFor(r.set.Skipped))
	}
	return &r.set, nil
}

// membersOf splits a set into its keys and reads none of them: what is wrong inside of one,
// be it a name twice, is wrong with that one.
func membersOf(doc []byte) ([]jsontext.Value, error) {
	lenient := []json.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}
	var set struct {
		Keys list `json:"keys"`
	}
	if err := json.Unmarshal(doc, &set, lenient...); err != nil {
		return nil, err
	}
	return set.Keys.members, nil
}

// list is the keys of a set. A set that has two lists has no reading.
type list struct{ members []jsontext.Value }

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (l *list) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if l.members != nil {
		return fmt.Errorf("duplicate member %q", "keys")
	}
	l.members = []jsontext.Value{}
	return json.UnmarshalDecode(d, &l.members)
}

// reasonsFor says of the first few keys why they are not taken.
func reasonsFor(skipped []Skipped) string {
	const few = 3
	var b strings.Builder
	for i, s := range skipped {
		if i == few {
			fmt.Fprintf(&b, "; and %d more", len(skipped)-few)
			break
		}
		b.WriteString([]string{": ", "; "}[min(i, 1)])
		b.WriteString(s.String())
	}
	return b.String()
}

// reader reads the keys of one set.
type reader struct {
	profile Profile
	set     Set
	ids     map[string]int      // keys of a kid that are taken
	at      []int               // where in the set each of set.Keys stands
	leaked  map[thumbprint]bool // keys whose private half is in the set
}

// member takes one key, or notes why not.
func (r *reader) member(i int, text jsontext.Value) {
	k, id, err := r.profile.member(text)
	if u, ok := err.(unusable); ok && u.leaked != nil { //nolint:errorlint // never wrapped
		r.leaked[*u.leaked] = true
	}
	if err == nil && r.again(k) {
		return
	}
	if err == nil {
		err = r.room(k)
	}
	if err != nil {
		r.skip(i, id, err)
		return
	}
	if k.ID != "" {
		r.ids[k.ID]++
	}
	r.set.Keys, r.at = append(r.set.Keys, k), append(r.at, i)
}

func (r *reader) skip(i int, id string, err error) {
	if len(id) > MaxKeyID {
		id = "" // a prefix could be the kid of another
	}
	r.set.Skipped = append(r.set.Skipped, Skipped{i, id, reasonOf(err), err})
}

// again reports whether the key is there already. It then counts when both say so.
func (r *reader) again(k *Key) bool {
	at := slices.IndexFunc(r.set.Keys, k.Same)
	if at >= 0 {
		r.set.Keys[at].narrow(k)
	}
	return at >= 0
}

// room reports which limit keeps the key out.
func (r *reader) room(k *Key) error {
	switch {
	case k.ID != "" && r.ids[k.ID] >= MaxSameID:
		return unfit(reasonExcess, "more than %d keys of this kid", MaxSameID)
	case len(r.set.Keys) >= MaxKeys:
		return unfit(reasonExcess, "more than %d keys", MaxKeys)
	}
	return nil
}

// disown takes out keys whose private half stands elsewhere in the set: anybody can sign
// with them.
func (r *reader) disown() {
	if len(r.leaked) == 0 {
		return
	}
	all := r.set.Keys
	r.set.Keys = nil
	for i, k := range all {
		if r.leaked[k.Thumbprint] {
			r.skip(r.at[i], k.ID, unfit(reasonSecret, "its private half is in the set"))
			continue
		}
		r.set.Keys = append(r.set.Keys, k)
	}
}
