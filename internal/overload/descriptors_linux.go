package overload

import "os"

// fds counts descriptors that are open.
type fds struct {
	skip int // readings until the directory is read again
	last int
}

// slow is how many readings a count of the directory serves, which takes a microsecond for
// each descriptor.
const slow = 10

// read returns false where nobody knows.
func (f *fds) read() (open int, known bool) {
	info, err := os.Stat("/proc/self/fd")
	if err != nil {
		return 0, false
	}
	if n := info.Size(); n > 0 { // since Linux 6.2
		return int(n), true
	}
	if f.skip--; f.skip > 0 {
		return f.last, true
	}
	f.skip = slow
	dir, err := os.Open("/proc/self/fd")
	if err != nil { // there is none left for this
		return f.last, f.last > 0
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return f.last, f.last > 0
	}
	f.last = len(names) - 1 // the directory's own
	return f.last, true
}
