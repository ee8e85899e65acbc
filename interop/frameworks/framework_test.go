package frameworks_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// framework is one that has a directory here.
type framework struct {
	id      string // its directory
	name    string // the package that its version is of
	shown   string // the file that the page shows in place of its agent's program, if any
	page    string // in docs/integrations, without .md
	speaks  string // the version of its agent's interface, "1.0", "0.3" or "0.1"; empty without an agent
	set     string // members of its agent's entry in the gateway's configuration; see settings
	agents  string // the same of the agents that its client calls
	card    string // the path of its agent's card, where that is not the well-known one
	program program
	// endpoint is where its agent takes JSON-RPC, where that is not what its card says, and methods
	// is where it takes those that it takes elsewhere, by their names in 1.0.
	endpoint string
	methods  map[string]string
	// calls is the version of the agents that its client can call, empty without a client.
	calls string
	// needs is what one has to set for its client, for the table.
	needs string
	// agentNotes and clientNotes are why a step is not what it should be, by "step" where it
	// is so directly too, by "step through" where it is only behind the gateway, and by
	// "step from 0.3" or "step to 1.0" where it is only between versions; without a step, all
	// of them are so.
	agentNotes, clientNotes map[string]string
}

// program is how its programs are run, in its directory.
type program struct {
	agent, client []string
	lock          string // the file that pins versions
	installed     string // the copy of it that says that all is installed
}

// python runs programs in an environment that setup made.
func python() program {
	bin := ".venv/bin/python"
	return program{
		agent: []string{bin, "agent.py"}, client: []string{bin, "client.py"},
		lock: "requirements.txt", installed: ".venv/.installed",
	}
}

// pythonOf is the same for programs of another directory, which run with this one's packages.
func pythonOf(directory string) program {
	p := python()
	for _, words := range [][]string{p.agent, p.client} {
		words[1] = "../" + directory + "/" + words[1]
	}
	return p
}

// javaScript runs programs on Node, with what npm installed.
func javaScript() program {
	return program{
		agent: []string{"node", "agent.mjs"}, client: []string{"node", "client.mjs"},
		lock: "package-lock.json", installed: "node_modules/.installed",
	}
}

// rust runs a client that Cargo built. The last word names its text.
func rust() program {
	words := []string{"target/debug/client", "src/main.rs"}
	return program{agent: words, client: words, lock: "Cargo.lock", installed: "target/.installed"}
}

// java runs a client that Maven built. The last word names its text.
func java() program {
	words := []string{"java", "-cp", "target/classes:target/lib/*", "frameworks.Client", "src/main/java/frameworks/Client.java"}
	return program{agent: words, client: words, lock: "pom.xml", installed: "target/.installed"}
}

// pin is how the locks of pip, npm, Cargo and Maven say the version of a package.
const pin = `(?m)^\s*(?:name = |<artifactId>)?"?%s"?(?:\[[^]]*\])?(?:==|: "|\nversion = "|</artifactId>\s*<version>)([^\s"<]+)`

// version is what the lock pins.
func (f framework) version(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(f.id, f.program.lock))
	if err != nil {
		t.Fatal(err)
	}
	pinned := regexp.MustCompile(fmt.Sprintf(pin, regexp.QuoteMeta(f.name))).FindSubmatch(text)
	if pinned == nil {
		t.Fatalf("%s pins no %s", filepath.Join(f.id, f.program.lock), f.name)
	}
	return string(pinned[1])
}

// lacks is what has to be installed before it can run, empty if nothing.
func (f framework) lacks() string {
	lock, err := os.ReadFile(filepath.Join(f.id, f.program.lock))
	if err != nil {
		return f.program.lock
	}
	if installed, err := os.ReadFile(filepath.Join(f.id, f.program.installed)); err != nil || string(installed) != string(lock) {
		return f.program.installed
	}
	return ""
}

// command runs one of its programs in its directory.
func (f framework) command(words []string, env ...string) *exec.Cmd {
	if strings.Contains(words[0], "/") {
		words = append([]string{"./" + words[0]}, words[1:]...)
	}
	cmd := exec.Command(words[0], words[1:]...) //nolint:noctx // ended by its standard input
	cmd.Dir = f.id
	cmd.Env = append(append(os.Environ(), "PYTHONPATH=.."), env...)
	return cmd
}

const wellKnown = "/.well-known/agent-card.json"

// cardPath is where its agent's card is below its base.
func (f framework) cardPath() string {
	if f.card != "" {
		return f.card
	}
	return wellKnown
}

// origin is where an agent is in settings as its page shows them.
var origin = regexp.MustCompile(`http://127\.0\.0\.1:[0-9]+`)

// settings are the members of its agent's entry in the gateway's configuration, for an agent at
// that address.
func (f framework) settings(url string) string {
	return origin.ReplaceAllLiteralString(f.set, strings.TrimSuffix(url, "/"))
}

// otherVersion is the version between which and another one calls are tried too.
func otherVersion(version string) string {
	if version == "1.0" {
		return "0.3"
	}
	return "1.0"
}
