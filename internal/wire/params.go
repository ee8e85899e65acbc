package wire

import (
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
)

// params reads what the method takes and returns where it stands. null is
// absent, as the clients of methods without params send it.
//
// A2A 1.0 §9.3 has params by name only. An array, which JSON-RPC 2.0 §4.2 permits as well, is refused.
func (d *decoder) params() (start, end int) {
	switch d.Kind() {
	case '{':
		start = d.Pos
		d.object(d.table())
		return start, d.Pos
	case 'n':
		return d.Skip()
	}
	start, end = d.Skip()
	d.Invalid("params is not an object")
	return start, end
}

// object reads the object that is next, by its table.
func (d *decoder) object(n *Names) {
	var seen uint32
	for d.Enter(); d.More(); {
		d.value(d.Member(n, &seen))
	}
}

// nested reads a member that must be an object, or null for absent.
func (d *decoder) nested(n *Names, what string) {
	if d.IsObject(what) {
		d.object(n)
	}
}

// value reads the value of a member that means f.
func (d *decoder) value(f jsonscan.Field) {
	c := d.call
	switch f {
	case fieldTenant:
		d.tenant()
	case fieldTask:
		d.word(d.taskOf(), "the task id", d.lim.IDLength)
	case fieldContext:
		d.context()
	case fieldConfig:
		d.word(d.configOf(), "the push notification config id", d.lim.IDLength)
	case fieldName:
		d.resource()
	case fieldPageToken:
		d.word(&c.PageToken, "pageToken", longestToken)
	case fieldHistory:
		d.history = true
		d.Skip()
	case fieldMessage:
		d.message()
	case fieldMessageID:
		d.word(&c.MessageID, "messageId", d.lim.IDLength)
	case fieldReferences:
		c.ReferenceTaskIDs = append(d.Words("referenceTaskIds", d.lim.IDLength), c.ReferenceTaskIDs...)
	case fieldExtensions:
		c.MessageExtensions = d.Words("extensions", LongestURI)
	case fieldParts:
		d.parts()
	case fieldMetadata:
		d.metadata()
	case fieldConfiguration:
		d.nested(configurationNames, "configuration")
	case fieldPush:
		d.push()
	case fieldStrayTask, fieldStrayContext, fieldStrayObject:
		d.stray(f)
	default:
		d.Skip()
	}
}

// message reads the message of a send. There is exactly one, under one of its
// names.
//
//	{"message":{"messageId":"M","taskId":"T","contextId":"C","role":"ROLE_USER","parts":[…]}}
//
// Role and parts are not read here. Policy asks for them only where a rule is about content, and
// ReadMessage reads them then.
func (d *decoder) message() {
	if !d.IsObject("message") {
		return
	}
	if d.hasMessage {
		d.Invalid("the message is given twice")
	}
	d.hasMessage = true
	d.object(messageNames)
}

// tenant reads a tenant and remembers where it stands, so that it can be replaced.
func (d *decoder) tenant() {
	kind, start := d.Kind(), d.Pos
	d.word(d.tenantOf(), "tenant", d.lim.IDLength)
	if kind == '"' && d.Pos-start > len(`""`) {
		d.call.TenantSpans = append(d.call.TenantSpans, [2]int{start, d.Pos})
	}
}

// context reads a context id and remembers where it stands, so that it can be
// replaced.
//
//	"contextId":"C"     the span is of the five bytes "C" with its quotes, here 3
func (d *decoder) context() {
	c := d.call
	kind, start := d.Kind(), d.Pos
	d.word(&c.ContextID, "the context id", d.lim.IDLength)
	switch end := d.Pos; {
	case kind != '"' || end-start <= len(`""`):
	case c.ContextSpan == [2]int{}:
		c.ContextSpan = [2]int{start, end}
	default:
		c.ContextCopies = append(c.ContextCopies, [2]int{start, end})
	}
}

// resource reads a resource name of 0.3's HTTP+JSON and gRPC:
// tasks/{task} or tasks/{task}/pushNotificationConfigs/{config}.
//
// The name may have three ids' length because it holds two and the words between them.
func (d *decoder) resource() {
	var name string
	d.word(&name, "the resource name", 3*d.lim.IDLength)
	d.named(name)
}

// named holds a resource name against the task and config already known.
// Anything of another form can only be a bare task id. A further slash is refused:
// the Go SDK takes what stands behind the first "tasks/", wherever that is, and
// others look at the end.
func (d *decoder) named(name string) {
	task, config, _ := strings.Cut(strings.TrimPrefix(name, "tasks/"), "/pushNotificationConfigs/")
	if strings.Contains(task, "/") || strings.Contains(config, "/") {
		d.Invalid("the resource name has a slash too many")
	}
	d.agree(d.taskOf(), task, "the task id", d.lim.IDLength)
	d.agree(d.configOf(), config, "the push notification config id", d.lim.IDLength)
}

// push reads a push notification config or what is wrapped around one.
//
//	"configuration":{"pushNotificationConfig":{"url":"https://c.example/hook","token":"t"}}          0.3
//	"configuration":{"taskPushNotificationConfig":{"url":"https://c.example/hook","taskId":"T"}}     1.0
//
// The URL is checked where webhooks are (proxy/push); here it only counts that there is a config, and
// what ids it names.
func (d *decoder) push() {
	if !d.IsObject("the push notification config") {
		return
	}
	d.call.HasPushConfig = true
	d.pushes++
	d.object(pushNames)
	d.pushes--
}

// What a push config names is kept apart from what the call names and compared
// with it at the end: the push config may come first, and an agent may go by
// either.

// taskOf is where a task's id goes that is read now.
func (d *decoder) taskOf() *string {
	if d.pushes > 0 {
		return &d.pushTask
	}
	return &d.call.TaskID
}

// tenantOf is the same for a tenant, which only 1.0 has.
func (d *decoder) tenantOf() *string {
	if d.pushes > 0 {
		return &d.pushTenant
	}
	return &d.call.Tenant
}

// configOf is the same for the id of a config.
func (d *decoder) configOf() *string {
	if d.pushes > 0 {
		return &d.pushConfig
	}
	return &d.call.ConfigID
}

// metadata looks for the skill selection. Keys are URIs, compared exactly.
//
//	"metadata":{"https://a2a-gateway.dev/extensions/skill-selection/v1":"translate"}
func (d *decoder) metadata() {
	if !d.IsObject("metadata") {
		return
	}
	for d.Enter(); d.More(); {
		if string(d.Name()) == SkillSelection {
			d.word(&d.call.Skill, "the selected skill", d.lim.IDLength)
			continue
		}
		d.Skip()
	}
}

// parts counts the parts of the message and checks them as JSON only.
func (d *decoder) parts() {
	switch d.Kind() {
	case '[':
	case 'n':
		d.Skip()
		return
	default:
		d.Skip()
		d.Invalid("parts is not an array")
		return
	}
	n := 0
	for d.Enter(); d.More(); n++ {
		d.Skip()
	}
	if n > d.lim.Parts {
		d.Refuse(Errorf(InvalidParams, "the message has more than %d parts", d.lim.Parts))
	}
}

// required refuses a call that lacks what its method is about, and a push
// config that names another task, tenant or config than the call it came with.
//
// 0.1 demands the task's id with every send, since the client chooses it. Later versions
// leave it out for a new task.
func (d *decoder) required() {
	c := d.call
	d.at = nil
	if d.pushTask != "" && d.pushTask != c.TaskID || d.pushTenant != "" && d.pushTenant != c.Tenant {
		d.Invalid("the push notification config is for another task or tenant than the call")
	}
	d.strays()
	switch c.Method.Subject {
	case OfMessage:
		if !d.hasMessage {
			d.Invalid("message is missing")
		}
		if c.Version == V01 && c.TaskID == "" {
			d.Invalid("the task id is missing")
		}
	case OfConfig:
		c.HasPushConfig = c.HasPushConfig || c.Method.Does == Creates
		d.agree(&c.ConfigID, d.pushConfig, "the push notification config id", d.lim.IDLength)
		fallthrough
	case OfTask:
		if c.TaskID == "" {
			d.Invalid("the task id is missing")
		}
	}
}

// ReadResourceName takes a resource name of 0.3's proto to pieces:
// tasks/{task} or tasks/{task}/pushNotificationConfigs/{config}. ok says whether it
// begins as these do; anything else counts as a bare task id. The task ends at the
// next slash, whatever follows, so that all who read a name mean the same task.
func ReadResourceName(name string) (task, config string, ok bool) {
	name, ok = strings.CutPrefix(name, "tasks/")
	task, rest, _ := strings.Cut(name, "/")
	config, named := strings.CutPrefix(rest, "pushNotificationConfigs/")
	if !named {
		config = ""
	}
	return task, config, ok
}
