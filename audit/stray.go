package audit

import (
	"os"
	"time"
)

// keepFile looks whether the file that records go to is still where it was. Somebody may delete
// it, or its directory, while the log has it open: what is written then is gone with the process.
// A new one takes its place, also where the old one was moved away by a tool that sends HUP next.
// On Unix a deleted file can be written to without an error, so that no write would ever tell.
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
	err := l.segments.ready(now)
	l.wake()
	l.file.Unlock()
	if err != nil {
		l.logger.Error("the file of audit records was deleted, moved or replaced, and there cannot be another one yet: records cannot be written",
			"dir", l.config.Dir, "segment", segment, "error", err)
	} else {
		l.logger.Error("the file of audit records was deleted, moved or replaced: records go on in another one",
			"dir", l.config.Dir, "segment", segment)
	}
	l.deferred.put("audit.strayed", map[string]string{"segment": segment})
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
	// Device and inode are compared: a file of the same name may be another.
	if is, err := os.Stat(s.name.Path(s.dir)); err == nil && os.SameFile(was, is) {
		return ""
	}
	return s.name.File()
}

// retry tries whether records can be written again, and then records what is owed.
func (l *Log) retry() {
	if l.Err() != nil && l.Event("audit.resumed", nil) != nil { // it is there when it can be
		return
	}
	l.deferred.mu.Lock()
	defer l.deferred.mu.Unlock()
	l.deferred.settle()
}
