package audit

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
)

// Dir is a directory of segments.
type Dir struct {
	Path string
	Keys []masterKey // of encrypted ones
}

// openSegment opens a segment to read from an offset on, or from its beginning where that
// cannot be found without reading it.
func (d Dir) openSegment(n name, offset int64) (blocks, error) {
	f, err := os.Open(n.path(d.Path)) //nolint:gosec // in the log's directory
	for i := 0; errors.Is(err, fs.ErrNotExist) && n.stray == "" && i < len(forms); i++ {
		n.form = forms[i]                // it may have been compressed since it was listed
		f, err = os.Open(n.path(d.Path)) //nolint:gosec // in the log's directory
	}
	switch {
	case err != nil:
		return nil, err
	case n.form == asWritten:
		return &plain{f: f, at: offset}, nil
	}
	return d.openForm(f, n.form), nil
}

// openForm reads a segment that is compressed, encrypted or both, from its beginning.
func (d Dir) openForm(f *os.File, kind form) blocks {
	if !kind.encrypted() {
		return &unpacked{from: faultReader{in: bufio.NewReaderSize(f, blockSize)}, file: f}
	}
	frames := &framed{f: f, keys: d.Keys}
	if !kind.compressed() {
		return frames
	}
	return &unpacked{from: faultReader{in: &frameReader{in: frames}}, file: f}
}
