package server

import (
	"strings"
	"testing"
)

func TestL45_Origins(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{origins: ["https://app.example.com"]}`:                                "",
		`{origins: ["http://127.0.0.1:5173", "https://[::1]:3000"]}`:            "",
		`{origins: ["https://*.example.com", "https://*.app.example.com:444"]}`: "",
		`{origins: ["chrome-extension://abcdefgh"]}`:                            "",
		`{origins: ["*"]}`: "",
		`{origins: ["https://a.example"], credentials: true, headers: [X-Custom], maxAge: 1h}`: "",

		`{}`:                                  "server.cors.origins: is empty",
		`{origins: ["*"], credentials: true}`: `server.cors.origins[0]: "*" cannot be together with server.cors.credentials`,
		`{origins: ["https://a.example", "null"]}`:                 `server.cors.origins[1]: "null" is every sandboxed page`,
		`{origins: [app.example.com]}`:                             "is not an origin",
		`{origins: ["https://app.example.com/"]}`:                  "no slash at the end",
		`{origins: ["https://App.example.com"]}`:                   "in lower case",
		`{origins: ["https://a.example:443"]}`:                     "as browsers send it",
		`{origins: ["http://a.example:080"]}`:                      "as browsers send it",
		`{origins: ["https://a.example/p"]}`:                       "as browsers send it",
		`{origins: ["https://u:p@a.example"]}`:                     "as browsers send it",
		`{origins: ["https://*"]}`:                                 "as browsers send it",
		`{origins: ["https://*.com"]}`:                             "write a domain of yours",
		`{origins: ["https://a.*.example.com"]}`:                   "as browsers send it",
		`{origins: ["https://*a.example.com"]}`:                    "as browsers send it",
		`{origins: ["https://*.*.example.com"]}`:                   "as browsers send it",
		`{origins: ["https://a.example", "*"], credentials: true}`: `server.cors.origins[1]: "*" cannot be together with server.cors.credentials`,
		`{origins: ["null"], credentials: true}`:                   `server.cors.origins[0]: "null"`,
		`{origins: ["HTTPS://a.example"]}`:                         "as browsers send it",
		`{origins: ["http://a.example:80"]}`:                       "as browsers send it",
		`{origins: ["https://a.example:"]}`:                        "as browsers send it",
		`{origins: ["https://a.example:0"]}`:                       "as browsers send it",
		`{origins: ["https://a.example:65536"]}`:                   "as browsers send it",
		`{origins: ["https://a.example?q"]}`:                       "as browsers send it",
		`{origins: ["https://a.example#f"]}`:                       "as browsers send it",
		`{origins: ["http://[0:0:0:0:0:0:0:1]:3000"]}`:             "as browsers send it",
		`{origins: ["http://127.1:3000"]}`:                         "as browsers send it",
		`{origins: ["https://bücher.example"]}`:                    "as browsers send it",
		`{origins: [" https://a.example"]}`:                        "is not an origin",
		`{origins: ["file://"]}`:                                   "is not an origin",
		`{origins: [""]}`:                                          "is not an origin",
		`{origins: ["https://*.example.com:*"]}`:                   "is not an origin",
		`{origins: ["*://a.example"]}`:                             "is not an origin",
		`{origins: ["https://*.127.0.0.1"]}`:                       "as browsers send it",
		`{origins: ["*"], headers: ["*"]}`:                         "server.cors.headers[0]",
		`{origins: ["*"], headers: ["A B"]}`:                       "server.cors.headers[0]",
	} {
		c, err := load(t, `server: {publicURL: "http://localhost", cors: `+text+`}`)
		if err != nil {
			t.Fatal(text, err)
		}
		c.Defaults()
		err = c.Validate()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}
