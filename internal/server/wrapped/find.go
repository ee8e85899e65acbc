// Package wrapped finds the http.ResponseWriter of a server below what handlers have put around it.
//
// It imports no other package of this module.
package wrapped

import "net/http"

// Find unwraps w, as http.ResponseController does, until it is a T. It is not ok where none is.
func Find[T http.ResponseWriter](w http.ResponseWriter) (found T, ok bool) {
	for {
		if found, ok = w.(T); ok {
			return found, true
		}
		over, wraps := w.(interface{ Unwrap() http.ResponseWriter })
		if !wraps {
			return found, false
		}
		w = over.Unwrap()
	}
}
