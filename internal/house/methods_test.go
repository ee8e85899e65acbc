package house_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// singledOut are the files of the product that name an operation of A2A, beside the table of
// internal/wire/method.go, and why. What holds for several operations, or only says what one
// is, belongs into the table: a file that is not here may ask it, and name none. Files go by
// their names, in whatever package they are.
var singledOut = map[string]string{
	"approver.go":           "agents are asked about calls by messages of the gateway's own",
	"bindings.go":           "tools of MCP become calls of some operations",
	"call.go":               "likewise",
	"capable.go":            "a subscription needs an agent that streams, a send does not",
	"configs.go":            "likewise",
	"traffic.go":            "the traffic of the demonstration",
	"decoder.go":            "a call of the gateway's own",
	"dialect.go":            "likewise",
	"caller.go":             "the method that is asked about unless another is named",
	"forward.go":            "lists are put together from pages, and subscriptions from what a task is",
	"forwarder.go":          "the webhook of a config that is deleted is forgotten",
	"holder.go":             "tasks that wait for approval are answered here",
	"http.go":               "1.0 has two verbs for a subscription",
	"judgement.go":          "the extended card is refused where the card has none",
	"lint_sharing.go":       "likewise",
	"named.go":              "a list shows what a read would",
	"observe.go":            "the extended card is rewritten",
	"owners.go":             "likewise",
	"params.go":             "two operations stand for each other where a version lacks one",
	"cases.go":              "likewise",
	"probe.go":              "likewise",
	"question.go":           "likewise",
	"received.go":           "likewise",
	"reconnect.go":          "likewise",
	"authrequired_reply.go": "likewise",
	"request.go":            "0.1 has no blocking sends, and no events of a subscription but those to come",
	"resume.go":             "a stream that is asked for again",
	"sharing.go":            "a list shows what a read would",
	"send.go":               "likewise",
	"settle.go":             "only the 0.1 form of a subscription has a historyLength",
	"authorizer.go":         "likewise",
	"timestamp.go":          "a subscription shows what was made before",
	"token_answer.go":       "what a token is tried with",
	"traceability.go":       "likewise",
	"unstreamed.go":         "likewise",
	"translation.go":        "answers that clients read otherwise",
	"upstreamcall.go":       "the extended card of agents before 0.3",
	"notifications.go":      "a webhook that comes with a message",
	"words.go":              "what a person's client does",
}

// TestMethodsHaveOneTable adds up where operations are named.
func TestMethodsHaveOneTable(t *testing.T) {
	t.Parallel()
	found := make(map[string][]string)
	forEachFile(t, func(path string, _ *ast.File) {
		path = filepath.ToSlash(path)
		if strings.HasSuffix(path, "_test.go") || isTestOnly(filepath.ToSlash(filepath.Dir(path))) || path == "internal/wire/method.go" {
			return
		}
		if names := methodsNamed(t, path); len(names) > 0 {
			found[filepath.Base(path)] = names
		}
	})
	for _, path := range slices.Sorted(maps.Keys(found)) {
		if singledOut[path] == "" {
			t.Errorf("%s names %s: is it something for the table of internal/wire/method.go?", path, strings.Join(found[path], ", "))
		}
	}
	for path := range singledOut {
		if found[path] == nil {
			t.Errorf("%s names no operation any more", path)
		}
	}
}

// constants of package wire for the names of operations.
var methodConstants = map[string]bool{
	"SendMessage": true, "SendStreamingMessage": true, "GetTask": true, "ListTasks": true, "CancelTask": true,
	"SubscribeToTask": true, "GetExtendedAgentCard": true, "CreatePushConfig": true,
}

// methodsNamed lists the operations that a file names, by a constant or in a string that is
// the name and nothing else.
func methodsNamed(t *testing.T, path string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	named := make(map[string]bool)
	all := wire.Named(nil)
	own := file.Name.Name == "wire"
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == "wire" && methodConstants[n.Sel.Name] {
				named[n.Sel.Name] = true
			}
		case *ast.Ident:
			if own && methodConstants[n.Name] {
				named[n.Name] = true
			}
		case *ast.BasicLit:
			if s, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING && all[s] != nil {
				named[s] = true
			}
		}
		return true
	})
	return slices.Sorted(maps.Keys(named))
}

// TestConsoleTriesTheMethodsOfTheTable compares the form for trying calls with the column Try.
func TestConsoleTriesTheMethodsOfTheTable(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("internal/console/ui/src/screens/try.tsx")
	if err != nil {
		t.Fatal(err)
	}
	var quoted []string
	for _, m := range wire.Methods() {
		if m.Try {
			quoted = append(quoted, "'"+m.Name+"'")
		}
	}
	got := regexp.MustCompile(`(?m)^const methods = (.*) as const;$`).FindStringSubmatch(string(text))
	if want := fmt.Sprintf("[%s]", strings.Join(quoted, ", ")); len(got) != 2 || got[1] != want {
		t.Errorf("try.tsx has %q, the table %s", got, want)
	}
}

// TestMethodRows holds the columns of the table to each other.
func TestMethodRows(t *testing.T) {
	t.Parallel()
	for _, m := range wire.Methods() {
		switch {
		case m.Does == 0, m.Writes == (m.Does == wire.Reads):
			t.Errorf("%s does %d, and writes: %t", m.Name, m.Does, m.Writes)
		case m.Push != (m.Subject == wire.OfConfig):
			t.Errorf("%s is about configs: %t and %d", m.Name, m.Push, m.Subject)
		case m.Cancels && m.Subject != wire.OfTask:
			t.Errorf("%s cancels no task", m.Name)
		}
	}
}
