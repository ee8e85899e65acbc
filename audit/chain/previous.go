package chain

import "bytes"

// Previous is the end of the line before.
// A reader that goes through a file in blocks needs of the last line of one block just this to
// judge the first line of the next.
type Previous struct {
	First  bool // there is none
	Record bool // it is a record
	Seq    uint64
	Hash   Link
}

// LastOf looks at the last of some lines, and counts them.
// The lines must not be empty and must end with a newline, as blocks of a segment do. The second
// result is how many lines there are.
func LastOf(lines []byte) (Previous, int) {
	n := bytes.Count(lines, []byte{'\n'})
	line := lines[:len(lines)-1]
	return PreviousOf(line[bytes.LastIndexByte(line, '\n')+1:]), n
}

// PreviousOf looks at one line. One that is no record leaves a zero hash, from which nothing
// follows.
func PreviousOf(line []byte) Previous {
	seq, ok := LastSeq(line)
	_, h, _ := CutHash(line)
	return Previous{Record: ok, Seq: seq, Hash: h}
}
