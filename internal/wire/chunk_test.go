package wire

import "testing"

// TestReadChunk: what updates of artifacts say of these, in every version.
func TestReadChunk(t *testing.T) {
	t.Parallel()
	stream := new(Method)
	for i := range Methods() {
		if m := &Methods()[i]; m.Name == SendStreamingMessage {
			stream = m
		}
	}
	for _, test := range []struct {
		binding      Binding
		version      Version
		doc, id      string
		append, last bool
	}{
		{HTTPJSON, V10, `{"artifactUpdate":{"taskId":"T","append":true,"artifact":{"parts":[],"artifactId":"a"},"lastChunk":true}}`, `"a"`, true, true},
		{HTTPJSON, V10, `{"artifact_update":{"task_id":"T","artifact":{"artifact_id":"a\"b","append":true,"index":3},"last_chunk":true}}`, `"a\"b"`, false, true},
		{JSONRPC, V03, `{"jsonrpc":"2.0","id":1,"result":{"kind":"artifact-update","taskId":"T","append":false,"artifact":{"artifactId":"a","parts":[]}}}`, `"a"`, false, false},
		{JSONRPC, V01, `{"jsonrpc":"2.0","id":1,"result":{"id":"T","artifact":{"parts":[],"index":2,"append":true,"lastChunk":true}}}`, `2`, true, true},
		{JSONRPC, V01, `{"jsonrpc":"2.0","id":1,"result":{"id":"T","artifact":{"parts":[]}}}`, ``, false, false},
		{HTTPJSON, V10, `{"artifactUpdate":{"taskId":"T","append":"true","artifact":null}}`, ``, false, false},
	} {
		a, err := ReadAnswer(test.binding, test.version, stream, []byte(test.doc), Limits{})
		if err != nil {
			t.Fatalf("%s: %v", test.doc, err)
		}
		c := a.Chunk
		if id := test.doc[c.ID[0]:c.ID[1]]; id != test.id || c.Append != test.append || c.Last != test.last {
			t.Errorf("%s: %q, append %v, last %v", test.doc, id, c.Append, c.Last)
		}
	}
}
