package audit

import (
	"strconv"
)

// recordDistrust writes what there is to be distrusted. Until it can, nothing is signed.
// It is called when keys are given and before every checkpoint by the clock, until it succeeds.
func (l *Log) recordDistrust() {
	l.file.Lock()
	s := l.distrust
	l.file.Unlock()
	if s == nil {
		return
	}
	attrs := map[string]string{"from": strconv.FormatUint(s.from, 10), "to": strconv.FormatUint(s.to, 10)}
	l.logger.Error("audit records say that files were removed, and are not signed", "dir", l.config.Dir,
		"from", attrs["from"], "to", attrs["to"])
	if l.Event(eventDistrusted, attrs) != nil {
		return // it is tried again
	}
	l.file.Lock()
	l.distrust = nil
	l.file.Unlock()
}
