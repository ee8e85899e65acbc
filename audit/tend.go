package audit

import (
	"sync"
	"time"
)

// probeEvery is how often the log tries whether the disk takes records again.
const probeEvery = time.Second

// upkeep is what goes on in the background, and how it is ended.
type upkeep struct {
	quit    chan struct{}
	done    chan struct{} // closed when the background has ended
	tending sync.WaitGroup
}

// tend does what is due by the clock: checkpoints, and, while records cannot be written,
// a try whether they can. Readiness may keep calls away meanwhile, so that none of them
// would find out. What may take long is not done here.
// It is one of five goroutines of an open log: tend (what is due by the clock), watch (waiters),
// background (fsync), keepTidy (old files) and, where a Memory was given, remember.
func (l *Log) tend() {
	// The interval bounds how long records are unsigned on a gateway with few calls.
	seal := time.NewTicker(l.config.Checkpoint.interval())
	defer seal.Stop()
	probe := time.NewTicker(l.disk.probe)
	defer probe.Stop()
	for {
		select {
		case <-l.quit:
			return
		case <-seal.C:
			l.recordDistrust()
			l.sealNow()
		case <-probe.C:
			// Content is synced here, since a vault has no goroutine of its own.
			l.tendContent()
			l.keepFile(l.disk.now())
			l.retry()
		}
	}
}

// watch sends away those who wait for a disk that hangs. It never waits for the disk.
// It is apart from tend, which may itself hang in a write.
func (l *Log) watch() {
	tick := time.NewTicker(l.disk.probe)
	defer tick.Stop()
	for {
		select {
		case <-l.quit:
			return
		case <-tick.C:
			l.sendAway()
		}
	}
}

// background keeps the disk close behind the writes.
// It waits for work, then for syncEvery, so that one fsync covers all records of a tenth of a
// second.
func (l *Log) background() {
	defer close(l.done)
	timer := time.NewTimer(l.disk.linger)
	defer timer.Stop()
	for {
		select {
		case <-l.quit:
			return
		case <-l.dirty:
		}
		timer.Reset(l.disk.linger)
		select {
		case <-l.quit:
			return
		case <-timer.C:
		}
		if err := l.syncNow(); err != nil {
			l.logger.Error("audit records may not have reached the disk", "dir", l.config.Dir, "error", err)
		}
	}
}
