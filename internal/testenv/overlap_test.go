package testenv

import (
	"flag"
	"testing"
)

func TestOverlap(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]int{"": 2 * perProcessor, "-test.parallel=3": 3, "-test.fuzz=FuzzX": 2, "-test.run=TestX": 2 * perProcessor} {
		flags := flag.NewFlagSet("", flag.ContinueOnError)
		got := flags.Int("test.parallel", 2, "")
		flags.String("test.fuzz", "", "")
		flags.String("test.run", "", "")
		if err := flags.Parse([]string{line}[:min(1, len(line))]); err != nil {
			t.Fatal(err)
		}
		if overlap(flags, 2); *got != want {
			t.Errorf("%q: %d tests at once, want %d", line, *got, want)
		}
	}
}
