package records

import (
	"bufio"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit/index"
	"github.com/a2a-gateway/a2a-gateway/audit/ocsf"
	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
	"github.com/a2a-gateway/a2a-gateway/internal/console/viewer"
)

// exports writes records, to one reader at a time. One at a time, as each keeps a disk busy
// that calls write their records to.
type exports struct {
	log  Records
	busy sync.Mutex // held while somebody exports
}

// ExportScreen hands records to other tools. Operators may, and viewers not: an export
// takes the whole log out of the gateway.
func ExportScreen(log Records) api.Screen {
	s := &exports{log: log}
	return api.Screen{
		Title: "Export of records",
		Operations: []api.Operation{{
			Method: http.MethodGet, Path: "/api/v1/audit/export", ID: "export-audit", Tag: "audit", Role: api.Operator,
			Summary: "Export the audit records that match all parameters, one JSON object a line, oldest first",
			Params: slices.Concat([]api.Param{{
				Name: "format", Text: "format: records as written, or in the schema of OCSF " + ocsf.Version + "; default: jsonl", Values: []string{"jsonl", "ocsf"},
			}}, whichRecords),
			Media: exported, Errors: []api.Code{api.Busy}, Answer: s.export,
		}},
	}
}

// exported is the type of what is exported: JSON, a value a line.
const exported = "application/x-ndjson"

// asWritten leaves a record as it is. It is what say is for the format jsonl.
func asWritten(line []byte) ([]byte, error) { return line, nil }

// export is one at a time: it reads all of the log. The lock is taken here and given back
// by the handler, since the answer is written after this returns; TryLock, so that a second
// one is refused at once instead of waiting for minutes.
func (s *exports) export(c *api.Call) (any, error) {
	q, err := wanted(c)
	if err != nil {
		return nil, err
	}
	// OCSF is the Open Cybersecurity Schema Framework, in which tools for security events
	// read records of many programs.
	say := asWritten
	if c.Query.Get("format") == "ocsf" {
		say = ocsf.Line
	}
	if !s.busy.TryLock() {
		return nil, api.Busy.Refuse("somebody exports records already; that is done by one at a time")
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer s.busy.Unlock()
		if err := s.stream(w, r, q, say); err != nil {
			c.Log.Error("export audit records", "error", err)
			panic(http.ErrAbortHandler) //nolint:forbidigo // net/http's only way to break off: who reads must not take a part for the whole
		}
	}), nil
}

// stream writes records. It takes as long as it takes, but whoever reads has to go on. The
// deadline of the server for an answer is replaced by one for each part (viewer.Writer): a
// terabyte may take hours, and a reader who has gone must still be noticed.
func (s *exports) stream(w http.ResponseWriter, r *http.Request, q index.Query, say func([]byte) ([]byte, error)) error {
	w.Header().Set("Content-Type", exported)
	control := http.NewResponseController(w)
	if err := control.SetReadDeadline(time.Time{}); err != nil { // nothing more is to be read
		return err
	}
	// 64 KiB at a time: a system call and a deadline for each line would cost more than the
	// line
	out := bufio.NewWriterSize(viewer.NewWriter(w), 64<<10)
	for e, err := range s.log.All(r.Context(), q) {
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
