package policy

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/authn"
)

var update = flag.Bool("update", false, "rewrite the tables of conditions in docs/policy.md")

// conditionCase tries a condition of rules. The call is onCall's, with an actor.
type conditionCase struct {
	holds, fails, refused func(*Rule)

	failed string // what Trace names, where it is not the key alone
}

// conditionCases are by key.
var conditionCases = map[string]conditionCase{
	"agents":   {holds: agents("billing"), fails: agents("weather"), refused: agents("")},
	"methods":  {holds: calls("SendMessage"), fails: calls("GetTask"), refused: calls("send")},
	"issuers":  {holds: issuers("https://issuer"), fails: issuers("mtls"), refused: issuers("*")},
	"subjects": {holds: subjects("alice"), fails: subjects("bob"), refused: subjects("")},
	"groups":   {holds: groups("staff"), fails: groups("admins"), refused: groups("*")},
	"clients":  {holds: clients("app"), fails: clients("shop"), refused: clients("")},
	"actors":   {holds: acting("planner"), fails: acting("none"), refused: acting("none", "x")},
	"claims":   {holds: claiming("a", "1"), fails: claiming("a", "2"), refused: claiming("a"), failed: "claims.a"},
	"scopes":   {holds: scopes("openid"), fails: scopes("admin"), refused: scopes("*")},
	"skills":   {holds: skills("invoices"), fails: skills("refunds"), refused: skills("")},
	"bindings": {holds: over("JSONRPC"), fails: over("GRPC"), refused: over("HTTP")},
	"sources":  {holds: from("10.0.0.0/8"), fails: from("::1"), refused: from("10.0.0.1/8")},
	"times":    {holds: during(Window{Days: []string{"fri"}}), fails: during(Window{Days: []string{"sat"}}), refused: during(Window{Zone: "x"})},
	"content": {
		holds: containing(Content{Parts: []string{"text"}}), fails: containing(Content{Parts: []string{"data"}}),
		refused: containing(Content{}), failed: "content.parts",
	},
	"authentication": {
		holds: signIn(Authentication{ACR: []string{"silver"}}), fails: signIn(Authentication{ACR: []string{"gold"}}),
		refused: signIn(Authentication{}), failed: "authentication.acr",
	},
	"consent": {
		holds: agreed(Consent{Claim: "ok"}), fails: agreed(Consent{Claim: "no"}),
		refused: agreed(Consent{}), failed: "consent.claim",
	},
	"expr": {holds: where(`agent == "billing"`), fails: where(`agent == "weather"`), refused: where(`agent`)},
}

// where gives a rule an expression.
func where(text string) func(*Rule) { return func(r *Rule) { r.Expr = text } }

// TestConditions counts the places of each condition: a field of Rule with a descriptor of
// the same key, of which nothing is missing, and a case here.
func TestConditions(t *testing.T) {
	t.Parallel()
	var fields, keys []string
	for field := range reflect.TypeFor[Rule]().Fields() {
		switch key := field.Tag.Get("yaml"); key {
		case "name", "effect", "mode", "extensions", "approvers", "advisers", "within", "remember": // are no conditions
		default:
			fields = append(fields, key)
		}
	}
	for _, d := range conditions {
		keys = append(keys, d.key)
		asks := 0
		for _, is := range []bool{d.caller != nil, d.call != nil, d.signIn != nil, d.traced != nil} {
			if is {
				asks++
			}
		}
		if d.holds == "" || d.compile == nil || d.has == nil || d.covers == nil || asks != 1 {
			t.Errorf("the descriptor of %q lacks something, or is asked in %d ways", d.key, asks)
		}
		if (d.signIn != nil) != (d.about == ofSignIn) || (d.obtain != nil) != (d.about == ofSignIn) {
			t.Errorf("%q: what signing in helps has to say how, and nothing else", d.key)
		}
	}
	for _, list := range [][]string{fields, keys} {
		slices.Sort(list)
	}
	if cases := slices.Sorted(maps.Keys(conditionCases)); !slices.Equal(fields, keys) || !slices.Equal(keys, cases) {
		t.Errorf("Rule has the conditions\n%q\nthe descriptors are of\n%q\nand the cases of\n%q", fields, keys, cases)
	}
}

// TestConditionCases puts each condition through all that its descriptor says.
func TestConditionCases(t *testing.T) {
	t.Parallel()
	q := onCall(t)
	q.Principal.Actors = []authn.Actor{{Subject: "planner", Issuer: "https://issuer"}}
	for _, d := range conditions {
		t.Run(d.key, func(t *testing.T) {
			t.Parallel()
			tc := conditionCases[d.key]
			if tc.failed == "" {
				tc.failed = d.key
			}
			s := compile(t, Config{Rules: []Rule{allow("holds", tc.holds), allow("fails", tc.fails), allow("none")}})
			for i, want := range []string{"", tc.failed, ""} {
				step := s.Trace(q)[i]
				if step.Failed != want || step.Obtainable != (want != "" && d.about == ofSignIn) {
					t.Errorf("rule %s: %q does not hold (obtainable: %v), want %q", step.Rule, step.Failed, step.Obtainable, want)
				}
				alone := compile(t, Config{Rules: []Rule{*s.rules[i].source}})
				if _, err := alone.Check(q); (err == nil) != (want == "") {
					t.Errorf("rule %s decides: %v", step.Rule, err)
				}
			}
			holds, fails, none := s.rules[0], s.rules[1], s.rules[2]
			if !d.has(holds) || !d.has(fails) || d.has(none) {
				t.Error("has is wrong about who has it")
			}
			if !holds.covers(holds) || holds.covers(fails) || holds.covers(none) || !none.covers(holds) {
				t.Error("covers is wrong")
			}
			if _, _, err := Compile(Config{Rules: []Rule{allow("r", tc.refused)}}, fleet); err == nil ||
				!strings.Contains(err.Error(), `rule "r": `+strings.TrimSuffix(d.key, "s")) {
				t.Errorf("Compile: %v, want what is wrong with %s", err, d.key)
			}
		})
	}
}

// TestConditionFacts: a rule asks for nothing that records do not have once the conditions
// that ask are taken from it, and keeps the others.
func TestConditionFacts(t *testing.T) {
	t.Parallel()
	every := Facts{true, true, true, true, true, true}
	for _, d := range conditions {
		r := allow("r", conditionCases[d.key].holds)
		lax := r.Without(every)
		if asks := r.Asks(); lax.Asks().Any() || asks.Any() != reflect.DeepEqual(lax, Rule{Name: "r", Effect: "allow"}) {
			t.Errorf("%s asks for %q; without it the rule is %+v", d.key, asks, lax)
		}
		if !reflect.DeepEqual(r, allow("r", conditionCases[d.key].holds)) {
			t.Errorf("%s: Without changed the rule itself", d.key)
		}
	}
	if got := factsOf("principal.claims.x == 1 && now < principal.expires"); got.String() != "claims, expiry of the credential" {
		t.Errorf("facts %s", got)
	}
}

// namesakes are the files about other things that are called as conditions are: policy.skills,
// the entries of tasks.sharing with conditions of their own, and the facts with their words.
var namesakes = map[string]bool{"options.go": true, "sharing.go": true, "lint_sharing.go": true, "facts.go": true}

// TestConditionPlaces: the key of a condition stands in one file of the code.
func TestConditionPlaces(t *testing.T) {
	t.Parallel()
	places := map[string][]string{}
	for _, dir := range []string{".", "../internal/explain"} {
		paths, err := filepath.Glob(dir + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			base := filepath.Base(path)
			if strings.HasSuffix(base, "_test.go") || namesakes[base] {
				continue
			}
			for _, key := range literals(t, path) {
				places[key] = append(places[key], path)
			}
		}
	}
	for _, d := range conditions {
		if list := slices.Compact(places[d.key]); len(list) != 1 {
			t.Errorf("%q stands in %q, want one file", d.key, list)
		}
	}
}

// literals are the strings that the code of a file has.
func literals(t *testing.T, path string) []string {
	t.Helper()
	file, err := parser.ParseFile(gotoken.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == gotoken.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil {
				list = append(list, text)
			}
		}
		return true
	})
	return list
}

// TestConditionsDocument: docs/policy.md lists the conditions as their descriptors say, and
// under Authorization errors by what they are about.
func TestConditionsDocument(t *testing.T) {
	t.Parallel()
	const path = "../docs/policy.md"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const head = "| key | holds if | patterns |\n| --- | --- | --- |\n"
	before, rest, ok := strings.Cut(string(text), head)
	_, after, end := strings.Cut(rest, "\n\n")
	if !ok || !end {
		t.Fatal("there is no table of conditions")
	}
	var rows []string
	about := map[subject][]string{}
	for _, d := range conditions {
		rows = append(rows, strings.ReplaceAll(fmt.Sprintf("| `%s` | %s | %s |", d.key, d.holds, d.patterns), "  |", " |"))
		about[d.about] = append(about[d.about], "`"+d.key+"`")
	}
	want := before + head + strings.Join(rows, "\n") + "\n\n" + after
	for subject, name := range map[subject]string{ofCaller: "caller", ofCall: "call", ofSignIn: "sign-in"} {
		row := regexp.MustCompile(`(?m)^\| on the ` + name + ": [^|]* \\|")
		if !row.MatchString(want) {
			t.Errorf("no row says how conditions on the %s count", name)
		}
		want = row.ReplaceAllLiteralString(want, "| on the "+name+": "+strings.Join(about[subject], ", ")+" |")
	}
	if *update {
		text = []byte(want)
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil || !bytes.Equal(text, []byte(want)) {
		t.Errorf("%s does not list the conditions as they are (%v); run with -update", path, err)
	}
}
