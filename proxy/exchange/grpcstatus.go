package exchange

import (
	"net/http"
	"strconv"
)

// StatusFields are how a gRPC call ended.
var StatusFields = []string{"Grpc-Status", "Grpc-Message", "Grpc-Status-Details-Bin"}

// CopyStatus passes the agent's status on as it is, and reports whether there was
// one that could be.
//
// The status stands in the trailers, or in the header where the agent answered nothing but a status
// ("Trailers-Only", gRPC over HTTP/2). It goes out with net/http's TrailerPrefix, since the response's
// header may have been sent.
func CopyStatus(to http.Header, resp *http.Response) bool {
	for _, from := range []http.Header{resp.Trailer, resp.Header} {
		if from.Get(StatusFields[0]) == "" {
			continue
		}
		if _, err := strconv.ParseUint(from.Get(StatusFields[0]), 10, 16); err != nil {
			return false
		}
		for _, name := range StatusFields {
			if v := from.Get(name); v != "" && CleanValue(v) {
				to.Set(http.TrailerPrefix+name, v)
			}
		}
		return true
	}
	return false
}
