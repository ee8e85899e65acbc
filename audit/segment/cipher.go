package segment

import (
	"bytes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/audit/chain"
)

// An encrypted segment is a line of JSON that names the key and a salt, and frames: four
// bytes of length, and so many that AES-256-GCM made of whole lines, the nonce first. The
// key of a segment is derived from the configured one and the salt, so that random nonces
// are good for any number of frames. A frame is written with one call, so that a crash
// tears at most the last, as it does with lines.
// The numbers are in bytes. The bound on a frame lets a reader refuse a length that somebody made
// up before it makes room for it.
const (
	frameHead  = 4
	frameExtra = 12 + 16 // GCM's nonce and tag
	frameFull  = 1 << 20 // of lines in one frame, but for a longer line
	frameMost  = chain.LongestRecord + frameFull + 64
)

// cipherHead is the first line of an encrypted segment.
// It looks like this:
//
//	{"cipher":"a2a-gateway audit A256GCM","key":"1f2e3d4c","salt":"<64 hex digits>"}
type cipherHead struct {
	Cipher string `json:"cipher"`
	Key    string `json:"key"`
	Salt   string `json:"salt"`
}

const cipherName = "a2a-gateway audit A256GCM"

// Encrypter encrypts one segment.
// It is for one goroutine. Its state is the number of the next frame, which is authenticated with
// the frame and stored nowhere: a reader counts too, and a frame in another place does not open.
type Encrypter struct {
	head  []byte // not written yet; nil afterwards
	aead  cipher.AEAD
	frame uint64 // number of the next
}

// NewEncrypter begins a segment.
func NewEncrypter(m Key) (*Encrypter, error) {
	salt := make([]byte, sha256.Size)
	_, _ = rand.Read(salt) // never fails (crypto/rand)
	head, err := json.Marshal(cipherHead{cipherName, m.id, hex.EncodeToString(salt)})
	if err != nil {
		return nil, err
	}
	aead, err := m.aead(salt)
	return &Encrypter{head: append(head, '\n'), aead: aead}, err
}

// Frames appends what stands in the file for some bytes. The next call is about those that
// follow; when the write failed and was taken back, s is to be as it was.
// With whole, frames end with lines, so that a crash between two frames tears no line; compressed
// data has no lines, and is cut anywhere.
func (s *Encrypter) Frames(dst, plain []byte, whole bool) []byte {
	dst = append(dst, s.head...)
	s.head = nil
	for len(plain) > 0 {
		n := min(len(plain), frameFull)
		if whole && n < len(plain) {
			if end := bytes.LastIndexByte(plain[:n], '\n') + 1; end > 0 {
				n = end
			} else {
				n = bytes.IndexByte(plain, '\n') + 1
			}
		}
		begin := len(dst)
		dst = append(dst, 0, 0, 0, 0)
		dst = s.aead.Seal(dst, nil, plain[:n], binary.BigEndian.AppendUint64(nil, s.frame))
		binary.BigEndian.PutUint32(dst[begin:], uint32(len(dst)-begin-frameHead)) //nolint:gosec // at most frameMost
		s.frame++
		plain = plain[n:]
	}
	return dst
}

// Whole counts the lines in the first n bytes of out, which is what frames made of some whole
// lines. s is as it was before.
func (s *Encrypter) Whole(lines, out []byte, n int) int {
	count, at := 0, len(s.head)
	for at+frameHead <= n {
		size := int(binary.BigEndian.Uint32(out[at:]))
		if at += frameHead + size; at > n {
			break
		}
		plain := lines[:size-frameExtra]
		count += bytes.Count(plain, []byte{'\n'})
		lines = lines[len(plain):]
	}
	return count
}

// decrypter decrypts one segment.
type decrypter struct {
	aead  cipher.AEAD
	frame uint64
}

// newDecrypter reads the first line of a segment.
// A segment whose key is not configured any more is an error that names the key and the setting,
// and is no damage: the log may be fine.
func newDecrypter(line []byte, keys []Key) (*decrypter, error) {
	var head cipherHead
	if err := json.Unmarshal(line, &head); err != nil || head.Cipher != cipherName {
		return nil, fmt.Errorf("%w: its first line does not say how it is encrypted", ErrChanged)
	}
	salt, err := hex.DecodeString(head.Salt)
	if err != nil {
		return nil, fmt.Errorf("%w: its first line has no salt", ErrChanged)
	}
	for _, m := range keys {
		if m.id == head.Key {
			aead, err := m.aead(salt)
			return &decrypter{aead: aead}, err
		}
	}
	return nil, fmt.Errorf("it is encrypted with a key that is not there, %.16q (telemetry.audit.encryption.keys)", head.Key)
}

// open appends what is in the next frame.
// The frame's number is what is authenticated beside it. Sealed bytes that were cut, changed, or
// brought from another place are one error: GCM does not tell which.
func (o *decrypter) open(dst, sealed []byte) ([]byte, error) {
	out, err := o.aead.Open(dst, nil, sealed, binary.BigEndian.AppendUint64(nil, o.frame))
	if err != nil {
		return dst, fmt.Errorf("%w: encrypted part %d was changed, or is not where it was", ErrChanged, o.frame+1)
	}
	o.frame++
	return out, nil
}
