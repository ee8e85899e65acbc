package vault

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/go-json-experiment/json"
)

// drawer says whose content one key is for, and until the end of which day.
// It is the unit of erasure: everything in it goes at once, and nothing else does.
type drawer struct {
	Issuer  string `json:"issuer,omitempty"`
	Subject string `json:"subject"`
	Label   string `json:"label"`
	Until   string `json:"until,omitempty"`
}

// opened is a drawer with its key. It is in memory only, for as long as a file is written to or
// read from.
type opened struct {
	drawer
	id   [keyID]byte
	aead cipher.AEAD
}

// lock is what is sealed: a line of a file of keys is the drawer's id, a space, and this,
// sealed, in base64. Nobody else sees whose drawer it is.
type lock struct {
	drawer
	Key []byte `json:"key"`
}

// purpose keeps what is sealed here from being opened as something else that the ring has sealed.
const purpose = "audit content"

// newAEAD is AES-GCM with random nonces. A key serves one drawer of one file, of which maxFile
// bounds the frames: far from the 2^32 that random nonces are good for (NIST SP 800-38D §8.3).
func newAEAD(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// add makes a drawer.
// The line is written before the first content that needs it, so that a crash leaves a key without
// content and never the other way round.
func (p *pair) add(sealer Sealer, d drawer) (*opened, error) {
	l := lock{drawer: d, Key: make([]byte, 32)}
	o := &opened{drawer: d}
	_, _ = rand.Read(l.Key) // never fails (crypto/rand)
	// A random id says nothing of the subject, and two files never share one.
	_, _ = rand.Read(o.id[:])
	var err error
	if o.aead, err = newAEAD(l.Key); err != nil {
		return nil, err
	}
	plain, err := json.Marshal(l)
	if err != nil {
		return nil, err
	}
	// The drawer's description is sealed with the key: the file shows neither names nor labels.
	sealed := sealer.Seal(purpose, plain, keyData(p.name, o.id))
	if sealed == nil {
		return nil, errors.New("there is no key that seals")
	}
	line := hex.AppendEncode(nil, o.id[:])
	line = base64.RawStdEncoding.AppendEncode(append(line, ' '), sealed)
	line = append(line, '\n')
	if err := write(p.keys, line, p.sealed); err != nil {
		return nil, err
	}
	p.sealed += int64(len(line))
	return o, nil
}

// keyData is what a sealed key is bound to: the file and the name that it stands under.
// A line that was copied to another file, or under another id, does not open.
func keyData(n name, id [keyID]byte) []byte { return append([]byte(n.String()+"\x00"), id[:]...) }

// keyLine is a line of a file of keys, and where it stands.
type keyLine struct {
	text []byte // without its end
	at   int64
}

// blank is what a destroyed key is overwritten with.
const blank = '-'

// destroyed reports whether a key was overwritten, and with it what was sealed by it. An empty line
// counts as one too: there is nothing to open in either.
func (l keyLine) destroyed() bool { return len(l.text) == 0 || l.text[0] == blank }

// keyLines are the whole lines of a file; a torn last one belongs to nothing, since content is
// written only after its key's line. A file that is not there has no lines: retention removes the
// two files of a pair one after the other.
func keyLines(dir string, n name) ([]keyLine, error) {
	all, err := os.ReadFile(n.path(dir, keysForm))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var lines []keyLine
	for at := 0; ; {
		end := bytes.IndexByte(all[at:], '\n')
		if end < 0 {
			return lines, err
		}
		lines = append(lines, keyLine{all[at : at+end], int64(at)})
		at += end + 1
	}
}

// id is that of the drawer. It stands in the open, so that without the gateway's keys it can be told
// whether content still has a key (Shelf), and nothing else.
func (l keyLine) id() (id [keyID]byte, ok bool) {
	head, _, ok := bytes.Cut(l.text, []byte{' '})
	n, err := hex.Decode(id[:], head[:min(len(head), 2*keyID)])
	return id, ok && err == nil && n == keyID && len(head) == 2*keyID
}

// open unseals a line. What is wrong with one is said without its text: a key that is damaged may
// still be most of a key.
func (l keyLine) open(n name, sealer Sealer) (*opened, error) {
	id, ok := l.id()
	if !ok {
		return nil, errors.New("a line is no key")
	}
	o := &opened{id: id}
	_, body, _ := bytes.Cut(l.text, []byte{' '})
	sealed, err := base64.RawStdEncoding.DecodeString(string(body))
	if err != nil {
		return nil, errors.New("a line is no key")
	}
	plain, err := sealer.Unseal(purpose, sealed, keyData(n, o.id))
	if err != nil {
		return nil, errors.New("a key is sealed by one that is not there (keys.sealing), or was changed")
	}
	var k lock
	if err := json.Unmarshal(plain, &k); err != nil {
		return nil, errors.New("a line is no key")
	}
	o.drawer = k.drawer
	o.aead, err = newAEAD(k.Key)
	return o, err
}

// destroy overwrites the keys of the drawers that are meant, where they stand: whoever
// appends to the file is not disturbed. A key that cannot be opened is left, and an error:
// nobody knows whose it is.
// left is how many keys stay in the file, gone are those that were destroyed by this call.
func destroy(dir string, n name, sealer Sealer, meant func(d drawer, at int64) bool) (left int, gone []*opened, err error) {
	lines, err := keyLines(dir, n)
	if err != nil {
		return 0, nil, err
	}
	var faults []error
	for _, line := range lines {
		if line.destroyed() {
			continue
		}
		o, err := line.open(n, sealer)
		switch {
		case err != nil && len(faults) == 0:
			faults = append(faults, fmt.Errorf("%s: %w", n.path(dir, keysForm), err))
			fallthrough
		case err != nil || !meant(o.drawer, line.at):
			left++
			continue
		}
		if err := overwrite(n.path(dir, keysForm), line); err != nil {
			return left, gone, errors.Join(append(faults, err)...)
		}
		gone = append(gone, o)
	}
	return left, gone, errors.Join(faults...)
}

// overwrite destroys a key in its place: the content is gone with it, in every copy of the data that is
// made from then on, and nothing else in the file moves.
// The file is synced before the erasure is noted as done. On file systems and disks that copy on
// write (snapshots, SSDs) old blocks may live on.
func overwrite(path string, line keyLine) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY, 0) //nolint:gosec // not for appending
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.WriteAt(bytes.Repeat([]byte{blank}, len(line.text)), line.at); err != nil {
		return err
	}
	return f.Sync()
}
