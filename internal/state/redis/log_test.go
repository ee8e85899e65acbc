package redis

import (
	"bytes"
	"log/slog"
	"sync"
)

// logged is a logger and a way to see what was said to it.
func logged() (*slog.Logger, func() string) {
	var b safeBuffer
	return slog.New(slog.NewTextHandler(&b, nil)), b.String
}

type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
