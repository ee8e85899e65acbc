package console

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit/index"
	"github.com/a2a-gateway/a2a-gateway/audit/ocsf"
)

// exportOperation hands records to other tools.
var exportOperation = operation{
	method: http.MethodGet, path: "/api/v1/audit/export", id: "export-audit", tag: "audit", role: Operator,
	summary: "Audit records that are all of what is asked for, one JSON object a line, the oldest first",
	params: slices.Concat([]param{{
		name: "format", text: "as they were written, or in the words of OCSF " + ocsf.Version + "; jsonl unless set", values: []string{"jsonl", "ocsf"},
	}}, whichRecords),
	media: exported, errors: []string{codeBusy}, answer: (*Console).export,
}

// exported is the type of what is exported: JSON, a value a line.
const exported = "application/x-ndjson"

// asWritten leaves a record as it is.
func asWritten(line []byte) ([]byte, error) { return line, nil }

// export is one at a time: it reads all of the log.
func (s *Console) export(c *call) (any, error) {
	q, err := c.wanted()
	if err != nil {
		return nil, err
	}
	say := asWritten
	if c.query.Get("format") == "ocsf" {
		say = ocsf.Line
	}
	if !s.exporting.TryLock() {
		return nil, refuse(codeBusy, "somebody exports records already; that is done by one at a time")
	}
	return reply{handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer s.exporting.Unlock()
		if err := s.stream(w, r, q, say); err != nil {
			s.Log.Error("export audit records", "error", err)
			panic(http.ErrAbortHandler) //nolint:forbidigo // net/http's only way to break off: who reads must not take a part for the whole
		}
	})}, nil
}

// stream writes records. It takes as long as it takes, but whoever reads has to go on.
func (s *Console) stream(w http.ResponseWriter, r *http.Request, q index.Query, say func([]byte) ([]byte, error)) error {
	w.Header().Set("Content-Type", exported)
	control := http.NewResponseController(w)
	if err := control.SetReadDeadline(time.Time{}); err != nil { // nothing more is to be read
		return err
	}
	out := bufio.NewWriterSize(&patient{w, control}, 64<<10)
	for e, err := range s.Records.All(r.Context(), q) {
		if err != nil {
			return err
		}
		line, err := say(e.Line)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(out, "%s\n", line); err != nil {
			return err
		}
	}
	return out.Flush()
}

// patient is a response that has the time of an answer for each part of it.
type patient struct {
	to      io.Writer
	control *http.ResponseController
}

func (p *patient) Write(data []byte) (int, error) {
	if err := p.control.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return 0, err
	}
	return p.to.Write(data)
}
