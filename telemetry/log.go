package telemetry

import (
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

const (
	formatJSON = "json"
	formatText = "text"
)

// newLogger makes the logger of the gateway's own messages. Every value passes the
// sanitiser, since a message about a request quotes the request. Access-log lines do not go
// this way: they are written by Line, without an allocation each. level is asked for each
// message, so that a reload changes it for messages that follow.
func newLogger(out io.Writer, text bool, level slog.Leveler) *slog.Logger {
	options := &slog.HandlerOptions{Level: level, ReplaceAttr: cleanAttr}
	if text {
		return slog.New(slog.NewTextHandler(out, options))
	}
	return slog.New(slog.NewJSONHandler(out, options))
}

// cleanAttr turns what could hold text from outside into cleaned text, times into UTC
// and durations, which JSON would have as nanoseconds, into text with their unit. Values of other kinds are numbers and cannot hurt a reader.
func cleanAttr(_ []string, a slog.Attr) slog.Attr {
	a.Key = Clean(a.Key) // some keys are names of headers or of members
	switch a.Value.Kind() {
	case slog.KindString:
		a.Value = slog.StringValue(clean(a.Value.String(), maxCause))
	case slog.KindTime:
		a.Value = slog.TimeValue(a.Value.Time().UTC())
	case slog.KindDuration:
		a.Value = slog.StringValue(a.Value.Duration().String())
	case slog.KindAny:
		a.Value = cleanAny(a.Value.Any())
	}
	return a
}

// cleanAny flattens everything but levels and lists of strings to text: the
// JSON handler would otherwise marshal strings inside structs and maps, where
// the sanitiser does not reach.
func cleanAny(v any) slog.Value {
	switch v := v.(type) {
	case slog.Level:
		return slog.AnyValue(v)
	case []string:
		cleaned := make([]string, 0, min(len(v), maxItems))
		for _, s := range v[:min(len(v), maxItems)] {
			cleaned = append(cleaned, Clean(s))
		}
		return slog.AnyValue(cleaned)
	case error:
		return slog.StringValue(clean(secret.HideURLs(v.Error()), maxCause)) // of whichever library
	default:
		return slog.StringValue(clean(fmt.Sprint(v), maxCause))
	}
}

// wantsText decides the format when the configuration leaves it open: people
// read terminals, programs read everything else.
func wantsText(format string, out io.Writer) bool {
	if format != "" {
		return format == formatText
	}
	f, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
