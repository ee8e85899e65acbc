package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/rogpeppe/go-internal/testscript"
)

// play is what a backend says, in a file of the script: backend NAME play=FILE.
type play struct {
	Extensions jsontext.Value      `json:"extensions"` // capabilities.extensions of the card
	Scopes     map[string][]string `json:"scopes"`     // that the card asks for, by skill
	Card       map[string]any      `json:"card"`       // members of the card, in place of the usual ones
	Lines      []line              `json:"lines"`      // the first that fits is said
}

// line is an answer and when it is given. What is left out fits always.
type line struct {
	Method string `json:"method"` // JSON-RPC method, or verb and path as in "POST /tasks:search"
	Asked  string `json:"asked"`  // URI in the extensions header
	Has    string `json:"has"`    // text in the body
	Shown  string `json:"shown"`  // header that is there

	Activates []string         `json:"activates"` // URIs for the answer's extensions header
	Result    jsontext.Value   `json:"result"`
	Events    []jsontext.Value `json:"events"` // results of a stream
	Frames    string           `json:"frames"` // a whole stream as it is on the wire; in it $id is the call's
	Hangs     bool             `json:"hangs"`  // the stream stays open
	Reply     jsontext.Value   `json:"reply"`  // the whole body, of a service that is no agent
	Status    int              `json:"status"` // 200 unless said

	Head map[string]string `json:"head"` // fields of the answer's head, with body alone
	Body *string           `json:"body"` // the whole body, JSON or not, in which %ID% is the call's id
}

// cast gives a backend its play.
func (b *backend) cast(ts *testscript.TestScript, file string) {
	p := new(play)
	ts.Check(json.Unmarshal([]byte(readFile(ts, file)), p, json.RejectUnknownMembers(true)))
	b.mu.Lock()
	defer b.mu.Unlock()
	b.play = p
}

// perform says the first line that fits.
func (p *play) perform(w http.ResponseWriter, q question) {
	i := slices.IndexFunc(p.Lines, func(l line) bool { return l.fits(q) })
	if i < 0 {
		http.Error(w, "no line fits", http.StatusNotImplemented)
		return
	}
	l := p.Lines[i]
	for _, uri := range l.Activates {
		w.Header().Add("A2A-Extensions", uri)
	}
	if l.Body != nil {
		l.recite(w, q)
		return
	}
	if l.Status != 0 {
		w.WriteHeader(l.Status)
	}
	switch {
	case l.Reply != nil:
		answerJSON(w, string(l.Reply))
	case l.Events != nil:
		var events []string
		for _, e := range l.Events {
			events = append(events, q.answer(flat(e)))
		}
		stream(w, events...)
		if l.Hangs {
			q.gone()
		}
	case l.Frames != "":
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, strings.ReplaceAll(l.Frames, "$id", string(q.id)))
	case l.Result != nil:
		answerJSON(w, q.answer(flat(l.Result)))
	}
}

// recite says a body as it stands in the file.
func (l line) recite(w http.ResponseWriter, q question) {
	w.Header()["Content-Type"] = nil // net/http would guess
	for name, value := range l.Head {
		w.Header().Set(name, value)
	}
	w.WriteHeader(cmp.Or(l.Status, http.StatusOK))
	_, _ = io.WriteString(w, strings.ReplaceAll(*l.Body, "%ID%", string(q.id)))
}

func (l line) fits(q question) bool {
	asked := strings.Join(append(q.r.Header.Values("A2A-Extensions"), q.r.Header.Values("X-A2A-Extensions")...), ", ")
	called := []string{q.method, fmt.Sprintf("%s %s", q.r.Method, strings.TrimPrefix(q.r.URL.Path, "/rest"))}
	return (l.Method == "" || slices.Contains(called, l.Method)) &&
		(l.Asked == "" || slices.Contains(strings.Split(asked, ", "), l.Asked)) &&
		(l.Shown == "" || q.r.Header.Get(l.Shown) != "") &&
		strings.Contains(string(q.body), l.Has)
}

// flat is JSON on one line, as an event has it.
func flat(v jsontext.Value) string {
	v = slices.Clone(v)
	_ = v.Compact() // it has been parsed
	return string(v)
}

// pass sends the call on, as an agent does that is a gateway itself.
func (q question) pass(w http.ResponseWriter, to string) {
	r, err := http.NewRequestWithContext(q.r.Context(), q.r.Method, to, bytes.NewReader(q.body))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	r.Header = q.r.Header.Clone()
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer resp.Body.Close() // only read from
	w.Header().Set("Content-Type", resp.Header.Get("Content-Type"))
	w.WriteHeader(resp.StatusCode)
	_, _ = io.Copy(w, resp.Body)
}
