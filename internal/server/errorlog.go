package server

import (
	"bytes"
	"context"
	"log"
	"log/slog"
	"strings"
)

// errorLog takes what net/http has to say. Nearly all of it is about clients
// that went away or spoke no TLS, which is nobody's business at more than debug
// level; a panic in a handler is an error.
type errorLog struct{ log *slog.Logger }

func newErrorLog(l *slog.Logger) *log.Logger { //nolint:forbidigo // net/http takes no other kind
	return log.New(errorLog{l}, "", 0) //nolint:forbidigo // see above
}

func (e errorLog) Write(p []byte) (int, error) {
	level := slog.LevelDebug
	if bytes.HasPrefix(p, []byte("http: panic")) || bytes.HasPrefix(p, []byte("http2: panic")) {
		level = slog.LevelError
	}
	e.log.Log(context.Background(), level, "http server", "detail", strings.TrimSpace(string(p)))
	return len(p), nil
}
