package audit

import (
	"sync"
	"time"
)

// probeEvery is how often the log tries whether the disk takes records again.
const probeEvery = time.Second

// upkeep is what goes on in the background, and how it is ended.
type upkeep struct {
	dirty   chan struct{} // holds a token while there is work for the background
	quit    chan struct{}
	done    chan struct{} // closed when the background has ended
	tending sync.WaitGroup
	tidying sync.Mutex
	untidy  error // of the last look at old files; under tidying
}

// tend does what is due by the clock: checkpoints, and, while records cannot be written,
// a try whether they can. Readiness may keep calls away meanwhile, so that none of them
// would find out. What may take long is not done here.
func (l *Log) tend() {
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
			l.tendContent()
			l.keepFile(l.disk.now())
			l.retry()
		}
	}
}

// sealNow writes a checkpoint if one is due.
func (l *Log) sealNow() {
	l.file.Lock()
	defer l.file.Unlock()
	if !l.closed {
		_ = l.seal(l.disk.now()) // the next record tells whether the disk works
	}
}

// watch sends away those who wait for a disk that hangs. It never waits for the disk.
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
