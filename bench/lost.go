package main

import "fmt"

// lostColumn is how many streams broke off, or had fewer events than the agent sent.
var lostColumn = column{key: "lost", title: "streams lost"}

// lost counts the streams that were lost, by what is wrong with each. A proxy that loses some is measured by the
// others, and the table has how many. The gateway may lose none, and of nobody all: what passes nothing on is cheap.
func (l *lane) lost(wrong []error) (float64, error) {
	n, first := 0, error(nil)
	for _, err := range wrong {
		if err == nil {
			continue
		}
		if n++; first == nil {
			first = err
		}
	}
	if n == 0 {
		return 0, nil
	}
	if l.subject.strict || n == len(wrong) {
		return float64(n), fmt.Errorf("%d of %d streams were lost: %w", n, len(wrong), first)
	}
	l.say("%s, %s: %d of %d streams were lost: %v", l.workload.name, l.subject.name, n, len(wrong), first)
	return float64(n), nil
}
