package proxy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/ext/schema"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// TestA08_ViolationsOfStreams: a stream in which every event is wrong is counted to its
// end, and remembered by its beginning.
func TestA08_ViolationsOfStreams(t *testing.T) {
	t.Parallel()
	const n = 3000
	w := in(t, speaks(rpc10), knows(strict(ext.Report)))
	w.tells(func(s words, id string) []string {
		var list []string
		for i := range n {
			list = append(list, s.status(id, "working", s.message("agent", s.text("x", ""),
				fmt.Sprintf(`,"metadata":{"urn:nobody:%d":1,"p.level":"x"}`, i))))
		}
		return list
	})
	got := w.utter(rpc10, wire.SendStreamingMessage, words{rpc10}.send("", "", ""), asking(profile)...).ok(t, "stream")
	if len(got.docs) != n {
		t.Errorf("%d events", len(got.docs))
	}
	if shown := len(w.violations(1)); shown != 16 {
		t.Errorf("%d violations are shown", shown)
	}
	if count := w.audited("call")[0]["violation_count"]; fmt.Sprint(count) != fmt.Sprint(2*n) {
		t.Errorf("%v violations, want %d", count, 2*n)
	}
	if size := len(w.logs.String()); size > 64<<10 {
		t.Errorf("%d bytes of logs", size)
	}
}

// TestA08_LongKeys: what is wrong is told by what is around it where its own name is too
// long to be told.
func TestA08_LongKeys(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("k", 300<<10)
	w := in(t, speaks(rpc10), knows(ext.Entry{URI: profile, Metadata: []string{"p.*"}, Schemas: ext.Schemas{
		Metadata: map[string]schema.Source{"p.a": inline(`{"additionalProperties":{"type":"integer"}}`)},
	}}), func(s *setup) { s.agent.Extensions.Unrequested = "refuse" })
	for i, agent := range sides {
		w.becomes(speaks(agent))
		for _, caller := range callersOf(i, 0) {
			s, what := words{caller}, fmt.Sprintf("%s to %s", caller, agent)
			short := func(got said, kind *wire.Kind, at string) {
				t.Helper()
				got.told(t, what, kind, at)
				if got.err != nil && len(got.err.Text()) > 2000 || len(got.body) > 5000 {
					t.Errorf("%s: %d and %d bytes are told", what, len(got.err.Text()), len(got.body))
				}
			}
			short(w.utter(caller, wire.SendMessage, s.send("", meta(profile+"/"+long, "1"), "")), wire.InvalidParams, "/message/metadata: ")
			short(w.utter(caller, wire.SendMessage, s.send("", meta("p.a", `{"`+long+`":""}`), ""), asking(profile)...),
				wire.InvalidParams, "/message/metadata/p.a: ")
			w.agent.silent(t, what)
			w.tells(func(s words, id string) []string {
				return []string{s.task(id, "completed", "", meta("p.a", `{"`+long+`":""}`))}
			})
			short(w.utter(caller, wire.SendMessage, s.send("", "", ""), asking(profile)...), badAnswer(caller), "/metadata/p.a: ")
			w.agent.take()
		}
	}
}

// TestA08_ManyMarks: as many as a body may have are taken out of it; one that would take
// the square of them would not come to an end.
func TestA08_ManyMarks(t *testing.T) {
	t.Parallel()
	several := func(n int, text string) string {
		var all []string
		for i := range n {
			all = append(all, strings.ReplaceAll(text, "%d", fmt.Sprint(i)))
		}
		return strings.Join(all, ",")
	}
	many := func(text string) string { return several(9900, text) } // of 10,000 that are allowed
	slashes := strings.Repeat("/", 500<<10)
	w := in(t, speaks(rpc10), knows(strict("")))
	s := words{rpc10}
	for name, params := range map[string]string{
		"metadata":   s.send("", `,"metadata":{`+many(`"`+profile+`/%d":1`)+`}`, ""),
		"list":       s.send("", `,"extensions":[`+many(`"`+profile+`/%d"`)+`]`, ""),
		"parts":      s.send(several(990, s.text("x", meta(profile+"/%d", "1"))), "", ""),
		"slashes":    s.send("", meta(profile+slashes, "1"), meta(profile+"/x"+slashes, "1")),
		"of nobody":  s.send("", `,"metadata":{`+many(`"urn:nobody:%d":1`)+`}`, ""),
		"a value":    s.send("", meta(profile, `[`+many(`{"%d":[]}`)+`]`), ""),
		"white room": s.send("", `,"metadata":{"`+profile+`"`+strings.Repeat(" ", 1<<20)+`:1}`, ""),
	} {
		for _, agent := range []wire.Side{rpc10, grpc03} {
			w.becomes(speaks(agent))
			w.utter(rpc10, wire.SendMessage, params).ok(t, name)
			if sent := string(w.agent.one(t).call().Params); strings.Contains(sent, profile) {
				t.Errorf("%s to %s: %.300s", name, agent, sent)
			}
		}
	}
}
