package audit

import "bytes"

// previous is the end of the line before.
type previous struct {
	first  bool // there is none
	record bool // it is a record
	seq    uint64
	hash   link
}

// lastOf looks at the last of some lines, and counts them.
func lastOf(lines []byte) (previous, int) {
	n := bytes.Count(lines, []byte{'\n'})
	line := lines[:len(lines)-1]
	return previousOf(line[bytes.LastIndexByte(line, '\n')+1:]), n
}

// previousOf looks at one line. One that is no record leaves a zero hash, from which nothing
// follows.
func previousOf(line []byte) previous {
	seq, ok := lastSeq(line)
	_, h, _ := cutHash(line)
	return previous{record: ok, seq: seq, hash: h}
}
