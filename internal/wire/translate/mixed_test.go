package translate

import (
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// TestMixed: a send is one of 1.0's objects where nothing in its message says a kind.
func TestMixed(t *testing.T) {
	t.Parallel()
	for params, want := range map[string]bool{
		`{"message":{"role":"user","parts":[{"text":"a"}]}}`:                                     true,
		`{"message":{"role":"user","parts":[{"raw":"YQ=="},{"data":{"kind":"x"}}],"kind":null}}`: true,
		`{"message":{"role":"user","parts":[{"text":"a"}],"kind":"message"}}`:                    false,
		`{"message":{"role":"user","parts":[{"kind":"text","text":"a"}]}}`:                       false,
		`{"message":{"role":"user","parts":[{"text":"a"},{"type":"text","text":"a"}]}}`:          false,
		`{"message":{"role":"user","parts":[{"file":{"uri":"https://files.example/a"}}]}}`:       false,
		`{"message":{"role":"user","parts":[]}}`:                                                 false,
		`{"message":{"role":"user","parts":["a"]}}`:                                              false,
		`{"message":{"role":"user","parts":{"text":"a"}}}`:                                       false,
		`{"message":null}`: false,
		``:                 false,
	} {
		if got := Mixed(&wire.Call{Params: []byte(params)}); got != want {
			t.Errorf("%s: %t", params, got)
		}
	}
}

// TestRenamed: nothing but the method's name is another.
func TestRenamed(t *testing.T) {
	t.Parallel()
	c := &wire.Call{Body: []byte(`{ "id" : 1.50, "method":"message/send", "params": {"method":"message/send"},"jsonrpc":"2.0"}`)}
	c.Method, _ = wire.ByName(wire.V10, wire.SendMessage)
	const want = `{"id":1.50,"method":"SendMessage","params":{"method":"message/send"},"jsonrpc":"2.0"}`
	if got := string(Renamed(c)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
