package expr

import (
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// BenchmarkEvaluate goes from what looks at one field to what goes through a message as
// large as they may be: 4 MiB in 1,000 parts.
func BenchmarkEvaluate(b *testing.B) {
	env, large := environment(b), call()
	text := strings.Repeat("abcdefgh ", partLength/9)
	large.Message = &wire.Message{Parts: make([]wire.Part, parts)}
	for i := range large.Message.Parts {
		large.Message.Parts[i] = wire.Part{Kind: wire.PartText, Text: text}
	}
	for _, bench := range []struct {
		name, text string
		vars       *Vars
	}{
		{"field", `principal.subject == "alice"`, call()},
		{"group", `"staff" in principal.groups`, call()},
		{"network", `cidr("10.0.0.0/8").containsIP(source.ip)`, call()},
		{"parts", `message.parts.exists(p, p.kind == "video")`, call()},
		{"large/parts", `message.parts.exists(p, p.kind == "video")`, large},
		{"large/contains", `message.parts.exists(p, p.text.contains("zzz"))`, large},
		{"large/matches", `message.parts.exists(p, p.text.matches("(?i)iban ?[A-Z]{2}[0-9]{2}"))`, large},
	} {
		b.Run(bench.name, func(b *testing.B) {
			p := program(b, env, bench.text)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Evaluate(bench.vars); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	b.Run("environment", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			environment(b)
		}
	})
	env := environment(b)
	b.Run("expression", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			program(b, env, `message.parts.exists(p, p.kind == "file" && p.bytes > 1000) && principal.tenant == "acme"`)
		}
	})
}
