package grammar

import "errors"

// What can be wrong with a stream of an agent: each is one rule of its grammar. The texts
// stand in the audit record, so they are stable.
var (
	ErrFirst         = errors.New("stream does not begin with a task or a message")
	ErrSecondMessage = errors.New("second message in one stream")
	ErrMixed         = errors.New("message and task events in one stream")
	ErrAfterEnd      = errors.New("event after the end of the stream")
	ErrOtherTask     = errors.New("event of another task in the stream")
	ErrOtherContext  = errors.New("event of another context in the stream")
	ErrBackwards     = errors.New("task in another state after its end")
	errTurns         = errors.New("task waits for its user too often in one stream")

	ErrChunkFirst     = errors.New("chunk of an artifact that has not begun")
	ErrChunkAfterLast = errors.New("chunk of an artifact behind its last")
	ErrAltered        = errors.New("artifact with other content than it was delivered with")
)

// Rule is one rule of what agents say of their tasks.
type Rule struct {
	Err      error
	Name     string // in metrics and documents: short, in lower case, stable
	Enforced bool   // where streams.grammar is "enforce"; else a breach is recorded then
}

// Rules are all. What is enforced unless somebody wants more keeps what is not the caller's
// out of its stream, or bounds what an agent can do with it. The others protect nobody:
// there are agents that break them, and clients that read what they send.
var Rules = [...]Rule{
	{ErrFirst, "first", false},
	{ErrSecondMessage, "second_message", false},
	{ErrMixed, "mixed", false},
	{ErrAfterEnd, "after_end", false},
	{ErrBackwards, "backwards", false},
	{ErrOtherTask, "other_task", true},
	{ErrOtherContext, "other_context", true},
	{errTurns, "turns", true},
	{ErrChunkFirst, "chunk_first", false},
	{ErrChunkAfterLast, "chunk_after_last", false},
	{ErrAltered, "altered", false},
}

// RuleOf is the rule that an error is about; ok is false for none.
func RuleOf(err error) (r Rule, ok bool) {
	if err == nil {
		return r, false
	}
	for _, r := range Rules {
		if errors.Is(err, r.Err) {
			return r, true
		}
	}
	return r, false
}
