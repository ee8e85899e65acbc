//go:build !minimal

package acme

import (
	"context"
	"log/slog"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// newLog has certmagic write to log. All that it says is for who looks for it: what matters
// of it comes back as an error, and is told by this package, once.
func newLog(log *slog.Logger) *zap.Logger { return zap.New(core{log: log}) }

// core is a zapcore.Core.
type core struct {
	log    *slog.Logger
	fields []zapcore.Field
}

// Enabled implements zapcore.LevelEnabler.
func (c core) Enabled(zapcore.Level) bool {
	return c.log.Enabled(context.Background(), slog.LevelDebug)
}

// With implements zapcore.Core.
func (c core) With(fields []zapcore.Field) zapcore.Core {
	c.fields = append(c.fields[:len(c.fields):len(c.fields)], fields...)
	return c
}

// Check implements zapcore.Core.
func (c core) Check(e zapcore.Entry, to *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if c.Enabled(e.Level) {
		return to.AddCore(e, c)
	}
	return to
}

// Write implements zapcore.Core.
func (c core) Write(e zapcore.Entry, fields []zapcore.Field) error {
	// zap's fields have many types; its own encoder makes values of them.
	values := zapcore.NewMapObjectEncoder()
	for _, f := range append(c.fields[:len(c.fields):len(c.fields)], fields...) {
		f.AddTo(values)
	}
	attrs := make([]any, 0, 2*len(values.Fields)+2)
	attrs = append(attrs, "level_there", e.Level.String())
	for k, v := range values.Fields {
		attrs = append(attrs, k, v)
	}
	c.log.Debug("acme: "+e.Message, attrs...)
	return nil
}

// Sync implements zapcore.Core.
func (core) Sync() error { return nil }
