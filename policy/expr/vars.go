package expr

import (
	"net/netip"
	"reflect"
	"time"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/ext"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Vars are the values of the variables for one call. Those that are structs here are
// structs in expressions, with the fields that their tags name.
type Vars struct {
	Principal func() *Principal // asked at most once per Vars, when an expression looks at it

	Agent, Skill, Method, Binding, Version string

	// Open says that the call is for one of several skills, and nobody knows which: what
	// looks at Skill cannot be evaluated.
	Open bool

	// Message may be nil: where the method brings none expressions see an empty one, and
	// otherwise, with Unread, they cannot be evaluated if they look at it.
	Message *wire.Message
	Unread  bool

	Extensions []string
	Task       *Task      // nil for none: all its fields are empty
	Source     netip.Addr // zero where it is not known
	Now        time.Time

	// What Principal returned, kept for the expressions of other rules.
	principal *Principal
}

// Principal is who calls.
type Principal struct {
	Subject  string         `cel:"subject"`
	Issuer   string         `cel:"issuer"`
	Client   string         `cel:"client"`
	Tenant   string         `cel:"tenant"`
	Groups   []string       `cel:"groups"`
	Scopes   []string       `cel:"scopes"`
	Method   string         `cel:"method"`
	KeyID    string         `cel:"keyID"`
	Owner    string         `cel:"owner"`
	Proof    string         `cel:"proof"`
	Actors   []Actor        `cel:"actors"`
	ACR      string         `cel:"acr"`
	AMR      []string       `cel:"amr"`
	AuthTime time.Time      `cel:"authTime"`
	Expires  time.Time      `cel:"expires"`
	Claims   map[string]any `cel:"claims"`
	Workload *Principal     `cel:"workload"`
}

// Actor acts for the principal.
type Actor struct {
	Subject string `cel:"subject"`
	Issuer  string `cel:"issuer"`
}

// Task is the one that the call names.
type Task struct {
	ID        string    `cel:"id"`
	ContextID string    `cel:"contextId"`
	Skill     string    `cel:"skill"`
	Owner     string    `cel:"owner"`
	Issuer    string    `cel:"issuer"`
	Tenant    string    `cel:"tenant"`
	Created   time.Time `cel:"created"`
}

// origin is the variable source. An address that is not known is in no network.
type origin struct {
	IP      string `cel:"ip"`
	Address ext.IP `cel:"address"`
}

// structs are the types of the variables that have fields.
func structs() []any {
	fields := types.ParseStructField(fieldName)
	return []any{
		types.NativeTypeFor[Principal](fields),
		types.NativeTypeFor[Task](fields),
		types.NativeTypeFor[origin](fields),
		types.NativeTypeFor[wire.Message](fields),
	}
}

// fieldName is what expressions call a field. Those of package wire are listed, so that
// another one there does not become a promise here.
func fieldName(f reflect.StructField) string {
	if name, ok := f.Tag.Lookup("cel"); ok {
		return name
	}
	if name, ok := wireFields[f.Name]; ok {
		return name
	}
	// Hidden from expressions.
	return "-"
}

// wireFields are the fields of wire.Message and wire.Part.
var wireFields = map[string]string{
	"ID": "id", "TaskID": "taskId", "ContextID": "contextId", "Role": "role", "Parts": "parts",
	"Metadata": "metadata", "CallMetadata": "callMetadata", "Extensions": "extensions",
	"ReferenceTaskIDs": "referenceTaskIds", "OutputModes": "outputModes",
	"Kind": "kind", "Text": "text", "Data": "data", "URL": "url", "Name": "name",
	"MediaType": "mediaType", "Bytes": "bytes",
}

// ResolveName gives CEL the variables that it asks for: nothing is converted before.
func (v *Vars) ResolveName(name string) (any, bool) {
	switch name {
	case "principal":
		return v.caller(), true
	case "agent":
		return v.Agent, true
	case "skill":
		return v.Skill, true
	case "method":
		return v.Method, true
	case "binding":
		return v.Binding, true
	case "version":
		return v.Version, true
	case message:
		// Without a message its fields are empty: size(message.parts) is 0.
		if v.Message == nil {
			return &wire.Message{}, true
		}
		return v.Message, true
	case "extensions":
		return v.Extensions, true
	case "task":
		if v.Task == nil {
			return &Task{}, true
		}
		return v.Task, true
	case "source":
		return from(v.Source), true
	case "now":
		return v.Now, true
	}
	return nil, false
}

// Parent is for CEL: there are no variables beside these.
func (v *Vars) Parent() cel.Activation { return nil }

// caller is the principal, converted when the first expression looks at it. Its fields are
// empty where there is none.
func (v *Vars) caller() *Principal {
	if v.principal == nil && v.Principal != nil {
		v.principal = v.Principal()
	}
	if v.principal == nil {
		v.principal = &Principal{}
	}
	return v.principal
}

// from writes an address the one way that it is written in networks.
func from(addr netip.Addr) *origin {
	if !addr.IsValid() {
		return &origin{}
	}
	addr = addr.Unmap().WithZone("")
	return &origin{addr.String(), ext.IP{Addr: addr}}
}
