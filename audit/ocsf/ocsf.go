// Package ocsf says audit records in the words of the Open Cybersecurity Schema Framework
// 1.9 (https://schema.ocsf.io), which security teams' tools read: each record becomes an
// event of the class API Activity, 6003.
//
// It owns that mapping. What of a record has no place there goes into unmapped under its
// own name, so that nothing is lost. It may import audit and below.
package ocsf

import (
	"errors"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Version is that of the schema.
const Version = "1.9.0"

// Numbers of the schema. They are written out, as the schema gives them to tools: names of theirs
// (activity_name and so on) are optional there, and would be the larger half of each event.
const (
	categoryApplication = 6
	classAPIActivity    = 6003

	activityCreate, activityRead, activityUpdate, activityDelete, activityOther = 1, 2, 3, 4, 99
	severityInformational, severityLow, severityMedium                          = 1, 2, 3
	statusUnknown, statusSuccess, statusFailure                                 = 0, 1, 2
	actionAllowed, actionDenied                                                 = 1, 2
	dispositionAllowed, dispositionBlocked, dispositionError                    = 1, 2, 28
)

// activities by A2A method; those that extensions bring are something else. What an agent
// delivers to a webhook is no method's. They come from the table of methods, so that a method of
// a later version has its activity without a change here.
var activities = func() map[string]int {
	does := map[wire.Action]int{
		wire.Creates: activityCreate, wire.Reads: activityRead, wire.Updates: activityUpdate, wire.Deletes: activityDelete,
	}
	byName := map[string]int{"PushNotification": activityUpdate}
	for _, m := range wire.Methods() {
		byName[m.Name] = does[m.Does]
	}
	return byName
}()

// Event is one event of the class API Activity, without what the gateway does not know.
// Names and numbers are those of class API Activity [6003] with the profile Security Control.
// Members that OCSF requires are written even when they are empty; what it has no member for stays
// in unmapped, so that a SIEM has all of the record.
type Event struct {
	ActivityID    int            `json:"activity_id"`
	CategoryUID   int            `json:"category_uid"`
	ClassUID      int            `json:"class_uid"`
	TypeUID       int            `json:"type_uid"`
	Time          int64          `json:"time"` // milliseconds since 1970
	StartTime     int64          `json:"start_time,omitzero"`
	Duration      int64          `json:"duration,omitzero"` // milliseconds
	SeverityID    int            `json:"severity_id"`
	StatusID      int            `json:"status_id"`
	StatusCode    string         `json:"status_code,omitempty"`
	StatusDetail  string         `json:"status_detail,omitempty"`
	ActionID      int            `json:"action_id,omitzero"`
	DispositionID int            `json:"disposition_id,omitzero"`
	Metadata      Metadata       `json:"metadata"`
	Actor         Actor          `json:"actor"`
	API           API            `json:"api"`
	Source        Endpoint       `json:"src_endpoint"`
	Destination   *Endpoint      `json:"dst_endpoint,omitempty"`
	HTTP          *HTTPRequest   `json:"http_request,omitempty"`
	Policy        *Named         `json:"policy,omitempty"`
	Resources     []Resource     `json:"resources,omitempty"`
	Unmapped      map[string]any `json:"unmapped,omitempty"`
}

// Metadata says where an event comes from.
// uid is the record's hash, by which an event can be found in the log and the other way round.
type Metadata struct {
	Version        string   `json:"version"`
	Product        Product  `json:"product"`
	Profiles       []string `json:"profiles"`
	UID            string   `json:"uid,omitempty"`
	CorrelationUID string   `json:"correlation_uid,omitempty"`
	LogName        string   `json:"log_name"`
	Sequence       uint64   `json:"sequence"`
	OriginalTime   string   `json:"original_time"`
}

// Product is the gateway.
type Product struct {
	Name   string `json:"name"`
	Vendor string `json:"vendor_name"`
	UID    string `json:"uid,omitempty"` // server.id
}

// Actor is who did something.
type Actor struct {
	User    *User  `json:"user,omitempty"`
	AppName string `json:"app_name,omitempty"` // the OAuth client
}

// User is a principal.
type User struct {
	UID    string  `json:"uid,omitempty"`
	Domain string  `json:"domain,omitempty"` // who vouches for it
	Groups []Named `json:"groups,omitempty"`
	Org    *Named  `json:"org,omitempty"` // the tenant
}

// Named is something with a name.
type Named struct {
	Name string `json:"name,omitempty"`
}

// API is what was called.
type API struct {
	Operation string   `json:"operation"`
	Version   string   `json:"version,omitempty"`
	Service   *Named   `json:"service,omitempty"`
	Request   *Request `json:"request,omitempty"`
	Response  *Reply   `json:"response,omitempty"`
}

// Request is one request.
type Request struct {
	UID string `json:"uid,omitempty"`
}

// Reply is what was answered.
type Reply struct {
	Code  int    `json:"code,omitzero"`
	Error string `json:"error,omitempty"`
}

// Endpoint is one side of a connection.
type Endpoint struct {
	IP       string `json:"ip,omitempty"`
	Hostname string `json:"hostname,omitempty"`
	Name     string `json:"name,omitempty"`
}

// HTTPRequest is the request as HTTP has it.
type HTTPRequest struct {
	UserAgent string `json:"user_agent,omitempty"`
	URL       URL    `json:"url,omitzero"`
}

// URL is where it went.
type URL struct {
	Hostname string `json:"hostname,omitempty"`
	Path     string `json:"path,omitempty"`
}

// Resource is what a call was about.
type Resource struct {
	Type string `json:"type"`
	UID  string `json:"uid"`
}

// record is an audit record. What is mapped is taken out, so that what is left in the end is what
// has no place in OCSF, members of later versions of the record among it: nobody has to list them.
type record map[string]any

// text takes a text out.
func (r record) text(name string) string {
	s, _ := r[name].(string)
	delete(r, name)
	return s
}

// number takes a number out.
func (r record) number(name string) float64 {
	n, _ := r[name].(float64)
	delete(r, name)
	return n
}

// moment takes a time out, in milliseconds since 1970 as OCSF has them; 0 where there is none. The
// nanoseconds are not lost: Metadata.OriginalTime has the text.
func (r record) moment(name string) int64 {
	t, err := time.Parse(time.RFC3339Nano, r.text(name))
	if err != nil {
		return 0
	}
	return t.UnixMilli()
}

var errNoRecord = errors.New("it is no record of an audit log")

// Line is the event of one audit record, as JSON.
//
// The members are sorted: the same record gives the same bytes, so that a sink that delivers it
// twice delivers something that can be told to be the same.
func Line(line []byte) ([]byte, error) {
	e, err := Of(line)
	if err != nil {
		return nil, err
	}
	return json.Marshal(e, json.Deterministic(true))
}

// Of is the event of one audit record.
//
// The error is that the line is no record, and says nothing of what is in it: it would be logged
// where records must not be. Type and time are what an event cannot be without; everything else
// may be missing, as intents, events and calls that were refused early have little.
func Of(line []byte) (*Event, error) {
	r := record{}
	if err := json.Unmarshal(line, &r, jsontext.AllowDuplicateNames(false)); err != nil {
		return nil, errNoRecord
	}
	original, _ := r["time"].(string)
	e := &Event{CategoryUID: categoryApplication, ClassUID: classAPIActivity, Time: r.moment("time"), StartTime: r.moment("start")}
	kind := r.text("type")
	if kind == "" || e.Time == 0 {
		return nil, errNoRecord
	}
	e.Metadata = Metadata{
		Version: Version, Profiles: []string{"security_control"}, LogName: "audit", OriginalTime: original,
		Product:  Product{Name: "a2a-gateway", Vendor: "a2a-gateway", UID: r.text("gateway")},
		Sequence: uint64(r.number("seq")), CorrelationUID: r.text("request_id"),
	}
	if e.Metadata.UID = r.text("hash"); kind != "call" {
		r["type"] = kind
	}
	e.Duration = int64(r.number("duration_ms"))
	e.subject(r)
	e.operation(r, kind)
	e.outcome(r, kind)
	if len(r) > 0 {
		e.Unmapped = r
	}
	return e, nil
}

// subject is who did it, from where. Events of the administration have no principal of their own,
// but name theirs among their attributes; those are left in unmapped as well, as they stand there.
// Who is not known is not written: an empty user would count as one to who groups by it.
func (e *Event) subject(r record) {
	user := User{UID: r.text("principal"), Domain: r.text("issuer")}
	if tenant := r.text("tenant"); tenant != "" {
		user.Org = &Named{tenant}
	}
	groups, _ := r["groups"].([]any)
	for _, g := range groups {
		if name, ok := g.(string); ok {
			user.Groups = append(user.Groups, Named{name})
		}
	}
	delete(r, "groups")
	if attrs, ok := r["attrs"].(map[string]any); ok && user.UID == "" {
		if user.UID, _ = attrs["principal"].(string); user.UID == "" {
			user.UID, _ = attrs["who"].(string)
		}
	}
	if user.UID != "" {
		e.Actor.User = &user
	}
	e.Actor.AppName = r.text("client")
	if e.Source.IP = r.text("client_ip"); e.Source.IP == "" {
		e.Source.Name = "a2a-gateway" // it did so by itself
	}
	h := HTTPRequest{UserAgent: r.text("user_agent"), URL: URL{Hostname: r.text("host"), Path: r.text("path")}}
	if h != (HTTPRequest{}) {
		e.HTTP = &h
	}
}

// operation is what was done, and to what. API.Operation is required: an event has its name there,
// and an intent, which may be written before the method is known, the type of the record.
//
// type_uid is class_uid times 100 plus activity_id, by the schema. Of the endpoint, OCSF has a
// place for the host alone, so that the whole of it stays in unmapped.
func (e *Event) operation(r record, kind string) {
	e.API = API{Operation: r.text("method"), Version: r.text("version")}
	if kind == "event" {
		e.API.Operation = r.text("event")
	}
	if e.API.Operation == "" {
		e.API.Operation = kind
	}
	if e.ActivityID = activities[e.API.Operation]; e.ActivityID == 0 {
		e.ActivityID = activityOther
	}
	e.TypeUID = classAPIActivity*100 + e.ActivityID
	if agent := r.text("agent"); agent != "" {
		e.API.Service = &Named{agent}
		e.Resources = append(e.Resources, Resource{"agent", agent})
	}
	for _, m := range []struct{ member, kind string }{{"skill", "skill"}, {"task_id", "task"}, {"context_id", "context"}} {
		if id := r.text(m.member); id != "" {
			e.Resources = append(e.Resources, Resource{m.kind, id})
		}
	}
	if e.Metadata.CorrelationUID != "" {
		e.API.Request = &Request{UID: e.Metadata.CorrelationUID}
	}
	if endpoint := r.text("endpoint"); endpoint != "" {
		_, rest, _ := strings.Cut(endpoint, "://")
		host, _, _ := strings.Cut(rest, "/")
		e.Destination = &Endpoint{Hostname: host}
		r["endpoint"] = endpoint // with its path
	}
}

// outcome is what came of it. Of an intent nothing has come yet: its status is unknown, though it
// says what was decided. A denial is of more severity than a failure, because it is what alerts
// are made of; a call that was allowed and failed is no finding about security by itself.
func (e *Event) outcome(r record, kind string) {
	if rule := r.text("rule"); rule != "" {
		e.Policy = &Named{rule}
	}
	decision, status, reason := r.text("decision"), int(r.number("status")), r.text("reason")
	if e.StatusDetail = r.text("cause"); status != 0 || reason != "" {
		e.API.Response = &Reply{Code: status, Error: reason}
	}
	e.SeverityID, e.StatusID, e.StatusCode = severityInformational, statusUnknown, reason
	switch decision {
	case "allow":
		e.ActionID, e.DispositionID = actionAllowed, dispositionAllowed
		if kind == "call" {
			if e.StatusID = statusSuccess; status >= 400 || reason != "" {
				e.StatusID, e.SeverityID = statusFailure, severityLow
			}
		}
	case "deny":
		e.ActionID, e.DispositionID, e.StatusID, e.SeverityID = actionDenied, dispositionBlocked, statusFailure, severityMedium
	case "error":
		e.ActionID, e.DispositionID, e.StatusID, e.SeverityID = actionDenied, dispositionError, statusFailure, severityLow
	}
}
