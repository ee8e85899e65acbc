// Package house_test holds what is true of the whole tree.
package house_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
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
	{ // 0
		"audit/chain",
		"audit/vault",
		"card/lint",
		"internal/breaker",
		"internal/cli/progress",
		"internal/console/openapi",
		"internal/demo",
		"internal/durable",
		"internal/feature",
		"internal/grpcframe",
		"internal/hostname",
		"internal/jsonscan",
		"internal/jws",
		"internal/keypath",
		"internal/mcpserver/toolname",
		"internal/netpoll",
		"internal/pattern",
		"internal/quantity",
		"internal/secret",
		"internal/server/clientip",
		"internal/server/flood",
		"internal/server/httpfield",
		"internal/server/sockets",
		"internal/server/strict",
		"internal/server/wrapped",
		"internal/share",
		"internal/spelling",
		"internal/sse",
		"internal/wire/mediatype",
		"internal/wire/taskstate",
		"internal/wire/transcode",
		"internal/yamlerror",
		"proxy/approvals/standing",
		"proxy/buffers",
		"proxy/stream/ending",
		"proxy/stream/grammar",
		"telemetry/history",
	},
	{ // 1
		"audit/segment",
		"authn/credential",
		"authn/failures",
		"ext/schema",
		"internal/console/login",
		"internal/detect",
		"internal/egress",
		"internal/keys",
		"internal/overload",
		"internal/server/cors",
		"internal/server/http1",
		"internal/server/http2",
		"internal/server/mcp",
		"internal/state",
		"internal/tcpio",
		"internal/tunnel",
		"internal/wire",
		"internal/wire/fold",
		"policy/approval",
		"policy/netset",
		"policy/window",
		"proxy/catalog",
		"proxy/stream/agentevents",
		"proxy/upstream/discovery",
	},
	{ // 2
		"audit/ocsf",
		"audit/reader",
		"audit/redact",
		"authn",
		"card/signature",
		"ext/hook",
		"internal/cli/verb",
		"internal/console/api",
		"internal/grpcsystem",
		"internal/server/screen",
		"internal/state/observed",
		"internal/state/redis",
		"internal/state/sqlite",
		"internal/wire/authdemand",
		"internal/wire/failure",
		"internal/wire/message",
		"internal/wire/pushconfig",
		"internal/wire/taskpage",
		"internal/wire/translate",
		"policy/content",
		"policy/expr",
		"proxy/agents/interfaces",
		"proxy/approvals",
		"proxy/stream",
		"proxy/upstream/http1",
		"telemetry/metrics",
	},
	{ // 3
		"audit/kafka",
		"audit/otlp",
		"audit/postgres",
		"authn/apikey",
		"authn/clientcert",
		"authn/dpop",
		"card/trust",
		"ext",
		"internal/cli/arguments",
		"internal/console/apikeys",
		"internal/console/approvals",
		"internal/console/health",
		"internal/console/identities",
		"internal/console/process",
		"internal/console/replicas",
		"internal/console/viewer",
		"internal/refusal",
		"internal/server",
		"internal/state/shared",
		"policy",
		"policy/files",
		"policy/guard/service",
		"policy/ledger",
		"policy/limits",
		"policy/pdp",
		"proxy/push",
		"proxy/stream/relay",
		"proxy/upstream/credentials",
		"telemetry",
	},
	{ // 4
		"audit",
		"audit/index",
		"authn/jwt",
		"card",
		"ext/content",
		"ext/provided",
		"internal/console/deliveries",
		"internal/console/extensions",
		"internal/console/streams",
		"internal/console/trials",
		"internal/server/acme",
		"internal/status",
		"internal/verdict",
		"policy/guard",
		"proxy/openstreams",
		"proxy/upstream",
		"telemetry/anomaly",
	},
	{ // 5
		"audit/sink",
		"authn/schemes",
		"internal/certificates",
		"internal/consent",
		"internal/cli/findcard",
		"internal/console/cards",
		"internal/console/contents",
		"internal/console/fleet",
		"internal/console/records",
		"proxy/agents",
	},
	{ // 6
		"internal/console/overview",
		"internal/console/rules",
		"proxy/exchange",
	},
	{ // 7
		"internal/console",
		"proxy/admit",
		"proxy/cursors",
		"proxy/negotiate",
		"proxy/webhooks",
	},
	{ // 8
		"internal/config",
		"proxy/record",
	},
	{ // 9
		"internal/cli/adminapi",
		"internal/configwatch",
		"internal/revocation",
		"proxy/dedupe",
		"proxy/intake",
	},
	{ // 10
		"internal/cli/auditcmd",
		"internal/cli/callcmd",
		"internal/cli/cardcmd",
		"internal/cli/keyscmd",
		"internal/cli/operate",
		"proxy/approvers",
		"proxy/ownership",
		"proxy/wellknown",
	},
	{ // 11
		"proxy/approve",
		"proxy/inspect",
		"proxy/notifications",
	},
	{ // 12
		"proxy/authorize",
		"proxy/forward",
	},
	{ // 13
		"proxy/tasklist",
	},
	{ // 14
		"proxy/session",
	},
	{ // 15
		"proxy",
	},
	{ // 16
		"internal/cli/validatecmd",
		"internal/explain",
		"internal/mcpserver",
		"internal/snapshot",
	},
	{ // 17
		"internal/cardtrust",
		"internal/cli/doctorcmd",
		"internal/cli/initfile",
		"internal/cli/policycmd",
		"internal/configlint",
		"internal/deliveries",
		"internal/fleet",
		"internal/operator",
	},
	{ // 18
		"internal/gateway",
	},
	{ // 19
		"internal/cli/servecmd",
	},
	{ // 20
		"internal/cli/democmd",
	},
	{ // 21
		"internal/cli",
	},
	{ // 22
		"cmd/a2a-gateway",
	},
}

// testOnly packages are imported by test files and by each other.
var testOnly = []string{"internal/gatewaytest", "authn/authntest", "audit/postgres/postgrestest", "internal/figures", "internal/testenv", "internal/state/statetest", "internal/jws/jwstest", "internal/sse/ssetest", "internal/wire/wiretest", "proxy/proxytest", "bench", "interop", "e2e", "deploy/sbom", "deploy/notices", "deploy/check"}

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

// addOns are packages and modules that a build of the tag minimal leaves out, because of what they
// weigh: no package that is linked then imports them, not even through another.
var addOns = []string{
	module + "/internal/cli/democmd", module + "/internal/demo", module + "/internal/state/redis",
	sdk + "/a2asrv", sdk + "/v2/a2asrv", sdk + "/v2/a2aclient",
	"github.com/caddyserver/certmagic", "github.com/envoyproxy/go-control-plane", "github.com/jackc/pgx",
	"github.com/mholt/acmez", "github.com/modelcontextprotocol/go-sdk", "github.com/redis/go-redis", "github.com/twmb/franz-go",
	"go.opentelemetry.io/contrib/exporters", "go.opentelemetry.io/otel/exporters", "go.uber.org/zap",
}

// TestMinimal: what addOns lists is in the usual build and not in the minimal one.
func TestMinimal(t *testing.T) {
	t.Parallel()
	full, minimal := linked(t), linked(t, "-tags", "minimal")
	for _, add := range addOns {
		of := func(pkg string) bool { return pkg == add || strings.HasPrefix(pkg, add+"/") }
		if !slices.ContainsFunc(full, of) {
			t.Errorf("nothing imports %s: is it still an add-on?", add)
		}
		if i := slices.IndexFunc(minimal, of); i >= 0 {
			t.Errorf("the minimal build has %s in it: see go list -tags minimal -deps, and internal/feature", minimal[i])
		}
	}
}

// linked lists the packages that the program is linked from, built with some flags.
func linked(t *testing.T, flags ...string) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", append(append([]string{"list", "-deps"}, flags...), "./cmd/a2a-gateway")...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(out))
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

// modules are those of the product's own code beside the one at the root: what is true of the whole
// tree is true of them. MODULES of the Makefile has them too.
var modules = []string{"bench", "e2e", "interop"}

// skipped leaves out what git ignores, modules of programs that tests run, and test data.
func skipped(path string) bool {
	switch filepath.Base(path) {
	case ".git", "node_modules", "testdata", "dist", "bin":
		return true
	}
	if strings.HasPrefix(filepath.Base(path), ".venv") {
		return true
	}
	_, err := os.Stat(filepath.Join(path, "go.mod"))
	return path != "." && !slices.Contains(modules, filepath.ToSlash(path)) && err == nil
}

func unquote(t *testing.T, s string) string {
	t.Helper()
	u, err := strconv.Unquote(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
