package proxy

import (
	"bytes"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/failure"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/mediatype"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
)

// probed is what came back from an agent that was asked for a task that nobody has.
//
// It is read once: found and the functions below it look at status, media type and body, in the
// order of what says most.
type probed struct {
	wire.Side // that it was asked over

	task   string
	id     []byte // of the call on JSON-RPC, quoted
	verb   string
	method *wire.Method
	shown  bool // it was shown a credential
	asks   bool // it is shown another where somebody calls

	status          int
	header, trailer http.Header
	body            []byte
}

// asItShould is what is said of an agent that answers as A2A has it.
const asItShould = "it answers as it should"

// found says what the answer means.
//
// Redirects come first, since they are not followed; then whether the agent wants another
// credential, which hides everything else.
func (a *probed) found() Finding {
	switch {
	case 300 <= a.status && a.status < 400:
		return fails("HTTP %d, a redirect%s, and redirects are not followed", a.status, a.leadsTo())
	case a.status == http.StatusUnauthorized, a.status == http.StatusForbidden:
		return a.refused()
	case a.Binding != wire.GRPC:
		return a.foundInBody()
	case a.status != http.StatusOK || !intake.IsGRPC(a.media()):
		return a.foundElse()
	}
	return a.foundByStatus()
}

// unimplemented is gRPC's number for a method that is not there.
const unimplemented = "12"

// foundByStatus is what gRPC's status says.
func (a *probed) foundByStatus() Finding {
	e := failure.ReadStatus(a.header, a.trailer)
	if e == nil {
		return odd("it has a task that nobody has made: is an A2A agent there?")
	}
	switch {
	case strings.Contains(e.Message, "unknown service"):
		return fails("another service of gRPC is there, or another version than %s (agents[].interfaces)%s", a.Version, a.quote(e.Message))
	case a.header.Get("Grpc-Status") == unimplemented, a.trailer.Get("Grpc-Status") == unimplemented:
		return odd("it knows no %s: it has no tasks, or speaks another version of A2A than %s (agents[].interfaces)%s",
			a.method.Name, a.Version, a.quote(e.Message))
	}
	return a.foundInError(e)
}

// foundInBody is what an answer over JSON-RPC or HTTP+JSON says.
//
// An agent that has the task is no A2A agent, or answers without looking: the id was made up a
// moment ago.
func (a *probed) foundInBody() Finding {
	seen, err := wire.ReadAnswer(a.Binding, a.Version, a.method, a.body, wire.Limits{})
	switch {
	case err == nil && seen.Error != 0:
		return a.foundError(&seen)
	case err != nil, !slices.ContainsFunc(seen.Tasks, func(t wire.TaskRef) bool { return t.ID != "" }):
		return a.foundElse()
	case a.Binding == wire.JSONRPC && !seen.Answers(a.id):
		return fails("its answer has the id of another call")
	}
	return odd("it has a task that nobody has made: is an A2A agent there?")
}

// foundError is what an error in a body says. A bare 404 over HTTP+JSON can also be that of
// a server which has nothing at the path.
func (a *probed) foundError(seen *wire.Answer) Finding {
	e := failure.ReadError(a.Side, a.status, a.body)
	is := e.Reason == wire.TaskNotFound.Reason
	switch {
	case !is && a.isMCP():
		return a.otherProtocol()
	case is && a.Binding == wire.HTTPJSON && seen.Reason == "" && seen.Error != wire.TaskNotFound.Code && !speaksOfTask(e.Message):
		return a.nothingThere()
	case a.Binding == wire.JSONRPC && seen.ID != nil && !wire.NullID(seen.ID) && !seen.Answers(a.id):
		return fails("its answer has the id of another call")
	}
	return a.foundInError(e)
}

// speaksOfTask reports whether a message is about a task, and not about a path.
func speaksOfTask(message string) bool {
	return strings.Contains(strings.ToLower(message), "task")
}

// foundInError is what an error of A2A says.
//
// What is due is TASK_NOT_FOUND. Three others are as good, as they show that A2A is spoken: no
// tasks at all, a required extension, a missing credential.
func (a *probed) foundInError(e *wire.Error) Finding {
	switch e.Reason {
	case wire.TaskNotFound.Reason:
		return Finding{Text: asItShould}
	case wire.Unsupported.Reason:
		return Finding{Text: asItShould + ", and says that it has no tasks"}
	case wire.ExtensionRequired.Reason:
		return Finding{Text: asItShould + ", and asks for an extension"}
	case wire.Unauthenticated.Reason, wire.Denied.Reason:
		return a.refused()
	case wire.MethodNotFound.Reason, wire.UnknownAgent.Reason:
		return odd("it knows no %s: it has no tasks, or speaks another version of A2A than %s (agents[].interfaces), "+
			"or another protocol over JSON-RPC%s", a.called(), a.Version, a.quote(e.Message))
	case wire.VersionUnsupported.Reason:
		return fails("it does not speak A2A %s there: write the version that it speaks (agents[].interfaces)%s", a.Version, a.quote(e.Message))
	case wire.RateLimited.Reason, wire.Unavailable.Reason, wire.AgentTimeout.Reason, wire.PaymentRequired.Reason:
		return odd("it is there, and refuses at the moment (%s)%s", e.Kind.Text, a.quote(e.Message))
	}
	return odd("it answers error %d, %s, where \"task not found\" is due%s", e.Code, e.Reason, a.quote(e.Message))
}

// called is the method's name in the version that was spoken.
func (a *probed) called() string {
	switch a.Version {
	case wire.V01:
		return a.method.V01
	case wire.V03:
		return a.method.V03
	}
	return a.method.Name
}

// refused is what is said of an agent that wants to know who calls.
func (a *probed) refused() Finding {
	scheme, _, _ := strings.Cut(a.header.Get("Www-Authenticate"), " ")
	if scheme = strings.Trim(scheme, ","); scheme != "" {
		scheme = " (" + scheme + ")"
	}
	switch {
	case a.asks:
		return odd("it wants a credential%s, and what it is shown depends on who calls (agents[].credentials): only a call can tell", scheme)
	case a.shown:
		f := fails("it does not accept the credential that it is shown%s (agents[].credentials)", scheme)
		f.Refuses = true
		return f
	}
	f := fails("it wants a credential%s, and is shown none: write it under agents[].credentials", scheme)
	f.Refuses = true
	return f
}

// foundElse is what an answer says that is none of A2A's.
func (a *probed) foundElse() Finding {
	switch {
	case a.isMCP():
		return a.otherProtocol()
	case a.Binding == wire.GRPC && a.status < http.StatusInternalServerError:
		return fails("%s: no gRPC is spoken there, or another service than that of A2A %s (agents[].interfaces)", a.what(), a.Version)
	case a.status == http.StatusBadRequest && bytes.Contains(a.body, []byte("HTTPS")):
		return fails("%s: TLS is spoken there: is the URL one with https?", a.what())
	case a.status == http.StatusNotFound, a.status == http.StatusGone:
		return a.nothingThere()
	case a.status == http.StatusMethodNotAllowed:
		return fails("%s: what is at this path takes no %s: the endpoint is at another one", a.what(), a.verb)
	case a.status == http.StatusTooManyRequests:
		return odd("%s: it is there, and has had too many requests", a.what())
	case a.status >= http.StatusInternalServerError:
		return fails("%s: it fails, or what is in front of it does not reach it", a.what())
	case a.isPage():
		return fails("%s: a web page is there, and no A2A endpoint", a.what())
	case a.media() == mediatype.Events:
		return fails("%s: a stream, where one answer is due: another protocol is spoken there", a.what())
	case len(a.body) == 0:
		return fails("%s: no A2A is spoken there", a.what())
	}
	return fails("%s, and nothing that A2A %s has over %s: another protocol is spoken there, or another version (agents[].interfaces)",
		a.what(), a.Version, a.Binding)
}

// nothingThere is what is said of 404. Over HTTP+JSON an agent may say of a task in its own
// words that it is not there.
func (a *probed) nothingThere() Finding {
	if media := a.media(); a.Binding == wire.HTTPJSON && (media == typeJSON || len(a.body) == 0) {
		return odd("%s in words that are not A2A's: either there is no such task, as it should be, or nothing is at this path", a.what())
	}
	return fails("%s: nothing is at this path: the endpoint is at another one", a.what())
}

// isMCP reports whether the answer looks like one of an MCP server's.
func (a *probed) isMCP() bool {
	if a.isPage() || a.status == http.StatusNotFound {
		return card.SpeaksMCP(a.header, nil) // what people read may speak of anything
	}
	return card.SpeaksMCP(a.header, a.body)
}

// isPage reports whether the answer is for people.
func (a *probed) isPage() bool {
	media := a.media()
	return media == "text/html" || media == "" && bytes.HasPrefix(bytes.TrimSpace(a.body), []byte("<"))
}

// otherProtocol is what is said of an MCP server, which answers JSON-RPC at a similar path.
func (a *probed) otherProtocol() Finding {
	return fails("%s, as an MCP server answers: that is another protocol than A2A", a.what())
}

// what names the status and the media type.
func (a *probed) what() string {
	media := a.media()
	switch {
	case len(a.body) == 0:
		media = "no body"
	case media == "":
		media = "of no media type"
	}
	return fmt.Sprintf("HTTP %d (%s)", a.status, media)
}

// leadsTo is where a redirect points, without what may be secret in that.
func (a *probed) leadsTo() string {
	to := a.header.Get("Location")
	if to == "" {
		return ""
	}
	return " to " + secret.URL(to).String()
}

// media is the media type of the answer, without parameters.
func (a *probed) media() string {
	media, _, _ := mime.ParseMediaType(a.header.Get("Content-Type"))
	return media
}

// quote has an agent's own words in brackets. Where it was shown a credential it may have
// repeated that, and is not quoted.
func (a *probed) quote(message string) string {
	if message == "" || a.shown {
		return ""
	}
	const most = 120
	if cut := []rune(message); len(cut) > most {
		message = string(cut[:most]) + "…"
	}
	return ": it says \"" + secret.HideURLs(message) + "\""
}
