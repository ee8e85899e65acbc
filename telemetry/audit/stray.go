package audit

import (
	"os"
	"time"
)

// keepFile looks whether the file that records go to is still where it was. Somebody may delete
// it, or its directory, while the log has it open: what is written then is gone with the process.
// A new one takes its place, also where the old one was moved away by a tool that sends HUP next.
func (l *Log) keepFile(now time.Time) {
	l.file.Lock()
	segment := ""
	if !l.closed {
		segment = l.segments.stray()
	}
	if segment == "" {
		l.file.Unlock()
		return
	}
	l.segments.retire(false)
	_ = l.segments.rotate(now) // the next record tells whether the disk works
	l.wake()
	l.file.Unlock()
	_ = l.Event("audit.strayed", map[string]string{"segment": segment}) // or readiness says that it cannot be written
	l.logger.Error("the file of audit records was deleted, moved or replaced: records go on in another one",
		"dir", l.config.Dir, "segment", segment)
}

// stray is the name of the current file if it is not where it was.
func (s *segments) stray() string {
	open, ok := s.current.(interface{ Stat() (os.FileInfo, error) })
	if !ok {
		return ""
	}
	was, err := open.Stat()
	if err != nil {
		return ""
	}
	if is, err := os.Stat(s.name.path(s.dir)); err == nil && os.SameFile(was, is) {
		return ""
	}
	return s.name.file()
}
