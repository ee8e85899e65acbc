package redis

import (
	"hash/crc32"
	"net/url"
	"strconv"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// names spells keys. What stands in a hash tag is escaped, so that nobody's name can end
// it; what comes last in a key is any bytes.
//
//	{a2a-gateway:billing}:task:7f3c…        the record of a task of the agent billing
//	{a2a-gateway:billing}:owner:alice       the tasks of an owner, newest last
//	{a2a-gateway:revocations}:value:jti     a value of the space revocations
//	{a2a-gateway}:limit:calls/alice         a bucket of limits
type names struct{ prefix string }

// tag is that of an agent, a space or a queue.
func (n names) tag(name string) string { return "{" + n.prefix + ":" + url.QueryEscape(name) + "}" }

// limits is the tag of all limits, and of what belongs to no agent.
func (n names) limits() string { return "{" + n.prefix + "}" }

// limit is the key of one bucket, {prefix}:limit:KEY.
func (n names) limit(key string) string { return n.limits() + ":limit:" + key }

// agents is the set of agents that have indexes.
func (n names) agents() string { return n.limits() + ":agents" }

// record is the key of an id, {prefix:billing}:task:ID.
func (n names) record(agent string, k state.Kind, id string) string {
	return n.tag(agent) + ":" + kindName(k) + ":" + id
}

// index is a sorted set of tasks, all with the score 0, whose members are when a task was
// created, in 12 bytes, and its id.
func (n names) owner(agent, owner string) string   { return n.tag(agent) + ":owner:" + owner }
func (n names) tenant(agent, tenant string) string { return n.tag(agent) + ":tenant:" + tenant }
func (n names) everyone(agent string) string       { return n.tag(agent) + ":everyone" }

// indexes is a sorted set of the keys of an agent's indexes by when to sweep them, in
// seconds of Unix time.
func (n names) indexes(agent string) string { return n.tag(agent) + ":indexes" }

// step has the length of the task's id in it, as both that and the URI are any bytes.
func (n names) step(s state.Step) string {
	return n.tag(s.Agent) + ":step:" + strconv.Itoa(len(s.Task)) + ":" + s.Task + ":" + s.Extension
}

// value is the key of one value, {prefix:revocations}:value:KEY.
func (n names) value(space, key string) string { return n.tag(space) + ":value:" + key }

// values and expiring are sorted sets of the keys of a space: by bytes, and by when their
// values expire, in milliseconds of Unix time.
func (n names) values(space string) string   { return n.tag(space) + ":values" }
func (n names) expiring(space string) string { return n.tag(space) + ":expiring" }

// logTags is how many tags logs are spread over. There are too many logs to have one each:
// a tag has a guard in a cluster.
const logTags = 256

// log is the tag and the key of a log.
func (n names) log(name string) (tag, key string) {
	tag = "{" + n.prefix + ":logs:" + strconv.Itoa(int(crc32.ChecksumIEEE([]byte(name))%logTags)) + "}"
	return tag, tag + ":log:" + name
}

// queue is the keys of a queue, in the order in which its script has them.
func (n names) queue(queue string) []string {
	keys := []string{"items", "data", "waiting", "ages", "free", "leases", "dead", "graves", "number"}
	begin := n.lines(queue)
	for i, k := range keys {
		keys[i] = begin + k
	}
	return keys
}

// lines is what the keys of a queue begin with; those of a line have its name at the end.
func (n names) lines(queue string) string { return n.tag(queue) + ":queue:" }

// kindName is a Kind in keys, and so never changes: another word would lose all records of the kind.
func kindName(k state.Kind) string {
	switch k {
	case state.Task:
		return "task"
	case state.Context:
		return "context"
	case state.TaskAlias:
		return "task-alias"
	case state.ContextAlias:
		return "context-alias"
	case state.ContextName:
		return "context-name"
	}
	return "kind-" + strconv.Itoa(int(k))
}
