package session

import (
	"bytes"
	"io"
	"net/http"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/mediatype"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
)

// streams reports whether an answer is an event stream. On gRPC every answer is
// framed alike: the method tells, and a status in the header that there is none. Where
// the answer to a streaming call does not say what it is, its first bytes do.
//
// A JSON label on a stream is believed, and the body read as one answer. No label, or one that
// means nothing, has the first bytes looked at.
func streams(resp *http.Response, l *exchange.UpstreamCall) bool {
	if l.Binding == wire.GRPC {
		return resp.StatusCode == http.StatusOK && intake.IsGRPC(intake.MediaType(resp.Header)) && l.Call.Method.Streams &&
			resp.Header.Get("Grpc-Status") == ""
	}
	if !l.Call.Streaming || resp.StatusCode < http.StatusOK || resp.StatusCode >= http.StatusMultipleChoices {
		return false
	}
	switch label := mediatype.ReadLabel(resp.Header["Content-Type"]); {
	case label.Media == mediatype.Events:
		return true
	case label.JSON, label.Other:
		return false
	}
	return sniff(resp)
}

// streamForm is how an event stream of the agent's is labelled, where that is not as
// what it is.
func streamForm(l *exchange.UpstreamCall, resp *http.Response) string {
	if label := mediatype.ReadLabel(resp.Header["Content-Type"]); l.Binding != wire.GRPC && label.Media != mediatype.Events {
		return string(label.Form)
	}
	return ""
}

// sniffed is a body of which the first bytes have been read.
//
// It keeps Park, so that a stream whose label was missing can still wait without a goroutine.
type sniffed struct {
	io.ReadCloser

	head []byte // what nobody has read again
}

// Read gives the first bytes again.
func (s *sniffed) Read(p []byte) (int, error) {
	if len(s.head) == 0 {
		return s.ReadCloser.Read(p)
	}
	n := copy(p, s.head)
	s.head = s.head[n:]
	return n, nil
}

// Park is that of the body, where it has one, once the first bytes have been read again.
func (s *sniffed) Park(resume func()) bool {
	p, ok := s.ReadCloser.(interface{ Park(func()) bool })
	return ok && len(s.head) == 0 && p.Park(resume)
}

// fields of an event stream, by which it is told from everything else: no JSON document
// begins with a letter of theirs or a colon, and behind one of them.
var eventFields = [][]byte{[]byte(":"), []byte("data:"), []byte("event:"), []byte("id:"), []byte("retry:")}

// mostBlank is how many blank lines are passed over to find out how a body begins.
const mostBlank = 512

// sniff reads as much of a body as tells whether it is an event stream, and puts it back.
//
// It waits for the first bytes, which is no loss: nothing could be told to the client before.
func sniff(resp *http.Response) bool {
	var head []byte
	is, open := false, true
	for open && len(head) < mostBlank {
		var piece [64]byte
		n, err := resp.Body.Read(piece[:])
		head = append(head, piece[:n]...)
		is, open = beginsEvents(head)
		open = open && err == nil // the next read says it again
	}
	resp.Body = &sniffed{resp.Body, head}
	return is
}

// beginsEvents reports whether a text begins as an event stream does; it is open while
// more of it has to be seen.
func beginsEvents(head []byte) (is, open bool) {
	head = bytes.TrimLeft(mediatype.AfterBOM(head), "\r\n")
	for _, field := range eventFields {
		if bytes.HasPrefix(head, field) {
			return true, false
		}
		open = open || bytes.HasPrefix(field, head)
	}
	return false, open || bytes.HasPrefix([]byte("\xef\xbb\xbf"), head)
}
