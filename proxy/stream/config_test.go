package stream

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/grammar"
)

func TestConfigValidate(t *testing.T) {
	t.Parallel()
	none, negative := quantity.Duration(0), -1
	for _, tc := range []struct {
		name, want string
		in         Config
	}{
		{name: "empty"},
		{name: "off", in: Config{
			Linger: &none, Resubscribe: &none, Lifetime: &none, PerPrincipal: new(int), Persist: "off", Grammar: "report",
		}},
		{"no events", "buffer.events: -1 is not within 1 and 100000", Config{Buffer: Buffer{Events: -1}}},
		{"many events", "buffer.events: 100001 is not within", Config{Buffer: Buffer{Events: 100_001}}},
		{"many bytes", "buffer.bytes: 1GiB is more than 64MiB", Config{Buffer: Buffer{Bytes: 1 << 30, Total: 1 << 40}}},
		{"less than one", "buffer.total: 1KiB is less than buffer.bytes, 64KiB", Config{Buffer: Buffer{Total: 1 << 10}}},
		{"less than a task", "buffer.total: 128KiB is less than buffer.snapshot, 256KiB", Config{Buffer: Buffer{Total: 128 << 10}}},
		{"persist", `persist: "on" is not one of auto, off`, Config{Persist: "on"}},
		{"grammar", `grammar: "warn" is not one of enforce, strict, report, off`, Config{Grammar: "warn"}},
		{"short poll", "poll: 1ms is less than 100ms", Config{Poll: quantity.Duration(time.Millisecond)}},
		{"turns", "turns: -1 is less than 1", Config{Turns: -1}},
		{"remember", "remember.tasks: -1 is less than 1", Config{Remember: Remembered{Tasks: -1}}},
		{"close wait", "closeWait: 1ms is less than 10ms", Config{CloseWait: quantity.Duration(time.Millisecond)}},
		{"streams", "perPrincipal: -1 is less than 0", Config{PerPrincipal: &negative}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			err := tc.in.Validate()
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func TestConfigDefaults(t *testing.T) {
	t.Parallel()
	none := quantity.Duration(0)
	c := Config{Linger: &none, Grammar: grammarOff}
	c.Defaults()
	if *c.Linger != 0 || *c.Lifetime != quantity.Duration(24*time.Hour) || *c.PerPrincipal != 1000 || c.Buffer.Events != 256 {
		t.Errorf("%+v", c)
	}
	if c.Reports() || !c.Persists() {
		t.Error("the words are misread")
	}
	if c.Turns != 100 || c.CloseWait != quantity.Duration(5*time.Second) {
		t.Errorf("%+v", c)
	}
}

// TestRules: what each word enforces.
func TestRules(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"":             "other_task other_context turns",
		grammarEnforce: "other_task other_context turns",
		grammarStrict:  "first second_message mixed after_end backwards other_task other_context turns chunk_first chunk_after_last altered",
		grammarReport:  "",
		grammarOff:     "",
	} {
		var names []string
		for _, r := range grammar.Rules {
			if found, ok := grammar.RuleOf(fmt.Errorf("some words: %w", r.Err)); !ok || found != r {
				t.Errorf("%s is not found by its error", r.Name)
			}
			if (Config{Grammar: word}).Enforces(r.Err) {
				names = append(names, r.Name)
			}
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%q enforces %q, want %q", word, got, want)
		}
		if got := (Config{Grammar: word}).Reports(); got != (word != grammarOff) {
			t.Errorf("%q reports: %v", word, got)
		}
	}
	if _, ok := grammar.RuleOf(nil); ok {
		t.Error("nothing is a rule")
	}
}
