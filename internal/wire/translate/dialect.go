package translate

import (
	"strconv"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// dialect is one way to write A2A's objects as JSON.
//
// The order matters: d01 and d03 are the two that say what an object or a part is ("kinded" in the
// rules), p03 and d10 the two of ProtoJSON ("proto").
type dialect uint8

const (
	d01 dialect = iota // 0.1
	d03                // 0.2 and 0.3 on JSON-RPC: objects say their "kind"
	p03                // ProtoJSON of a2a.v1: 0.3 on HTTP+JSON and gRPC
	d10                // ProtoJSON of lf.a2a.v1: 1.0 on every binding
)

const dialects = int(d10) + 1

// dialectOf is how a side writes its objects:
//
//	d01   0.1                     {"id":"T","sessionId":"C","status":{"state":"working"}}
//	d03   0.3 JSON-RPC            {"kind":"task","id":"T","contextId":"C","status":{"state":"working"}}
//	p03   0.3 HTTP+JSON and gRPC  {"id":"T","contextId":"C","status":{"state":"TASK_STATE_WORKING"}}
//	d10   1.0                     as p03, but for parts, configs and what only one of them has
func dialectOf(s wire.Side) dialect {
	switch {
	case s.Version == wire.V01:
		return d01
	case s.Version == wire.V03 && s.Binding == wire.JSONRPC:
		return d03
	case s.Version == wire.V03:
		return p03
	}
	return d10
}

// words is what each dialect calls one thing; "" where it does not exist.
//
//	words{"sessionId", "contextId", "contextId", "contextId"}     the context of a task
//	words{"", "", "", "tenant"}                                   1.0 alone has a tenant
type words [dialects]string

// everywhere is a word that all dialects have in common.
func everywhere(w string) words { return words{w, w, w, w} }

// roles by their number in both protos. 0 is unspecified, which nobody may say.
var roles = [...]words{
	1: {"user", "user", "ROLE_USER", "ROLE_USER"},
	2: {"agent", "agent", "ROLE_AGENT", "ROLE_AGENT"},
}

// states by their number in both protos. 0.1 lacks two, and what stands there
// instead is found first when it is read.
var states = [...]words{
	{"unknown", "unknown", "TASK_STATE_UNSPECIFIED", "TASK_STATE_UNSPECIFIED"},
	submitted:     {"submitted", "submitted", "TASK_STATE_SUBMITTED", "TASK_STATE_SUBMITTED"},
	working:       {"working", "working", "TASK_STATE_WORKING", "TASK_STATE_WORKING"},
	completed:     {"completed", "completed", "TASK_STATE_COMPLETED", "TASK_STATE_COMPLETED"},
	failed:        {"failed", "failed", "TASK_STATE_FAILED", "TASK_STATE_FAILED"},
	canceled:      {"canceled", "canceled", "TASK_STATE_CANCELLED", "TASK_STATE_CANCELED"},
	inputRequired: {"input-required", "input-required", "TASK_STATE_INPUT_REQUIRED", "TASK_STATE_INPUT_REQUIRED"},
	rejected:      {"failed", "rejected", "TASK_STATE_REJECTED", "TASK_STATE_REJECTED"},
	authRequired:  {"input-required", "auth-required", "TASK_STATE_AUTH_REQUIRED", "TASK_STATE_AUTH_REQUIRED"},
}

const (
	submitted = iota + 1
	working
	completed
	failed
	canceled
	inputRequired
	rejected
	authRequired
)

// british is how people spell canceled, and how 0.3's proto does.
const british = "cancelled"

// number finds what a JSON value means: a word of any dialect, since agents and
// callers mix them, or the number that ProtoJSON allows for an enum. It is 0 for
// everything else.
//
//	"working"              2, in whatever dialect it stands
//	"TASK_STATE_WORKING"   2
//	2                      2: ProtoJSON reads the number of an enum's value as well
//	"paused"               0, false
func number(table []words, raw []byte) (n int, ok bool) {
	if !isString(raw) {
		n, err := strconv.Atoi(string(raw))
		if err != nil || n < 0 || n >= len(table) || table[n][d10] == "" {
			return 0, false
		}
		return n, true
	}
	word := inside(raw)
	for n := range table {
		for _, w := range table[n] {
			if w != "" && string(word) == w {
				return n, true
			}
		}
	}
	if len(table) == len(states) && string(word) == british {
		return canceled, true
	}
	return 0, false
}

// ends reports whether a state is the last thing that a stream says about a task:
// it is terminal, or it is the caller's turn. A task that waits for credentials may
// go on by itself, so its stream stays open.
//
// It decides about "final" of a status update before 1.0. Clients of 0.1 and 0.3 read a stream until an
// event says it, so one that is never told waits until the connection is closed.
func ends(state int) bool {
	switch state {
	case completed, failed, canceled, rejected, inputRequired:
		return true
	}
	return false
}
