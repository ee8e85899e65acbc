package operator

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/console/trials"
	"github.com/a2a-gateway/a2a-gateway/internal/sse"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/translate"
)

// trialSides are those that calls are shown in. gRPC has the documents of HTTP+JSON, and 0.1
// nobody has any more who does not speak it.
var trialSides = []wire.Side{
	{Version: wire.V10, Binding: wire.JSONRPC}, {Version: wire.V10, Binding: wire.HTTPJSON},
	{Version: wire.V03, Binding: wire.JSONRPC}, {Version: wire.V03, Binding: wire.HTTPJSON},
}

// retold is the call as a side has it. It is what the gateway sends to an agent that speaks
// another version or binding than the caller, made by the same code. The error says why the
// call has no such form, as with a method that came with 1.0.
func (c *trial) retold(as wire.Side) (translate.Outbound, *wire.Error) {
	return translate.Request(&c.call, nil, translate.To{Side: as, ID: []byte(trialID)})
}

// below is the path of a request with its query.
func below(out *translate.Outbound) string {
	if out.Query == "" {
		return out.Path
	}
	return out.Path + "?" + out.Query
}

// forms are the call and its answer in every version and binding. Each form is the request
// and the answers to it. The one that was really made is marked as the caller's, those that
// the agent's card offers as the agent's; a form that cannot be made has a problem instead
// of a body.
func (c *trial) forms(docs [][]byte) []trials.TrialForm {
	list := []trials.TrialForm{}
	// A call over gRPC or in 0.1 comes first, as it is the one that was made.
	if !slices.Contains(trialSides, c.side) {
		list = append(list, c.own(docs))
	}
	for _, side := range trialSides {
		f := trials.TrialForm{
			Version: string(side.Version), Binding: side.Binding.String(), Caller: side == c.side, Agent: slices.Contains(c.offers, side),
		}
		if f.Caller {
			f.Verb, f.Path, f.Body = c.verb, c.path, string(c.body)
			for _, doc := range docs {
				f.Answers = append(f.Answers, string(doc))
			}
			list = append(list, f)
			continue
		}
		if !c.known {
			f.Problem = "the call cannot be read"
			list = append(list, f)
			continue
		}
		out, wrong := c.retold(side)
		if wrong != nil {
			f.Problem = wrong.Message
			list = append(list, f)
			continue
		}
		f.Verb, f.Path, f.Body = out.Verb, below(&out), string(out.Body)
		f.Answers, f.Problem = c.answers(&out.Call, docs)
		list = append(list, f)
	}
	return list
}

// own is the form of a call that is made in another than those; of gRPC what its messages
// say, in JSON.
func (c *trial) own(docs [][]byte) trials.TrialForm {
	f := trials.TrialForm{
		Version: string(c.side.Version), Binding: c.side.Binding.String(), Caller: true,
		Agent: slices.Contains(c.offers, c.side), Verb: c.verb, Path: c.path, Body: string(c.body),
	}
	if c.side.Binding == wire.GRPC {
		f.Body = string(c.message)
	}
	for _, doc := range docs {
		f.Answers = append(f.Answers, string(doc))
	}
	return f
}

// documents are what the answer says: one, or those of its events. It is nil where the
// answer is no success: an error has no other forms. Data of an event is copied, as the
// reader uses its buffer again.
func documents(seen *sight) (docs [][]byte) {
	if seen.status != http.StatusOK {
		return nil
	}
	if !strings.HasPrefix(seen.header.Get("Content-Type"), "text/event-stream") {
		return [][]byte{seen.body}
	}
	// No line can be longer than the body, so that the reader never refuses one for its
	// size.
	events := sse.NewReader(bytes.NewReader(seen.body), len(seen.body)+1)
	for {
		e, err := events.Next()
		if err != nil { // the end, or what was cut off
			return docs
		}
		if len(e.Data) > 0 {
			docs = append(docs, bytes.Clone(e.Data))
		}
	}
}

// answers retells what the caller got for another side. as is the call in the form of that
// side. list has what could be retold until the first document that could not be; problem
// says why it ends there, and is empty otherwise.
func (c *trial) answers(as *wire.Call, docs [][]byte) (list []string, problem string) {
	r := translate.Retelling{From: c.side, Call: as}
	for _, doc := range docs {
		a, err := wire.ReadAnswer(c.side.Binding, c.side.Version, c.call.Method, doc, wire.Limits{})
		switch {
		case err != nil:
			return list, "the answer cannot be read"
		case a.Error != 0:
			return list, "errors are told apart by binding, and are not shown in others"
		case c.streams():
			err = r.Event(doc, func(event []byte) error {
				list = append(list, string(event))
				return nil
			})
		default:
			var out []byte
			if out, err = r.Answer(nil, doc); err == nil {
				list = append(list, string(out))
			}
		}
		// Io.EOF of Event says that the stream is complete with this event.
		if err != nil && !errors.Is(err, io.EOF) {
			return list, "the answer has no such form"
		}
	}
	return list, ""
}

// milliseconds is a duration in milliseconds, to the microsecond.
func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
