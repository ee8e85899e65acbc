package process

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// TestLongProfiles: one that takes longer than a request may take to come is taken to its end.
func TestLongProfiles(t *testing.T) {
	t.Parallel()
	const hurry = time.Second
	cut := make(chan bool, 1)
	server := httptest.NewUnstartedServer(unhurried(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
			cut <- true
		case <-time.After(2 * hurry):
			cut <- false
		}
	})))
	server.Config.ReadTimeout = hurry
	server.Start()
	t.Cleanup(server.Close)
	res, err := server.Client().Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if <-cut {
		t.Error("the request ended with the time that it may take to come")
	}
}
