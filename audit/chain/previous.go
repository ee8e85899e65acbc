package chain

import "bytes"

// previous is the end of the line before.
type Previous struct {
	First  bool // there is none
	Record bool // it is a record
	Seq    uint64
	Hash   Link
}

// lastOf looks at the last of some lines, and counts them.
func LastOf(lines []byte) (Previous, int) {
	n := bytes.Count(lines, []byte{'\n'})
	line := lines[:len(lines)-1]
	return PreviousOf(line[bytes.LastIndexByte(line, '\n')+1:]), n
}

// previousOf looks at one line. One that is no record leaves a zero hash, from which nothing
// follows.
func PreviousOf(line []byte) Previous {
	seq, ok := LastSeq(line)
	_, h, _ := CutHash(line)
	return Previous{Record: ok, Seq: seq, Hash: h}
}
