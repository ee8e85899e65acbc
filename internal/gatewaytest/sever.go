package gatewaytest

import (
	"bytes"
	"net/http"
	"strings"

	log03 "github.com/a2aproject/a2a-go/log"
	"github.com/a2aproject/a2a-go/v2/log"
)

// severHere in an event of a stream makes the agent lose the connection after it.
const severHere = "cut here"

// severable is a handler whose streams can be severed.
func severable(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The SDKs would log that they cannot write on.
		ctx := log.AttachLogger(log03.WithLogger(r.Context(), quiet()), quiet())
		next.ServeHTTP(&severableWriter{ResponseWriter: w}, r.WithContext(ctx))
	})
}

type severableWriter struct {
	http.ResponseWriter
	gone bool
}

// Write implements http.ResponseWriter.
func (w *severableWriter) Write(p []byte) (int, error) {
	if w.gone {
		return 0, http.ErrHijacked
	}
	n, err := w.ResponseWriter.Write(p)
	w.gone = err == nil && bytes.Contains(p, []byte(severHere)) &&
		strings.HasPrefix(w.Header().Get("Content-Type"), "text/event-stream")
	if w.gone {
		w.sever()
	}
	return n, err
}

// sever closes the connection under the response.
func (w *severableWriter) sever() {
	control := http.NewResponseController(w.ResponseWriter)
	_ = control.Flush()
	if conn, _, err := control.Hijack(); err == nil {
		_ = conn.Close()
	}
}

// Flush implements http.Flusher, for which the SDKs look.
func (w *severableWriter) Flush() {
	if !w.gone {
		_ = http.NewResponseController(w.ResponseWriter).Flush()
	}
}
