package segment

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
)

// Dir is a directory of segments.
type Dir struct {
	Path string
	Keys []Key // of encrypted ones
}

// Open opens a segment to read from an offset on, or from its beginning where that
// cannot be found without reading it.
// The offset is one of [Blocks.Offset]. The caller closes the blocks.
func (d Dir) Open(n Name, offset int64) (Blocks, error) {
	f, err := os.Open(n.Path(d.Path)) //nolint:gosec // in the log's directory
	// The forms are tried in turn and not by another listing: between listing and opening the file
	// could change its form again.
	for i := 0; errors.Is(err, fs.ErrNotExist) && n.stray == "" && i < len(Forms); i++ {
		n.Form = Forms[i]                // it may have been compressed since it was listed
		f, err = os.Open(n.Path(d.Path)) //nolint:gosec // in the log's directory
	}
	switch {
	case err != nil:
		return nil, err
	case n.Form == AsWritten:
		return &Plain{f: f, at: offset}, nil
	}
	return d.openForm(f, n.Form), nil
}

// openForm reads a segment that is compressed, encrypted or both, from its beginning.
// Compression comes before encryption, so that the order of reading is the other way round: frames
// are decrypted into a stream, and that is unpacked. Encrypted data would not compress.
func (d Dir) openForm(f *os.File, kind Form) Blocks {
	if !kind.Encrypted() {
		return &compressed{from: faultReader{in: bufio.NewReaderSize(f, BlockSize)}, file: f}
	}
	frames := &framed{f: f, keys: d.Keys}
	if !kind.Compressed() {
		return frames
	}
	return &compressed{from: faultReader{in: &frameReader{in: frames}}, file: f}
}
