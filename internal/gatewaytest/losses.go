package gatewaytest

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// loss is a difference that translation cannot help. Names are patterns of
// package path, alternatives between bars; none matches everything. want makes of
// the results on the caller's own side what is expected, got leaves out of what
// happened what cannot be expected; both may be nil.
type loss struct {
	caller, agent, operation string

	want, got func(lines []string) []string
	why       string
}

func (l loss) concerns(p pairing, op Operation) bool {
	return named(l.caller, p.caller.Name) && named(l.agent, p.agent.Name) && named(l.operation, op.Name)
}

func named(patterns, name string) bool {
	return patterns == "" || slices.ContainsFunc(strings.Split(patterns, "|"), func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		return ok && err == nil
	})
}

const (
	messages = "message reply|stream of one message|data part|data array part|data null part|file parts|one megabyte"
	json10   = "go10-jsonrpc|go10-rest"
)

// losses are all differences between a translated conversation and one of the
// caller's own side: first those of the protocol, then those of the SDKs.
var losses = [...]loss{
	{
		agent: "hand01-*", want: edited(anyIDs), got: edited(sameIDs),
		why: "0.1 has no ids of messages, and its events do not name the context: the gateway does",
	},
	{
		caller: "hand01-*", operation: messages, want: edited(onlyStatus),
		why: "what 0.1 gets for a message is a task that never was: it has no history and no time",
	},
	{
		caller: "go10-*", agent: "hand01-*", want: beginning("stream", "", `"status":{"state":"TASK_STATE_SUBMITTED"}`),
		why: "a stream of 1.0 begins with the task, so the gateway makes one of what it knows",
	},
	{
		caller: "go10-*", agent: "hand01-*", operation: "subscribe to a running task",
		want: beginning("subscribe", `"history":[{"messageId":"messageId","parts":[{"text":"tick"}],"role":"ROLE_USER"}],`,
			`"status":{"state":"TASK_STATE_WORKING","timestamp":"2026-01-01T00:00:00Z"}`),
		why: "the same, and this task can be asked for",
	},
	{
		agent: "hand01-*", want: without("wire:"), got: without("wire:"),
		why: "codes of JSON-RPC are not those of the caller's binding; the error's name is compared",
	},
	{
		agent: "hand01-*", operation: "push configurations", want: onlyConfig, got: edited(noConfigID),
		why: "a task of 0.1 has one push config, without an id; its list is that one",
	},
	{
		agent: "hand01-*", operation: "unknown task", want: replacing("send: {", "send: error task not found"),
		why: "in 0.1 a message to an unknown task makes it; from 1.0 on it is an error",
	},
	{
		caller: "*03-grpc", agent: "hand01-*", operation: "get with history lengths", want: at(2, 4),
		why: "0.3's protobuf cannot tell a history of length 0 from one of any length",
	},
	{
		caller: "go10-*", agent: "*03-*|hand01-*", operation: "* to an ended task",
		want: each("(task not found|invalid params|(wire: error) .*)", "$2"),
		got:  each("(this operation is not supported|(wire: error) .*)", "$2"),
		why:  "1.0 says that it is not supported, which is what the gateway answers; the SDK says otherwise",
	},
	{
		agent: "*03-*", operation: "list", want: edited(noHistory), got: edited(noHistory),
		why: "the gateway's own list has no history unless it is asked for",
	},
	{
		agent: "*03-*", operation: "list", want: each("error invalid request", "error invalid params", "-32600", "-32602"),
		why: "of a page too large, 1.0 says that the params are invalid, and the SDK the request",
	},
	{
		agent: "hand01-*", operation: "list", want: always(), got: each("(list|send): .*", ""),
		why: "more tasks than 0.1's own client has made are in the list: those that stand for messages",
	},
	{
		caller: "compat03-rest", agent: "go03-*", operation: "subscribe to a running task",
		want: without(`subscribe: {"task"`),
		why:  "0.3 leaves open whether the task comes first; the 0.3 SDK's server does not send it",
	},
	{
		caller: json10, operation: "data null part", want: always("skip"), got: always("skip"),
		why: "the 1.0 SDK's JSON has no null",
	},
	{
		caller: "*03-*c|hand01-*", agent: json10, operation: "data null part",
		want: always("send: error"), got: each("send: error .*", "send: error", "wire: .*", ""),
		why: "the 1.0 SDK's JSON has no null",
	},
	{
		caller: "go10-grpc", operation: "data array part|data null part", want: always("send: error"),
		why: "the 1.0 SDK's gRPC client writes no other data than objects",
	},
	{
		agent: "go10-grpc", operation: "data array part|data null part", want: each(`"data":(\[.*?\]|null)`, `"data":{}`),
		why: "the 1.0 SDK's gRPC server reads data that is no object as an empty object",
	},
	{
		caller: "compat03-rest", operation: "data null part", want: each(`"data":null`, `"data":{}`),
		why: "the 1.0 SDK's client for 0.3's HTTP+JSON leaves null out",
	},
	{
		caller: "compat03-rest", agent: "*03-grpc", operation: "data array part",
		want: always("send: error invalid params", "wire: error 400"),
		why:  "the same client sends data that is no object, which 0.3's protobuf does not have",
	},
	{
		caller: "compat03-rest", agent: "*-jsonrpc|go10-rest", operation: "data array part",
		want: each(`"data":(\[.*?\])`, `"data":{"value":$1},"metadata":{"data_part_compat":true}`),
		why:  "the same client does not undo how data that is no object is told to 0.3",
	},
}

// without leaves out lines.
func without(prefix string) func([]string) []string {
	return func(lines []string) []string {
		return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return strings.HasPrefix(line, prefix) })
	}
}

// each changes lines by pairs of a pattern and what to put in its place. Lines of
// which nothing is left are left out.
func each(pairs ...string) func([]string) []string {
	return func(lines []string) []string {
		var out []string
		for _, line := range lines {
			for i := 0; i < len(pairs); i += 2 {
				line = regexp.MustCompile(pairs[i]).ReplaceAllString(line, pairs[i+1])
			}
			if line != "" {
				out = append(out, line)
			}
		}
		return out
	}
}

// always is the same, whatever there was.
func always(lines ...string) func([]string) []string {
	return func([]string) []string { return lines }
}

// at puts one line in the place of another.
func at(place, from int) func([]string) []string {
	return func(lines []string) []string {
		lines = slices.Clone(lines)
		lines[place] = lines[from]
		return lines
	}
}

// replacing puts another line in the place of those that begin so.
func replacing(prefix, now string) func([]string) []string {
	return func(lines []string) []string {
		lines = slices.Clone(lines)
		for i := range lines {
			if strings.HasPrefix(lines[i], prefix) {
				lines[i] = now
			}
		}
		return lines
	}
}
