package state

import (
	"context"
	"fmt"
)

// SealedLogs is l with entries sealed by c, as Sealed does with values. An entry opens in
// its own log only; who can write to the store can bring back entries of that log in
// another order.
func SealedLogs(l Logs, c Cipher) Logs { return sealedLogs{l, c} }

type sealedLogs struct {
	logs   Logs
	cipher Cipher
}

// Append implements Logs.
func (s sealedLogs) Append(ctx context.Context, log string, after uint64, entries [][]byte, keep Bound) error {
	sealed := make([][]byte, len(entries))
	for i, e := range entries {
		sealed[i] = s.cipher.Seal(e, []byte(log))
	}
	return s.logs.Append(ctx, log, after, sealed, keep)
}

// Read implements Logs. One entry that does not open fails it: leaving it out would be a
// hole.
func (s sealedLogs) Read(ctx context.Context, log string, after uint64, limit int) (Tail, error) {
	tail, err := s.logs.Read(ctx, log, after, limit)
	for i, e := range tail.Entries {
		if tail.Entries[i], err = s.cipher.Open(e, []byte(log)); err != nil {
			return Tail{}, fmt.Errorf("state: an entry of a log was changed, or sealed with another key: %w", err)
		}
	}
	return tail, err
}

// Drop implements Logs.
func (s sealedLogs) Drop(ctx context.Context, log string) error { return s.logs.Drop(ctx, log) }
