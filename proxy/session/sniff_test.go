package session

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// parked is a body that can be waited for without a goroutine.
type parked struct {
	io.Reader

	parks int
}

func (p *parked) Close() error { return nil }

func (p *parked) Park(func()) bool {
	p.parks++
	return true
}

// TestSniffedParks: a stream that was told by its first bytes is waited for as any other is,
// once these have been read again.
func TestSniffedParks(t *testing.T) {
	t.Parallel()
	const text = "data: {}\n\ndata: []\n\n"
	body := &parked{Reader: strings.NewReader(text)}
	resp := &http.Response{Body: body}
	if !sniff(resp) {
		t.Fatal("it is no event stream")
	}
	p, ok := resp.Body.(interface{ Park(func()) bool })
	if !ok || p.Park(nil) || body.parks != 0 {
		t.Fatal("it is waited for while there is something")
	}
	if got, err := io.ReadAll(resp.Body); string(got) != text || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
	if !p.Park(nil) || body.parks != 1 {
		t.Error("it cannot be waited for")
	}
}
