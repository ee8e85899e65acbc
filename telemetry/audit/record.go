package audit

import (
	"maps"
	"slices"
	"time"

	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// schemaVersion is the v of every record. It changes only when a member changes
// its meaning or goes; new members do not change it.
const schemaVersion = 1

// Types of records.
const (
	typeIntent = "intent" // a call is about to go to an agent
	typeCall   = "call"   // a call has ended, or was refused
	typeEvent  = "event"  // something happened to the gateway itself

	typeCheckpoint = "checkpoint" // the records so far, signed
)

// appendIntent appends the members of an intent record: what is known before
// the agent is contacted.
func appendIntent(l *telemetry.Line, e *telemetry.Exchange, now time.Time) {
	head(l, typeIntent, now)
	appendSubject(l, e)
	l.Str("endpoint", e.Endpoint)
	l.Str("translated_to", e.TranslatedTo)
	l.Few("credentials", e.Credentials)
}

// appendCall appends the members of a call record: the intent's again, since
// one record should answer a question by itself, and the outcome.
func appendCall(l *telemetry.Line, e *telemetry.Exchange, now time.Time) {
	head(l, typeCall, now)
	appendSubject(l, e)
	telemetry.AppendOutcome(l, e)
	l.Str("response_digest", e.ResponseDigest)
	if e.Content != nil {
		appendContent(l, e.Content)
	}
}

// appendContent appends what was captured of the bodies, but for itself.
func appendContent(l *telemetry.Line, c *telemetry.Content) {
	var inner telemetry.Line
	inner.Str("id", c.ID)
	inner.Str("digest", c.Digest)
	inner.Count("bytes", c.Bytes)
	inner.Str("label", c.Label)
	inner.Count("redactions", c.Redactions)
	inner.Flag("lost", c.Lost)
	inner.Str("until", c.Until)
	l.Object("content", &inner)
}

// appendEvent appends the members of an event record. The attributes are one
// object, in the order of their names.
func appendEvent(l *telemetry.Line, kind string, attrs map[string]string, now time.Time) {
	head(l, typeEvent, now)
	l.Str("event", kind)
	if len(attrs) == 0 {
		return
	}
	var inner telemetry.Line
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		inner.Str(name, attrs[name])
	}
	l.Object("attrs", &inner)
}

func head(l *telemetry.Line, kind string, now time.Time) {
	l.Str("type", kind)
	l.Time("time", now)
}

func appendSubject(l *telemetry.Line, e *telemetry.Exchange) {
	l.Time("start", e.Start)
	telemetry.AppendSubject(l, e)
	l.Strs("groups", e.Groups)
	l.Strs("scopes", e.Scopes)
	l.Strs("amr", e.AMR)
	if !e.AuthTime.IsZero() {
		l.Time("auth_time", e.AuthTime)
	}
	l.Str("client_ip", e.ClientIP)
	l.Str("host", e.Host)
	l.Str("path", e.Path)
	l.Str("user_agent", e.UserAgent)
	l.Str("request_digest", e.Digest)
}
