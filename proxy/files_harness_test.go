package proxy_test

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/files"
)

// jsonText is a string in JSON.
func jsonText(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// file is a part in the words of a side: a file by URI, or with bytes in base64. more are
// members of the file, in 1.0's words.
func (s words) file(uri, bytes, more string) string {
	name, content := "url", uri
	if bytes != "" {
		name, content = "raw", bytes
	}
	if s.Version == wire.V10 {
		return `{"` + name + `":` + jsonText(content) + more + `}`
	}
	more = strings.NewReplacer(`"mediaType":`, `"mimeType":`, `"filename":`, `"name":`).Replace(more)
	name = map[string]string{"url": "uri", "raw": "bytes"}[name]
	if s.proto() {
		name = map[string]string{"uri": "fileWithUri", "bytes": "fileWithBytes"}[name]
	}
	kind := map[wire.Side]string{rpc01: `"type":"file",`, rpc03: `"kind":"file",`}[s.Side]
	return `{` + kind + `"file":{"` + name + `":` + jsonText(content) + more + `}}`
}

// sendFile are the params of a send with one file after a text.
func (s words) sendFile(part string) string {
	more := ""
	if s.Side == rpc01 {
		more = fmt.Sprintf(`,"id":%q`, taskFor(s.Side))
	}
	return s.send(s.text("look", "")+","+part, "", more)
}

// held has an agent's files, and its callers', held to rules.
func held(c files.Config) func(*setup) {
	return func(s *setup) {
		tied(s)
		s.agent.FileParts = c
	}
}

// outward are the spellings in package egress that are refused there for something else
// than where they lead as they are written: names, ports and paths that URIs of files may have.
var outward = regexp.MustCompile(`^http://(?i:fbi\.com\.example|0x7f\.1\.example\.com|1\.0\.0\.127\.example|spoofed\.burpcollaborator\.net|` +
	`xn--nxasmq6b\.example|hooks\.example\.com|a_b\.example\.com|rebind\.example)(:[1-9]\d{0,4})?([/#][^@]*)?$`)

// inward are URIs that lead inside in some spelling, or that readers disagree about. The
// scheme is https, so that it is nothing to refuse them for.
func inward(t testing.TB) []string {
	t.Helper()
	data, err := os.ReadFile("../internal/egress/testdata/refused.txt")
	must(t, err)
	var list []string
	for line := range strings.SplitSeq(strings.TrimSuffix(string(data), "\n"), "\n") {
		if strings.HasPrefix(line, `"`) {
			line, err = strconv.Unquote(line)
			must(t, err)
		}
		line = strings.ReplaceAll(line, "{port}", "8080")
		if line == "" || strings.HasPrefix(line, "# ") || outward.MatchString(line) {
			continue
		}
		list = append(list, strings.Replace(line, "http:", "https:", 1))
	}
	if len(list) < 250 {
		t.Fatalf("only %d spellings", len(list))
	}
	return list
}
