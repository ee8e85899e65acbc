package authdemand

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// statesOf are the states that an answer has for those who read it in one of the
// bindings, by version, binding and method.
func statesOf(body []byte, bindings ...wire.Binding) (states []string) {
	methods := []*wire.Method{nil}
	for _, name := range []string{wire.SendMessage, wire.SendStreamingMessage, wire.GetTask} {
		m, _ := wire.ByName(wire.V10, name)
		methods = append(methods, m)
	}
	for _, b := range bindings {
		for _, v := range []wire.Version{wire.V01, wire.V03, wire.V10} {
			for _, m := range methods {
				if a, err := wire.ReadAnswer(b, v, m, body, wire.Limits{}); err == nil {
					states = append(states, a.State)
				}
			}
		}
	}
	return states
}

// resultOf is the result of an answer that says it is JSON-RPC, as it would be in one
// that is in order; nil if there is none.
func resultOf(body []byte) []byte {
	var members map[string]json.RawMessage
	if json.Unmarshal(body, &members) != nil || members["jsonrpc"] == nil || members["result"] == nil {
		return nil
	}
	return slices.Concat([]byte(`{"jsonrpc":"2.0","id":1,"result":`), members["result"], []byte("}"))
}

// FuzzReadDemand: no bytes make the reader panic, none that it takes for a demand are
// in another state for every reader of answers, and none that one of those takes for
// an authorization escape it.
func FuzzReadDemand(f *testing.F) {
	answers, err := txtar.ParseFile("../testdata/answers.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, c := range answers.Files {
		f.Add(c.Data)
	}
	f.Add([]byte(waitingTask(authRequired, `{"aud":["a"],"scope":"s","x":"[a](https://b.example/(c)) http:/\\d,"}`)))
	f.Add([]byte(`{"jsonrpc":"2.0","result":{"statusUpdate":` + waitingTask(inputRequired, `{"auth":1}`) + `}}`))
	f.Add([]byte(`{"status":{"\u0073tate":8},"kind":"task"}`))
	const both = `"error":{"code":400,"message":"m"},"result":{"statusUpdate":`
	f.Add([]byte(`{"jsonrpc":"2.0",` + both + waitingTask(authRequired, `{}`) + `}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		before := bytes.Clone(body)
		d, ok := Read(body)
		if !bytes.Equal(body, before) {
			t.Fatal("the body was changed")
		}
		states, rpc := statesOf(body, wire.HTTPJSON, wire.GRPC), statesOf(body, wire.JSONRPC)
		read := len(states)+len(rpc) > 0
		if result := resultOf(body); read && len(rpc) == 0 && result != nil {
			// To those who take the answer its result is a member that they do not know.
			rpc = statesOf(result, wire.JSONRPC)
			read = len(rpc) > 0
		}
		states = append(states, rpc...)
		switch {
		case !ok && slices.Contains(states, authRequired):
			t.Fatalf("%q asks for authorization", body)
		case !ok && !cmp.Equal(d, Demand{}):
			t.Fatalf("%q: %+v", body, d)
		case ok && read && !slices.Contains(states, d.State):
			t.Fatalf("%q: %s, but it is %q", body, d.State, states)
		}
		checkDemand(t, d)
	})
}

// checkDemand holds a demand to its bounds.
func checkDemand(t *testing.T, d Demand) {
	t.Helper()
	if len(d.Audiences) > mostAudiences || len(d.Scopes) > mostScopes || len(d.Links) > mostLinks {
		t.Fatalf("too much: %+v", d)
	}
	for _, list := range [][]string{d.Audiences, d.Scopes, d.Links} {
		if sorted := slices.Sorted(slices.Values(list)); len(slices.Compact(sorted)) != len(list) {
			t.Fatalf("twice in %q", list)
		}
	}
	for _, link := range d.Links {
		scheme, rest, ok := strings.Cut(link, "://")
		if !ok || scheme == "" || authority(rest) == "" || strings.ContainsAny(link, " \t\r\n") {
			t.Fatalf("%q is no link", link)
		}
	}
}

// FuzzDemandLinks: what browsers would open is found in any text it stands in alone.
func FuzzDemandLinks(f *testing.F) {
	f.Add("see ", "b.example/x", ".")
	f.Add("[a](", "b.example", ")")
	f.Add("https://a.example/?", "b.example", "")
	f.Fuzz(func(t *testing.T, before, host, after string) {
		if len(host) > 100 || strings.Trim(host, "abcdefghijklmnopqrstuvwxyz0123456789.-") != "" ||
			strings.Trim(host, ".") != host || host == "" || strings.ContainsAny(host, " ") {
			t.Skip()
		}
		var l links
		l.add(before + " https://" + host + "/ " + after)
		if !l.cut && !slices.Contains(l.list, "https://"+host+"/") {
			t.Fatalf("%q is not in %q", host, l.list)
		}
		checkDemand(t, Demand{Links: l.list})
	})
}

// BenchmarkReadDemand is of an answer that is none, as nearly all are.
func BenchmarkReadDemand(b *testing.B) {
	wanting := waitingTask(authRequired, `{"aud":"https://crm.example","scope":"read","url":"https://login.example"}`)
	for _, c := range []struct {
		name string
		body []byte
	}{
		{"1KB none", finishedTask(500)},
		{"1MB none", finishedTask(1 << 20)},
		{"demand", []byte(wanting)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(c.body)))
			for b.Loop() {
				if _, ok := Read(c.body); ok != (c.name == "demand") {
					b.Fatal("read otherwise")
				}
			}
		})
	}
}

// finishedTask is an answer that is no demand, with a text of so many bytes.
func finishedTask(n int) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":"0199d1f2-5f6e-7c1a-9a77-0c7b5f0e3a10","result":{"task":{`+
		`"id":"0199d1f2-6a01-7b44-8e2d-3f1a9c55b7e2","contextId":"0199d1f2-6a01-7b44-8e2d-3f1a9c55b7e3",`+
		`"status":{"state":"TASK_STATE_COMPLETED","timestamp":"2026-11-21T08:13:46.575Z"},`+
		`"artifacts":[{"artifactId":"a1","parts":[{"text":%q}]}],`+
		`"history":[{"messageId":"0199d1f2-6a01-7b44-8e2d-3f1a9c55b7e4","role":"ROLE_USER","parts":[{"text":"go"}]}]}}}`,
		strings.Repeat("lorem ipsum ", n/12))
}
