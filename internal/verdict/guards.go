package verdict

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// What becomes of a document in which guards find something, beside Refused.
const (
	Redacted = "redacted"
	Recorded = "recorded"
)

// GuardTrial is a text or a message that guards are to look at. It is never kept.
type GuardTrial struct {
	Agent   string         `json:"agent" doc:"its id"`
	Skill   string         `json:"skill,omitzero" doc:"that the call is for, as in the path"`
	Method  string         `json:"method,omitzero" doc:"as any version calls it; that of sending a message unless set"`
	Caller  *Claimed       `json:"caller,omitzero" doc:"nobody in particular, a caller without a credential, unless set"`
	Phase   string         `json:"phase,omitzero" doc:"what it is in the call: request (default), answer or event"`
	Text    string         `json:"text,omitzero" doc:"a text, which is put into a message with one part; or message"`
	Message jsontext.Value `json:"message,omitzero" doc:"a message as A2A 1.0 has it, or what has it in it: the params of a request, the result of an answer, or an event"`
	Offline bool           `json:"offline,omitzero" doc:"guards that ask a service are left out"`
}

// results are the members of an answer, or of an event, of which it has one.
var results = []string{"message", "task", "statusUpdate", "artifactUpdate"}

// Document is what the guards are to look at, as A2A 1.0 has it over HTTP+JSON: params, or the result of an answer.
func (t *GuardTrial) Document(answer bool) (jsontext.Value, error) {
	role := "ROLE_USER"
	if answer {
		role = "ROLE_AGENT"
	}
	switch {
	case t.Text != "" && t.Message != nil:
		return nil, errors.New("text and message exclude each other")
	case t.Text != "":
		text, err := jsontext.AppendQuote(nil, t.Text)
		if err != nil {
			return nil, errors.New("the text is not UTF-8")
		}
		return fmt.Appendf(nil, `{"message":{"messageId":"message-1","role":%q,"parts":[{"text":%s}]}}`, role, text), nil
	case t.Message.Kind() != '{':
		return nil, errors.New("want a text, or a JSON object: a message, or what has one in it")
	}
	var members map[string]jsontext.Value
	if err := json.Unmarshal(t.Message, &members, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)); err != nil {
		return nil, errors.New("it is no JSON object")
	}
	for _, name := range results {
		if members[name] != nil {
			return t.Message, nil
		}
	}
	add := ""
	if members["messageId"] == nil {
		add += `"messageId":"message-1",`
	}
	if members["role"] == nil {
		add += fmt.Sprintf(`"role":%q,`, role)
	}
	rest := strings.TrimSpace(string(t.Message))[1:]
	if len(members) == 0 {
		add = strings.TrimSuffix(add, ",")
	}
	return jsontext.Value(`{"message":{` + add + rest + `}`), nil
}

// GuardTried is what guards would make of a document.
type GuardTried struct {
	Phase    string         `json:"phase"`
	Guards   []string       `json:"guards" doc:"guards that looked at it, with (shadow) behind those that only record"`
	Findings []GuardFinding `json:"findings"`
	Refused  *GuardRefused  `json:"refused,omitempty" doc:"the document would not be passed on"`
	Redacted bool           `json:"redacted" doc:"something in the document is redacted"`
	Document jsontext.Value `json:"document,omitempty" doc:"what would be passed on; absent if refused"`
	Notes    []string       `json:"notes,omitempty"`
}

// GuardRefused is the error that takes the place of a document.
type GuardRefused struct {
	Guard   string `json:"guard" doc:"which the caller does not learn"`
	Error   string `json:"error" doc:"reason of the error, as in docs/errors.md"`
	Status  int    `json:"status" doc:"status over HTTP+JSON"`
	Message string `json:"message"`
}

// GuardDraft asks what other guards would have made of recorded calls whose content was captured.
type GuardDraft struct {
	Guards  string    `json:"guards" doc:"YAML, as policy.guards lists them, or with the key guards: around them"`
	Since   time.Time `json:"since,omitzero" doc:"calls recorded at or after this time"`
	Until   time.Time `json:"until,omitzero" doc:"calls recorded before this time"`
	Records int       `json:"records,omitzero" doc:"so many of the newest at most; unless set all, which are admin.replay.records at most"`
}

// GuardReplay is what guards would have made of recorded calls. Calls is the sum of NotCaptured, Gone, Same, Changed
// and Untold.
type GuardReplay struct {
	Calls       int            `json:"calls" doc:"number of calls looked at"`
	More        bool           `json:"more" doc:"there are older ones, which were not asked for"`
	Oldest      time.Time      `json:"oldest,omitzero" doc:"when the oldest of them began"`
	Newest      time.Time      `json:"newest,omitzero" doc:"when the newest of them began"`
	NotCaptured int            `json:"notCaptured" doc:"calls whose content was not captured"`
	Gone        int            `json:"gone" doc:"calls whose captured content was erased, or has expired"`
	Bytes       int64          `json:"bytes" doc:"size of the captured content that the guards looked at"`
	Partial     int            `json:"partial" doc:"calls of whose content only a part was captured: the guards may find more in them"`
	Same        int            `json:"same" doc:"calls with the same outcome"`
	Changed     int            `json:"changed" doc:"calls with another outcome"`
	Untold      int            `json:"untold" doc:"calls whose outcome cannot be told"`
	Outcomes    []GuardOutcome `json:"outcomes" doc:"calls by their outcome then and now, worst outcome now first"`
	Guards      []GuardTally   `json:"guards" doc:"calls in which each guard found something, of those whose outcome can be told; ordered by name"`
	Changes     []GuardChange  `json:"changes" doc:"newest calls with another outcome, admin.replay.sample at most"`
	Why         []Reason       `json:"why" doc:"why the outcome of calls cannot be told, most frequent first"`
	Notes       []string       `json:"notes,omitempty" doc:"what the answer does not count with"`
}

// GuardOutcome counts calls. Was and Now are passed, recorded, redacted or refused: the worst that guards made of
// anything in the call.
type GuardOutcome struct {
	Was   string `json:"was" doc:"passed, recorded, redacted or refused, by the record of the call"`
	Now   string `json:"now" doc:"the same, with the draft"`
	Calls int    `json:"calls"`
}

// GuardTally counts calls in which a guard found something.
type GuardTally struct {
	Guard string `json:"guard"`
	Was   int    `json:"was" doc:"calls in which it found something, by their records"`
	Now   int    `json:"now" doc:"calls in which it finds something"`
}

// GuardChange is a recorded call that guards would treat differently.
type GuardChange struct {
	Seq      int64     `json:"seq" doc:"number of its record"`
	Time     time.Time `json:"time" doc:"when the call began"`
	Caller   string    `json:"caller"`
	Agent    string    `json:"agent"`
	Method   string    `json:"method"`
	Was      string    `json:"was"`
	Now      string    `json:"now"`
	Findings []string  `json:"findings" doc:"what the guards of the draft find, as guard: kind"`
}
