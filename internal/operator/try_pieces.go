package operator

import (
	"bytes"
	"cmp"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/a2a-gateway/a2a-gateway/internal/console/trials"
	"github.com/a2a-gateway/a2a-gateway/internal/grpcframe"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// pieces are the parts of an answer's body as they come, each of which is shown at once. A
// piece is what one read of the body gave, which for a stream is usually an event; over gRPC
// it is a message.
type pieces struct {
	call  *trial
	watch func(trials.Event)
	shown []trials.Piece
	docs  [][]byte // of the messages of gRPC

	rest   []byte        // that is not shown yet
	last   time.Duration // when the end of it came
	closed bool          // nothing more of it can be read as messages
}

// add takes what has come. at counts from the beginning of the request.
func (p *pieces) add(at time.Duration, data []byte) {
	p.rest, p.last = append(p.rest, data...), at
	if p.call.side.Binding == wire.GRPC {
		p.unframe()
		return
	}
	p.show(len(p.rest) - p.call.open(p.rest))
}

// end shows what was held back. The rest of a message of gRPC that was cut off cannot be
// shown.
func (p *pieces) end() {
	if p.call.side.Binding != wire.GRPC {
		p.show(len(p.rest))
	}
}

// show shows so many bytes of the rest.
func (p *pieces) show(n int) {
	if n == 0 {
		return
	}
	text := p.call.clean(p.rest[:n])
	p.rest = append(p.rest[:0], p.rest[n:]...)
	p.piece(text)
}

func (p *pieces) piece(text string) {
	shown := trials.Piece{At: milliseconds(p.last), Text: text}
	p.shown = append(p.shown, shown)
	p.watch(trials.Event{Name: "piece", Data: shown})
}

// unframe shows the messages of gRPC that are there, as documents. A message may be in
// several reads, or be one of several in a read: its time is that of its last byte. One that
// is malformed is shown as such a text, and is not among the documents.
func (p *pieces) unframe() {
	// A frame that announces more than there is, is not read: its message has not come.
	messages, at := grpcframe.NewReader(bytes.NewReader(p.rest), len(p.rest)), 0
	for !p.closed {
		message, err := messages.Next()
		if err != nil {
			// A frame whose first byte is not 0 is compressed, and so is not read.
			p.closed = len(p.rest) > at && p.rest[at] != 0
			break
		}
		// An empty message is five bytes of frame, which each message has before it.
		at += len(grpcframe.Append(nil, nil)) + len(message)
		doc, err := wire.ResponseJSON(p.call.call.Method, p.call.side.Version, message)
		if err != nil {
			doc = fmt.Appendf(nil, "%q", "a message that is none of "+p.call.call.Method.Name)
		} else {
			p.docs = append(p.docs, doc)
		}
		p.piece(p.call.clean(doc))
	}
	if at > 0 {
		p.rest = append(p.rest[:0], p.rest[at:]...)
	}
}

// open is how many bytes at the end of a text cannot be shown before more has come: the
// beginning of what may become the credential, which is taken out, or of a character.
func (c *trial) open(text []byte) int {
	held := 0
	for i := 1; i <= min(len(text), utf8.UTFMax); i++ {
		if at := len(text) - i; utf8.RuneStart(text[at]) {
			if !utf8.FullRune(text[at:]) {
				held = i
			}
			break
		}
	}
	secret := []byte(cmp.Or(c.APIKey, c.Bearer))
	if len(secret) == 0 {
		return held
	}
	// What is a part of a whole one begins no other one.
	for at := bytes.Index(text, secret); at >= 0; at = bytes.Index(text, secret) {
		text = text[at+len(secret):]
	}
	for n := min(len(text), len(secret)-1); n > held; n-- {
		if bytes.HasSuffix(text, secret[:n]) {
			return n
		}
	}
	return held
}
