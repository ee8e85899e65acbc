package buffers_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/proxy/buffers"
)

func TestFill(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text   string
		length int64
		want   error
	}{
		{"1234", 4, nil}, {"1234", -1, nil}, {"12345", 5, buffers.ErrTooLong}, {"12345", -1, buffers.ErrTooLong}, {"", 0, nil}, {"", 1 << 40, buffers.ErrTooLong},
	} {
		b := buffers.New()
		if err := b.Fill(strings.NewReader(tt.text), tt.length, 4); !errors.Is(err, tt.want) {
			t.Errorf("%q, %d: %v", tt.text, tt.length, err)
		}
		b.Release()
	}
}
