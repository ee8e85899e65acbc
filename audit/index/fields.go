package index

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/refusal"
)

// fields are what can be asked for, of records of all types, as they stand in the record.
type fields struct {
	Seq       uint64    `json:"seq"`
	Type      string    `json:"type"`
	Time      time.Time `json:"time"`
	Event     string    `json:"event"`
	Decision  string    `json:"decision"`
	Reason    string    `json:"reason"`
	Method    string    `json:"method"`
	Principal string    `json:"principal"`
	Agent     string    `json:"agent"`
	Skill     string    `json:"skill"`
	Task      string    `json:"task_id"`
	Context   string    `json:"context_id"`
	Issuer    string    `json:"issuer"`
	Rule      string    `json:"rule"` // once read, the limit where one refused the call
	Limit     string    `json:"limit"`
	Stage     string    `json:"-"` // that refused the call
	Approval  string    `json:"approval"`
	Guards    []finding `json:"guards"`
	Attrs     struct {
		Principal string `json:"principal"`
		Who       string `json:"who"`
		Agent     string `json:"agent"`
		Skill     string `json:"skill"`
		Task      string `json:"task_id"`
		Approval  string `json:"approval"`
	} `json:"attrs"`
}

// finding is what a guard found, as far as it can be asked for.
type finding struct {
	Guard string `json:"guard"`
	Kind  string `json:"kind"`
}

var errNoRecord = errors.New("it is no record of an audit log")

// read reads a record. What an event is about counts like what a call is about: who asks for
// somebody's records wants what was done to their keys and content too.
func (f *fields) read(line []byte) error {
	*f = fields{}
	if err := json.Unmarshal(line, f); err != nil || f.Type == "" || f.Time.IsZero() {
		return errNoRecord
	}
	if f.Type == "event" {
		f.Principal, f.Agent, f.Skill, f.Task = f.Attrs.Principal, f.Attrs.Agent, f.Attrs.Skill, f.Attrs.Task
		f.Approval = f.Attrs.Approval
		if f.Principal == "" {
			f.Principal = f.Attrs.Who
		}
	}
	if f.Type == "call" {
		f.Stage = refusal.Stage(f.Decision, f.Reason, f.Rule, f.Limit)
		f.Rule = cmp.Or(f.Limit, f.Rule)
	}
	return nil
}

// Numbers of types and decisions in the index. They are part of the schema: an index that has been
// made keeps them, so that other numbers are another version of it.
var (
	types     = map[string]int64{"intent": 1, "call": 2, "event": 3}
	decisions = map[string]int64{"deny": 1, "error": 2}
	stages    = func() map[string]int64 {
		numbers := map[string]int64{}
		for i, name := range refusal.Stages() {
			numbers[name] = int64(i) + 1
		}
		return numbers
	}()
)

// digest is what stands for a name in the index; nil for none. Names are few or known to
// whoever guesses them, so it takes the key to tell which digest is whose. It is short, as
// most of the index is digests: what is found is compared again with what was asked for.
func (i *Index) digest(kind byte, name string) any {
	if name == "" {
		return nil
	}
	// The kind is hashed with the name, so that an agent and a skill of one name have different
	// digests.
	mac := hmac.New(sha256.New, i.key)
	_, _ = mac.Write([]byte{kind})
	_, _ = mac.Write([]byte(name))
	return int64(binary.BigEndian.Uint32(mac.Sum(nil))) - 1<<31 // as many bytes in each index
}
