package service

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// TestSign: vectors that AWS has published for Signature Version 4, with the keys that they are for.
func TestSign(t *testing.T) {
	t.Parallel()
	const form = "application/x-www-form-urlencoded"
	for _, tt := range []struct {
		method, url, service string
		header               map[string]string
		body, token          string
		signed, want         string
	}{
		// The example of the documentation.
		{
			"GET", "https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08", "iam",
			map[string]string{"Content-Type": form + "; charset=utf-8"}, "", "",
			"content-type;host;x-amz-date", "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7",
		},
		// get-vanilla, get-vanilla-query-order-key-case, post-vanilla, post-x-www-form-urlencoded and
		// post-sts-header-before of the test suite.
		{"GET", "https://example.amazonaws.com/", "service", nil, "", "", "host;x-amz-date", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
		{
			"GET", "https://example.amazonaws.com/?Param2=value2&Param1=value1", "service", nil, "", "",
			"host;x-amz-date", "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
		},
		{"POST", "https://example.amazonaws.com/", "service", nil, "", "", "host;x-amz-date", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
		{
			"POST", "https://example.amazonaws.com/", "service", map[string]string{"Content-Type": form}, "Param1=value1", "",
			"content-type;host;x-amz-date", "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
		},
		{
			"POST", "https://example.amazonaws.com/", "service", nil, "",
			"AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGd" +
				"QrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+" +
				"scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA==",
			"host;x-amz-date;x-amz-security-token", "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead",
		},
	} {
		r, err := http.NewRequestWithContext(t.Context(), tt.method, tt.url, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range tt.header {
			r.Header.Set(name, value)
		}
		r.Header.Set("User-Agent", "is not signed")
		a := &AWS{
			Region: "us-east-1", AccessKeyID: secret.New("AKIDEXAMPLE"), SessionToken: secret.New(tt.token),
			SecretAccessKey: secret.New("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
		}
		a.sign(r, []byte(tt.body), tt.service, time.Date(2015, 8, 30, 12, 36, 0, 0, time.UTC))
		want := "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/" + tt.service + "/aws4_request, SignedHeaders=" + tt.signed + ", Signature=" + tt.want
		if got := r.Header.Get("Authorization"); got != want {
			t.Errorf("%s %s %v: %s", tt.method, tt.url, tt.header, strings.TrimPrefix(got, "AWS4-HMAC-SHA256 "))
		}
	}
}

// TestSignPath: all but S3 sign the path with its escapes escaped once more, of which the suite has no case.
func TestSignPath(t *testing.T) {
	t.Parallel()
	if got := escaped(escaped("arn:aws/a~b")); got != "arn%253Aaws%252Fa~b" {
		t.Error(got)
	}
}
