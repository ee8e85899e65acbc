// Package house_test holds what is true of the whole tree.
package house_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/a2a-gateway/a2a-gateway"

// floors is the house: a package imports from lower floors only, never from its
// own. A package that is not here has no place yet, and the test says so.
var floors = [][]string{
	0: {
		"internal/jsonscan",
	},
	1: {
		"card/lint",
		"internal/breaker",
		"internal/console/openapi",
		"internal/demo",
		"internal/durable",
		"internal/grpcframe",
		"internal/jws",
		"internal/keypath",
		"internal/netpoll",
		"internal/pattern",
		"internal/secret",
		"internal/server/flood",
		"internal/server/http2",
		"internal/server/strict",
		"internal/share",
		"internal/sse",
		"internal/wire",
		"proxy/buffers",
	},
	2: {
		"audit/redact",
		"audit/vault",
		"authn",
		"internal/console/login",
		"internal/egress",
		"internal/grpcsystem",
		"internal/keys",
		"internal/overload",
		"internal/server/http1",
		"internal/state",
		"internal/tunnel",
		"internal/wire/authdemand",
		"internal/wire/fold",
		"internal/wire/pushconfig",
		"internal/wire/taskpage",
		"internal/wire/translate",
		"telemetry",
	},
	3: {
		"audit",
		"authn/apikey",
		"authn/clientcert",
		"authn/dpop",
		"card/signature",
		"ext/hook",
		"ext/schema",
		"internal/console/api",
		"internal/server",
		"internal/state/observed",
		"internal/state/redis",
		"internal/state/sqlite",
		"policy/expr",
		"proxy/upstream/discovery",
		"proxy/upstream/http1",
		"telemetry/anomaly",
	},
	4: {
		"audit/index",
		"audit/kafka",
		"audit/ocsf",
		"audit/otlp",
		"audit/postgres",
		"authn/jwt",
		"card/trust",
		"ext",
		"internal/console/apikeys",
		"internal/console/contents",
		"internal/console/fleet",
		"internal/console/health",
		"internal/console/identities",
		"internal/console/process",
		"internal/console/replicas",
		"internal/console/streams",
		"internal/console/trials",
		"internal/server/acme",
		"internal/status",
		"policy",
		"policy/files",
		"policy/ledger",
		"policy/limits",
		"policy/pdp",
		"proxy/upstream",
	},
	5: {
		"audit/sink",
		"authn/schemes",
		"card",
		"ext/content",
		"ext/provided",
		"internal/certificates",
		"internal/console/extensions",
		"internal/console/records",
		"internal/verdict",
		"proxy/catalog",
		"proxy/push",
		"proxy/stream",
	},
	6: {
		"internal/console/cards",
		"internal/console/deliveries",
		"internal/console/rules",
		"proxy/agents",
		"proxy/openstreams",
	},
	7: {
		"internal/console",
		"proxy/exchange",
	},
	8: {
		"proxy/admit",
		"proxy/cursors",
		"proxy/negotiate",
		"proxy/webhooks",
	},
	9: {
		"proxy/record",
	},
	10: {
		"proxy/dedupe",
		"proxy/intake",
	},
	11: {
		"proxy/ownership",
		"proxy/wellknown",
	},
	12: {
		"proxy/inspect",
		"proxy/notifications",
	},
	13: {
		"proxy/forward",
	},
	14: {
		"proxy/authorize",
		"proxy/tasklist",
	},
	15: {
		"proxy/session",
	},
	16: {
		"proxy",
	},
	17: {
		"internal/config",
		"internal/explain",
	},
	18: {
		"internal/configwatch",
		"internal/revocation",
		"internal/snapshot",
	},
	19: {
		"internal/cardtrust",
		"internal/configlint",
		"internal/deliveries",
		"internal/fleet",
		"internal/operator",
	},
	20: {
		"internal/gateway",
	},
	21: {
		"internal/cli/verb",
	},
	22: {
		"internal/cli/adminapi",
		"internal/cli/findcard",
		"internal/cli/keyscmd",
		"internal/cli/policycmd",
		"internal/cli/servecmd",
	},
	23: {
		"internal/cli/auditcmd",
		"internal/cli/cardcmd",
		"internal/cli/democmd",
		"internal/cli/operate",
		"internal/cli/validatecmd",
	},
	24: {
		"internal/cli/initfile",
	},
	25: {
		"internal/cli",
	},
	26: {
		"cmd/a2a-gateway",
	},
}

// testOnly packages are imported by test files and by each other.
var testOnly = []string{"internal/gatewaytest", "authn/authntest", "internal/figures", "internal/testenv", "internal/state/statetest", "internal/jws/jwstest", "internal/sse/ssetest", "internal/wire/wiretest", "bench", "interop", "e2e", "deploy/sbom", "deploy/notices", "deploy/check"}

// sdk is what only these may import: a proxy must not squeeze traffic through
// somebody's structs, which drop what they do not know.
const sdk = "github.com/a2aproject/a2a-go"

// sdkMessages are the messages that gRPC is read by. Whatever they drop is dropped
// on the way to another version or binding only: the bytes themselves go on.
var sdkMessages = map[string][]string{
	sdk + "/a2apb":       {"internal/wire", "internal/wire/translate"},
	sdk + "/v2/a2apb/v1": {"internal/wire", "internal/wire/translate"},
}

func floorOf(pkg string) int {
	for i, floor := range floors {
		if slices.Contains(floor, pkg) {
			return i
		}
	}
	return -1
}

func isTestOnly(pkg string) bool {
	return slices.ContainsFunc(testOnly, func(t string) bool { return pkg == t || strings.HasPrefix(pkg, t+"/") })
}

func TestLayers(t *testing.T) {
	t.Parallel()
	checked := 0
	forEachFile(t, func(path string, file *ast.File) {
		pkg := filepath.ToSlash(filepath.Dir(path))
		if strings.HasSuffix(path, "_test.go") || isTestOnly(pkg) {
			return
		}
		floor := floorOf(pkg)
		if floor < 0 {
			t.Errorf("%s: package %s has no floor", path, pkg)
			return
		}
		for _, spec := range file.Imports {
			checked++
			checkImport(t, path, pkg, floor, unquote(t, spec.Path.Value))
		}
	})
	if checked < 100 {
		t.Fatalf("only %d imports were checked: is the test looking in the right place?", checked)
	}
}

func checkImport(t *testing.T, path, pkg string, floor int, imported string) {
	t.Helper()
	if strings.HasPrefix(imported, sdk) && pkg != "internal/demo" && !slices.Contains(sdkMessages[imported], pkg) {
		t.Errorf("%s imports %s, which belongs to tests and internal/demo", path, imported)
	}
	target, ours := strings.CutPrefix(imported, module+"/")
	if !ours {
		return
	}
	if isTestOnly(target) {
		t.Errorf("%s imports %s, which is for tests", path, target)
		return
	}
	if pkg == "internal/demo" {
		t.Errorf("%s imports %s; internal/demo imports nothing of ours", path, target)
	}
	if to := floorOf(target); to < 0 || to >= floor {
		t.Errorf("%s (floor %d) imports %s (floor %d)", path, floor, target, to)
	}
}

// TestPackageDocs makes sure that every package says once what it is.
func TestPackageDocs(t *testing.T) {
	t.Parallel()
	docs := map[string]int{}
	forEachFile(t, func(path string, file *ast.File) {
		if strings.HasSuffix(path, "_test.go") {
			return
		}
		pkg := filepath.ToSlash(filepath.Dir(path))
		docs[pkg] += 0
		if file.Doc != nil && strings.TrimSpace(file.Doc.Text()) != "" {
			docs[pkg]++
		}
	})
	for pkg, n := range docs {
		if n != 1 {
			t.Errorf("package %s has %d package docs, want exactly one", pkg, n)
		}
	}
}

func forEachFile(t *testing.T, f func(path string, file *ast.File)) {
	t.Helper()
	set := token.NewFileSet()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if skipped(path) {
				return fs.SkipDir
			}
			return nil
		}
		if filepath.Ext(path) != ".go" || filepath.Dir(path) == "." {
			return nil
		}
		file, err := parser.ParseFile(set, path, nil, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		f(path, file)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// skipped leaves out what git ignores, other modules and test data.
func skipped(path string) bool {
	switch filepath.Base(path) {
	case ".git", "node_modules", "testdata", "dist", "bin":
		return true
	}
	if strings.HasPrefix(filepath.Base(path), ".venv") {
		return true
	}
	_, err := os.Stat(filepath.Join(path, "go.mod"))
	return path != "." && err == nil
}

func unquote(t *testing.T, s string) string {
	t.Helper()
	u, err := strconv.Unquote(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
