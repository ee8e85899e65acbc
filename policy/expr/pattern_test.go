package expr

import (
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// TestPatternCost: a pattern with counted repetitions costs what it is when they are
// counted out, and is not looked for where that would take too long.
func TestPatternCost(t *testing.T) {
	testenv.Long(t, "patterns are matched with messages of the largest size")
	testenv.Alone(t, "patterns are matched with messages of the largest size")
	t.Parallel()
	env := environment(t)
	many := &wire.Message{}
	for range 1000 {
		many.Parts = append(many.Parts, wire.Part{Kind: wire.PartText, Text: strings.Repeat("a", 4<<10)})
	}
	text := func(n int) *wire.Message {
		return &wire.Message{Parts: []wire.Part{{Kind: wire.PartText, Text: strings.Repeat("a", n), Data: strings.Repeat("a", n)}}}
	}
	for _, tt := range []struct {
		m     *wire.Message
		text  string
		costs bool
	}{
		{text(4 << 20), `message.parts.exists(p, p.text.matches("(?i)refund|money back"))`, false},
		{text(4 << 20), `message.parts[0].text.matches("a{900}b")`, true},
		{text(4 << 20), `matches(message.parts[0].text, "a{900}b")`, true},
		{text(4 << 20), `message.parts[0].data.matches(".{0,500}secret")`, true},
		{text(4 << 20), `message.parts.exists(p, p.text.matches(".{0,500}secret"))`, true},
		{many, `message.parts.exists(p, p.text.matches(".{0,500}secret"))`, true},
		{many, `message.parts.exists(p, p.text.matches("[a-z]{0,900}secret"))`, true},
		{many, `message.parts.exists(p, p.text.matches("(?i)refund|money back"))`, false},
		{text(4 << 10), `message.parts.exists(p, p.text.matches("[a-z]{0,900}secret"))`, false},
		{text(256 << 10), `message.parts.exists(p, p.text.matches("\\b(?:[0-9][ -]*?){13,16}\\b"))`, false},
	} {
		_, err := program(t, env, tt.text).Evaluate(&Vars{Message: tt.m})
		if (err != nil && err.Error() == costly) != tt.costs || err != nil && !tt.costs {
			t.Errorf("%s on %d parts of %d: %v; too expensive %v wanted",
				tt.text, len(tt.m.Parts), len(tt.m.Parts[0].Text), err, tt.costs)
		}
	}
}
