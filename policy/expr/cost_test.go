package expr

import (
	"strings"
	"testing"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/ext"

	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// list is as long as it is deep: n members of m members each.
func list(n, m int) []any {
	all := make([]any, n)
	for i := range all {
		inner := make([]any, m)
		for j := range inner {
			inner[j] = map[string]any{"name": "value"}
		}
		all[i] = inner
	}
	return all
}

// TestEvaluateCost: a call that is larger than assumed cannot make an expression go on
// for long.
func TestEvaluateCost(t *testing.T) {
	testenv.Long(t, "conditions are given values of the largest size")
	t.Parallel()
	env := environment(t)
	huge := strings.Repeat("abcdefgh ", 4<<20/9)
	v := &Vars{Message: &wire.Message{
		Parts: []wire.Part{
			{Kind: wire.PartText, Text: huge, Metadata: map[string]any{"l": make([]any, 10_000)}},
			{Kind: wire.PartText, Text: huge, Metadata: map[string]any{"l": make([]any, 10_000)}},
			{Kind: wire.PartData, Data: list(100, 200)},
			{Kind: wire.PartData, Data: list(100, 200)},
		},
		Metadata: map[string]any{"l": make([]any, 10_000), "s": huge + "x"},
	}}
	for text, costs := range map[string]bool{
		`message.parts[0].text.contains("zzz")`:                                                    false,
		`message.parts.exists(p, p.text.contains("zzz"))`:                                          false,
		`message.parts[2].data == message.parts[3].data`:                                           false,
		`message.metadata.l.exists(x, message.parts[0].text.size() == 0)`:                          true,
		`message.metadata.l.exists(x, size(message.metadata.s) == 0)`:                              true,
		`message.metadata.l.exists(x, bytes(message.parts[0].text) == b"")`:                        true,
		`message.parts[0].metadata.l.exists(x, message.metadata.s + message.metadata.s == "")`:     true,
		`message.metadata.l.exists(x, message.metadata.s < message.parts[0].text)`:                 true,
		`message.metadata.l.exists(x, message.metadata.s.startsWith("z"))`:                         false,
		`message.metadata.l.all(x, size(message.metadata.l) == 10000)`:                             false,
		`message.parts[0].metadata.l.all(x, message.parts[1].metadata.l.all(y, x == y))`:           true,
		`message.parts[0].metadata.l.all(x, message.parts[2].data == message.parts[3].data)`:       true,
		`message.metadata.l.all(x, message.parts[2].data[1] in message.parts[3].data)`:             true,
		`message.metadata.l.all(x, message.parts[0] == message.parts[1])`:                          true,
		`message.parts[0].metadata.l.all(x, message.parts[0].text != "x" + message.parts[1].text)`: true,
	} {
		_, err := program(t, env, text).Evaluate(v)
		if (err != nil && err.Error() == costly) != costs {
			t.Errorf("%s: %v; too expensive %v wanted", text, err, costs)
		}
	}
}

func TestWeight(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		v    any
		want uint64
	}{
		{nil, 1}, {true, 1}, {1.5, 1}, {"", 1}, {strings.Repeat("x", 100), 11},
		{[]string{"a", "b"}, 3}, {[]any{1.0, []any{}}, 3}, {map[string]any{"a": nil, "b": []any{1.0}}, 14},
		{types.NullValue.Value(), 1}, {types.Int(1).Value(), 1}, {types.Timestamp{}.Value(), 1}, {types.Duration{}.Value(), 1},
		{types.StringType.Value(), 1}, {ext.IP{}.Value(), 1}, {ext.CIDR{}.Value(), 1}, {[]byte("0123456789"), 2},
		{[]wire.Part{}, structures}, {&wire.Message{}, structures},
		{wire.Part{}, structures},
	} {
		if got := weight(tt.v); got != tt.want {
			t.Errorf("%v weighs %d, want %d", tt.v, got, tt.want)
		}
	}
}
