package inspect_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/ext/schema"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// TestA08_ViolationsOfStreams: a stream in which every event is wrong is counted to its
// end, and remembered by its beginning.
func TestA08_ViolationsOfStreams(t *testing.T) {
	t.Parallel()
	const n = 3000
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), proxytest.WithExtensions(strict(ext.Report)))
	w.AnswerIn(func(s proxytest.Words, id string) []string {
		var list []string
		for i := range n {
			list = append(list, s.Status(id, "working", s.Message("agent", s.Text("x", ""),
				fmt.Sprintf(`,"metadata":{"urn:nobody:%d":1,"p.level":"x"}`, i))))
		}
		return list
	})
	got := w.Utter(proxytest.RPC10, wire.SendStreamingMessage, proxytest.Words{Side: proxytest.RPC10}.Send("", "", ""), asking(proxytest.ExtensionURI)...).OK(t, "stream")
	if len(got.Docs) != n {
		t.Errorf("%d events", len(got.Docs))
	}
	if shown := len(violations(w, 1)); shown != 16 {
		t.Errorf("%d violations are shown", shown)
	}
	if count := w.Audited("call")[0]["violation_count"]; fmt.Sprint(count) != fmt.Sprint(2*n) {
		t.Errorf("%v violations, want %d", count, 2*n)
	}
	if size := len(w.Logs.String()); size > 64<<10 {
		t.Errorf("%d bytes of logs", size)
	}
}

// TestA08_LongKeys: what is wrong is told by what is around it where its own name is too
// long to be told.
func TestA08_LongKeys(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("k", 300<<10)
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), proxytest.WithExtensions(ext.Entry{URI: proxytest.ExtensionURI, Metadata: []string{"p.*"}, Schemas: ext.Schemas{
		Metadata: map[string]schema.Source{"p.a": proxytest.Inline(`{"additionalProperties":{"type":"integer"}}`)},
	}}), func(s *proxytest.Setup) { s.Agent.Extensions.Unrequested = "refuse" })
	for i, agent := range proxytest.Sides {
		w.BecomeCard(proxytest.CardFor(agent))
		for _, caller := range proxytest.CallersOf(i, 0) {
			s, what := proxytest.Words{Side: caller}, fmt.Sprintf("%s to %s", caller, agent)
			short := func(got proxytest.Reply, kind *wire.Kind, at string) {
				t.Helper()
				got.Told(t, what, kind, at)
				if got.Err != nil && len(got.Err.Text()) > 2000 || len(got.Body) > 5000 {
					t.Errorf("%s: %d and %d bytes are told", what, len(got.Err.Text()), len(got.Body))
				}
			}
			short(w.Utter(caller, wire.SendMessage, s.Send("", proxytest.Meta(proxytest.ExtensionURI+"/"+long, "1"), "")), wire.InvalidParams, "/message/metadata: ")
			short(w.Utter(caller, wire.SendMessage, s.Send("", proxytest.Meta("p.a", `{"`+long+`":""}`), ""), asking(proxytest.ExtensionURI)...),
				wire.InvalidParams, "/message/metadata/p.a: ")
			w.Agent.Silent(t, what)
			w.AnswerIn(func(s proxytest.Words, id string) []string {
				return []string{s.Task(id, "completed", "", proxytest.Meta("p.a", `{"`+long+`":""}`))}
			})
			short(w.Utter(caller, wire.SendMessage, s.Send("", "", ""), asking(proxytest.ExtensionURI)...), proxytest.BadAnswer(caller), "/metadata/p.a: ")
			w.Agent.Take()
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
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), proxytest.WithExtensions(strict("")))
	s := proxytest.Words{Side: proxytest.RPC10}
	for name, params := range map[string]string{
		"metadata":   s.Send("", `,"metadata":{`+many(`"`+proxytest.ExtensionURI+`/%d":1`)+`}`, ""),
		"list":       s.Send("", `,"extensions":[`+many(`"`+proxytest.ExtensionURI+`/%d"`)+`]`, ""),
		"parts":      s.Send(several(990, s.Text("x", proxytest.Meta(proxytest.ExtensionURI+"/%d", "1"))), "", ""),
		"slashes":    s.Send("", proxytest.Meta(proxytest.ExtensionURI+slashes, "1"), proxytest.Meta(proxytest.ExtensionURI+"/x"+slashes, "1")),
		"of nobody":  s.Send("", `,"metadata":{`+many(`"urn:nobody:%d":1`)+`}`, ""),
		"a value":    s.Send("", proxytest.Meta(proxytest.ExtensionURI, `[`+many(`{"%d":[]}`)+`]`), ""),
		"white room": s.Send("", `,"metadata":{"`+proxytest.ExtensionURI+`"`+strings.Repeat(" ", 1<<20)+`:1}`, ""),
	} {
		for _, agent := range []wire.Side{proxytest.RPC10, proxytest.GRPC03} {
			w.BecomeCard(proxytest.CardFor(agent))
			w.Utter(proxytest.RPC10, wire.SendMessage, params).OK(t, name)
			if sent := string(w.Agent.One(t).Call().Params); strings.Contains(sent, proxytest.ExtensionURI) {
				t.Errorf("%s to %s: %.300s", name, agent, sent)
			}
		}
	}
}
