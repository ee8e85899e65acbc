package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tree of files: a configuration with policy.files, and what it names.
const ruledHead = `server: {address: "127.0.0.1:8080", publicURL: "http://localhost:8080"}
authn: {anonymous: true}
agents:
  - {id: billing, card: "http://127.0.0.1:9001/card"}
`

// ruled writes files below a new directory, "config.yaml" behind the head, and returns it.
func ruled(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if name == "config.yaml" {
			text = ruledHead + text
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func allow(names ...string) string {
	text := "rules:\n"
	for _, name := range names {
		text += "  - {name: " + name + ", effect: allow, agents: [billing]}\n"
	}
	return text
}

func TestRuleFiles(t *testing.T) {
	t.Parallel()
	dir := ruled(t, map[string]string{
		"config.yaml": "policy:\n  files: [last.yaml, 'rules.d/*.yaml', 'teams/*/r?.yaml', 'none/*.yaml', rules.d/b.yaml]\n" +
			"  rules: [{name: own, effect: deny, subjects: [x]}]\n",
		"last.yaml": allow("last"), "rules.d/b.yaml": allow("b1", "b2"), "rules.d/a.yaml": allow("a"),
		"rules.d/.hidden.yaml": "bad", "rules.d/c.yml": "bad", "rules.d/d.yaml/x": "a directory",
		"teams/t/r1.yaml": allow("t"), "teams/s/r1.yaml": "rules: [{name: \"${USER_OF_TEST:-s}\", effect: allow}]\n",
		"teams/s/r10.yaml": "bad",
	})
	c, err := Load(filepath.Join(dir, "config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range c.Policy.Rules {
		names = append(names, r.Name)
	}
	if diff := cmp.Diff([]string{"own", "last", "a", "b1", "b2", "s", "t"}, names); diff != "" {
		t.Errorf("rules (-want +got)\n%s", diff)
	}
	if warnings, err := c.Check(); err != nil {
		t.Error(err, warnings)
	}
}

// TestRuleFileDefects: what is wrong in a file with rules is said with its place.
func TestRuleFileDefects(t *testing.T) {
	t.Parallel()
	const main = "policy:\n  files: [\"r/*.yaml\"]\n  rules: [{name: own, effect: allow}]\n"
	for name, tt := range map[string]struct {
		files map[string]string
		want  string // DIR stands for the directory
	}{
		"no file":           {map[string]string{"config.yaml": "policy: {files: [a.yaml]}\n"}, `DIR/config.yaml:5:18: policy.files[0]: there is no file "a.yaml"; a pattern with a * may name none`},
		"no pattern":        {map[string]string{"config.yaml": "policy: {files: [\"r/*\", \"[*\"]}\n"}, `DIR/config.yaml:5:25: policy.files[1]: "[*" is no pattern for files: syntax error in pattern`},
		"empty pattern":     {map[string]string{"config.yaml": "policy: {files: [\"\"]}\n"}, `DIR/config.yaml:5:18: policy.files[0]: "" is no pattern for files: syntax error in pattern`},
		"itself":            {map[string]string{"config.yaml": "policy: {files: [\"*.yaml\"]}\n"}, `DIR/config.yaml:5:18: policy.files[0]: "*.yaml" names this file too; files with rules have one key, rules`},
		"an empty file":     {map[string]string{"config.yaml": main, "r/a.yaml": ""}, `DIR/r/a.yaml:1:1: the file is empty`},
		"no rules":          {map[string]string{"config.yaml": main, "r/a.yaml": "{}\n"}, `DIR/r/a.yaml:1:1: want the key rules, with a list of rules`},
		"another key":       {map[string]string{"config.yaml": main, "r/a.yaml": "rules: []\ndefault: allow\n"}, `DIR/r/a.yaml:2:1: unknown key "default"`},
		"rules without any": {map[string]string{"config.yaml": main, "r/a.yaml": "rules:\n"}, `DIR/r/a.yaml:1:7: rules: has no value; write a list, or leave the key out`},
		"condition without a value": {
			map[string]string{"config.yaml": main, "r/a.yaml": "rules:\n  - name: a\n    effect: allow\n    content:\n"},
			`DIR/r/a.yaml:4:13: rules[0].content: has no value; write a mapping, or leave the key out`,
		},
		"unknown key": {
			map[string]string{"config.yaml": main, "r/a.yaml": "rules:\n  - {name: a, effect: allow, skill: [x]}\n"},
			`DIR/r/a.yaml:2:30: rules[0]: unknown key "skill", did you mean "skills"?`,
		},
		"no variable": {
			map[string]string{"config.yaml": main, "r/a.yaml": "rules:\n  - name: \"${NO_SUCH_VARIABLE_HERE}\"\n"},
			`DIR/r/a.yaml:2:11: environment variable NO_SUCH_VARIABLE_HERE is not set`,
		},
		"a rule that cannot be": {
			map[string]string{"config.yaml": main, "r/a.yaml": allow("a"), "r/b.yaml": "rules:\n  - {name: b, effect: allow}\n  - {name: c, effect: maybe}\n"},
			`DIR/r/b.yaml:3:23: rule "c": effect is "maybe"`,
		},
		"a rule without a name": {
			map[string]string{"config.yaml": main, "r/a.yaml": allow("a"), "r/b.yaml": "rules:\n  - {name: b, effect: allow}\n  - {effect: allow}\n"},
			`DIR/r/b.yaml:3:5: rule 2: `,
		},
		"an unknown agent": {
			map[string]string{"config.yaml": main, "r/a.yaml": "rules:\n  - {name: a, effect: allow, agents: [other]}\n"},
			`DIR/r/a.yaml:2:39: rule "a": `,
		},
		"a blocked extension": {
			map[string]string{
				"config.yaml": main + "extensions: [{uri: \"urn:x\", status: blocked}]\n", "r/a.yaml": allow("a"),
				"r/b.yaml": "rules:\n  - {name: b, extensions: {inject: [\"urn:x\"]}}\n",
			},
			`DIR/r/b.yaml:2:37: rules[0].extensions.inject: extension "urn:x" is blocked by the registry`,
		},
		"a skill that no agent has": {
			map[string]string{
				"config.yaml": strings.Replace(main, "policy:", "  - {id: other, card: \"http://127.0.0.1:9/card\", skills: [{id: s}]}\npolicy:", 1),
				"r/a.yaml":    allow("a"), "r/b.yaml": "rules:\n  - {name: b, effect: allow, agents: [other], skills: [t]}\n",
			},
			`DIR/r/b.yaml:2:55: rules[0].skills: `,
		},
		"one name in two files": {
			map[string]string{"config.yaml": main, "r/a.yaml": allow("a"), "r/b.yaml": allow("b", "a")},
			`DIR/r/b.yaml:3:12: rules[1].name: another rule has the same name "a", at DIR/r/a.yaml:2:12`,
		},
		"one name here and there": {
			map[string]string{"config.yaml": main, "r/a.yaml": allow("own")},
			`DIR/r/a.yaml:2:12: rules[0].name: another rule has the same name "own", at DIR/config.yaml:7:18`,
		},
		"one name twice": {
			map[string]string{"config.yaml": main, "r/a.yaml": allow("a", "a")},
			`DIR/r/a.yaml:3:5: rule "a": another rule has the same name`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := ruled(t, tt.files)
			_, err := Load(filepath.Join(dir, "config.yaml"))
			if err == nil {
				t.Fatal("accepted")
			}
			if got := strings.ReplaceAll(err.Error(), dir, "DIR"); !strings.HasPrefix(got, tt.want) {
				t.Errorf("says %q, want %q", got, tt.want)
			}
		})
	}
}

func TestRuleFileTooLarge(t *testing.T) {
	t.Parallel()
	dir := ruled(t, map[string]string{"config.yaml": "policy: {files: [big.yaml]}\n", "big.yaml": strings.Repeat("#", sizeLimit+1)})
	if _, err := Load(filepath.Join(dir, "config.yaml")); err == nil || !strings.Contains(err.Error(), "big.yaml: larger than") {
		t.Error(err)
	}
}

// TestSources: what would be loaded has another sum whenever it is something else.
func TestSources(t *testing.T) {
	t.Parallel()
	dir := ruled(t, map[string]string{"config.yaml": "policy: {files: [own.yaml, 'r/*/x*.yaml']}\n", "own.yaml": allow("own"), "r/a/x1.yaml": allow("a")})
	path := filepath.Join(dir, "config.yaml")
	s := NewSources(path)
	seen := map[[32]byte]string{}
	look := func(what string, valid bool) {
		t.Helper()
		sum, ok := s.Sum()
		if was, twice := seen[sum]; twice || !ok {
			t.Errorf("%s: sum %x, %t, as of %q", what, sum, ok, was)
		}
		seen[sum] = what
		c, err := Load(path)
		if (err == nil) != valid || err == nil && c.Sum != sum {
			t.Errorf("%s: %v, loaded %v", what, err, c)
		}
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	look("first", true)
	if diff := cmp.Diff([]string{dir, filepath.Join(dir, "r/a"), filepath.Join(dir, "r")}, s.Dirs()); diff != "" {
		t.Errorf("directories (-want +got)\n%s", diff)
	}
	write("r/a/x1.yaml", allow("b"))
	look("changed", true)
	write("r/a/x2.yaml", allow("c"))
	look("added", true)
	if err := os.Rename(filepath.Join(dir, "r/a/x2.yaml"), filepath.Join(dir, "r/a/x3.yaml")); err != nil {
		t.Fatal(err)
	}
	look("renamed", true)
	write("own.yaml", "bad")
	look("broken", false)
	if err := os.Remove(filepath.Join(dir, "own.yaml")); err != nil {
		t.Fatal(err)
	}
	look("removed", false)
	write("config.yaml", ruledHead+"policy: {default: allow}\n")
	look("without files", true)
	if diff := cmp.Diff([]string{dir}, s.Dirs()); diff != "" {
		t.Errorf("directories (-want +got)\n%s", diff)
	}
	write("config.yaml", "")
	if _, ok := s.Sum(); ok {
		t.Error("an empty file has a sum")
	}
}
