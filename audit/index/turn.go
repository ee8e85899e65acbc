package index

import (
	"context"
	"errors"
)

// turn does what needs the file for itself, and waits as long as the caller does for
// another process that has it: one that makes the indexes of a long log takes longer for
// each than SQLite waits. waiting is told now and then; it may be nil. There is no pause between
// attempts, as each of them waits for ten seconds by itself (busy_timeout).
func turn(ctx context.Context, waiting func(), do func() error) error {
	for {
		err := do()
		if !busy(err) {
			return err
		}
		if ctx.Err() != nil {
			return errors.Join(ctx.Err(), err)
		}
		if waiting != nil {
			waiting()
		}
	}
}

// busy reports whether another process has the file. Extended codes have the plain one in their
// lowest byte; those of a file that is damaged, or not readable, are no reason to wait.
func busy(err error) bool {
	var code interface{ Code() int }
	return errors.As(err, &code) && code.Code()&0xff == sqliteBusy
}
