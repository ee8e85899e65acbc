package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// What the agent does is said by the text of the message: see serveAgent.
var (
	textMessage = strings.Repeat("summarize ", 48) // answered with a message
	textTask    = "task " + strings.Repeat("summarize ", 47)
)

// A stream is silent, or has an event after each pause, until it is ended; or it has
// as many as pass for so long.
const textIdle = "stream idle"

func textEvents(pause time.Duration) string { return fmt.Sprintf("stream every %s", pause) }

func textFlood(long time.Duration) string { return fmt.Sprintf("stream flood %s", long) }

// callID is every call's, which its answer has to have.
const callID = "01a1fe36-7a96-7cb8-a529-0be518f37800"

// call is a request of about 700 bytes with such a text, in a context that is known
// after the first.
func (l *lane) call(method, text string) []byte {
	if l.subject.version == "0.3" {
		return []byte(`{"jsonrpc":"2.0","id":"` + callID + `","method":"` + methods03[method] + `","params":{"message":` +
			`{"kind":"message","messageId":"m-1","contextId":"bench","role":"user","parts":[{"kind":"text","text":"` + text +
			`"}]},"configuration":{"acceptedOutputModes":["text/plain"]}}}`)
	}
	return call10(method, `{"text":"`+text+`"}`)
}

// contextCall is a unary call in a context of a caller's own, in which the agent answers.
func (l *lane) contextCall(i int) []byte {
	context := fmt.Sprintf("c-%d", i)
	body := l.call("SendMessage", "context "+context+" "+strings.Repeat("summarize ", 46))
	return bytes.Replace(body, []byte(`"contextId":"bench"`), []byte(`"contextId":"`+context+`"`), 1)
}

var methods03 = map[string]string{"SendMessage": "message/send", "SendStreamingMessage": "message/stream"}

func call10(method, parts string) []byte {
	return []byte(`{"jsonrpc":"2.0","id":"` + callID + `","method":"` + method + `","params":{"message":` +
		`{"messageId":"m-1","contextId":"bench","role":"ROLE_USER","parts":[` + parts +
		`]},"configuration":{"acceptedOutputModes":["text/plain"]}}}`)
}

// unaryCall is the call that the subject is measured by.
func (l *lane) unaryCall() []byte {
	if l.subject.task {
		return l.call("SendMessage", textTask)
	}
	return l.call("SendMessage", textMessage)
}

// fileCall has a file of so many bytes in it.
func fileCall(size int) []byte {
	content := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("0123456789abcdef", size/16)))
	return call10("SendMessage", `{"text":"`+textMessage+`"},{"raw":"`+content+`","filename":"a.bin","mediaType":"application/octet-stream"}`)
}

// header is what every call has beside its body.
func (l *lane) header() http.Header {
	version, extensions := "1.0", "A2a-Extensions"
	if l.subject.version == "0.3" {
		version, extensions = "0.3", "X-A2a-Extensions"
	}
	h := http.Header{
		"Content-Type":  {"application/json"},
		"A2a-Version":   {version},
		extensions:      {timing},
		"Authorization": {"Bearer " + l.token},
	}
	if l.running != nil && l.running.credential != nil {
		h.Del("Authorization")
		h.Set(l.running.credential.Header, l.running.credential.Value)
	}
	return h
}

func (l *lane) target() string { return l.running.url + l.subject.path }
