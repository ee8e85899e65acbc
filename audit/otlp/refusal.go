//go:build !minimal

package otlp

import (
	"strings"
	"time"
	"unicode"
)

// What a refusal is about. The zero value is the careful one: nothing is taken for rejected.
const (
	aboutSender  = iota // who sends, or where to: it takes a person to change that
	aboutTime           // it may take the same later
	aboutRecords        // there is something wrong with what was sent, or with how much it is
)

// refusal is an answer that does not take all that was sent. What it is about decides what happens
// next: time has the same sent again, records have it halved, and the sender's mistake waits for a
// person, with the runner's pauses and the log's warning.
type refusal struct {
	kind   int
	status string        // 503 Service Unavailable, or how many records were rejected
	said   string        // by the receiver
	after  time.Duration // that it wants to be left alone for; 0 when it does not say
}

// Error says what the receiver will do with further records, with its own words behind that.
func (r *refusal) Error() string {
	text := "the receiver refuses: "
	switch r.kind {
	case aboutTime:
		text = "the receiver takes no records now: "
	case aboutRecords:
		text = "the receiver rejects records: "
	}
	text += r.status
	if r.said != "" {
		text += ": " + r.said
	}
	return text
}

// printable is what a receiver says, fit for the log: in one line, and no longer than a line should
// be, whatever page of whatever proxy it is.
func printable(s string) string {
	const most = 500
	s = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, s[:min(len(s), most)])
	return strings.TrimSpace(strings.ToValidUTF8(s, ""))
}
