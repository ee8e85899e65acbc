package proxytest

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// outward are the spellings in package egress that are refused there for something else
// than where they lead as they are written: names, ports and paths that URIs of files may have.
var outward = regexp.MustCompile(`^http://(?i:fbi\.com\.example|0x7f\.1\.example\.com|1\.0\.0\.127\.example|spoofed\.burpcollaborator\.net|` +
	`xn--nxasmq6b\.example|hooks\.example\.com|a_b\.example\.com|rebind\.example)(:[1-9]\d{0,4})?([/#][^@]*)?$`)

// InwardURIs are URIs that lead inside in some spelling, or that readers disagree about. The
// scheme is https, so that it is nothing to refuse them for.
func InwardURIs(t testing.TB) []string {
	t.Helper()
	data, err := os.ReadFile("../../internal/egress/testdata/refused.txt")
	Must(t, err)
	var list []string
	for line := range strings.SplitSeq(strings.TrimSuffix(string(data), "\n"), "\n") {
		if strings.HasPrefix(line, `"`) {
			line, err = strconv.Unquote(line)
			Must(t, err)
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
