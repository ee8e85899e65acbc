package interop_test

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// document collects what is found, for docs/interop.md.
type document struct {
	mu    sync.Mutex // guards what follows
	cells []cell
	used  map[int]bool // reasons that explained something
}

// cell is the result of one meeting.
type cell struct {
	meet       meeting
	operations int
	same       int
	reasons    []int
}

func (d *document) add(m meeting, operations int, found []difference) {
	c := cell{meet: m, operations: operations, same: operations - len(found)}
	for _, f := range found {
		c.reasons = append(c.reasons, explain(m, f.operation))
	}
	slices.Sort(c.reasons)
	c.reasons = slices.Compact(c.reasons)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cells = append(d.cells, c)
	if d.used == nil {
		d.used = map[int]bool{}
	}
	for _, r := range c.reasons {
		d.used[r] = true
	}
}

// notes numbers the reasons that were needed.
func (d *document) notes() map[int]int {
	numbers := map[int]int{}
	for i := range reasons {
		if d.used[i] {
			numbers[i] = len(numbers) + 1
		}
	}
	return numbers
}

func (c cell) text(notes map[int]int) string {
	text := fmt.Sprintf("%d of %d", c.same, c.operations)
	var numbers []string
	for _, r := range c.reasons {
		numbers = append(numbers, fmt.Sprint(notes[r]))
	}
	if len(numbers) > 0 {
		text += " (" + strings.Join(numbers, ", ") + ")"
	}
	return text
}

const head = `# Interoperability

This page lists which SDKs and frameworks work through the gateway. ` + "`make interop`" + ` runs the conversations of ` + "`interop/`" + `
between each client and each agent twice, through the gateway and directly, and writes this page.

"19 of 19" means that the client's SDK returned the same both times, apart from ids and times, in all 19 conversations. Where an SDK
fails at something, it failed the same way both times. Numbers in parentheses refer to notes at the end, which explain the
differences. Callers authenticated with a token of a certified OpenID Connect issuer. Over gRPC of 0.3 they used an API key, because
there only the credential says which agent the call is for.

For a task that does not exist, the tests compare only that the call is refused, because the gateway does not ask the agent. They do
the same where the agent of a2a-sdk 0.3 breaks off a stream that it refuses over HTTP+JSON. The Go SDKs have their own matrices in
` + "`internal/gateway`" + `, which also compare the bytes. [versions.md](versions.md) says what is lost between versions.

The tests use the last release of the Java SDK for 0.3; its releases for 1.0 were not available where the tests ran. Version 0.1 has
no SDK, so the project has its own agent and client.
`

const headSame = `
## SDKs of the same version and binding

The gateway passes the bytes on unchanged. Each client is compared with itself, calling the agent directly.

`

const headClients = `
## Clients of every version and binding

The agents use the Go SDK and differ only in version and binding. Each client is compared with itself, calling the agent of
its own version and binding directly. Version 0.1 has no ids for messages and artifacts and does not say which task and context they
belong to, so the tests do not compare these there.

The client of a2a-java-sdk 0.3.3 cannot read null in metadata over HTTP+JSON and gRPC, which artifacts of the Go agents have. Half of
its conversations there fail, in the same way through the gateway and directly.

`

const headAgents = `
## Agents of every version and binding

The callers are clients of the Go SDK. Each is compared with the client of the agent's own version and binding, calling directly. Of
errors the tests compare only that there is one, because the details that this client shows depend on the version and binding.

`

// write writes the page.
func (d *document) write(t *testing.T, path string) {
	t.Helper()
	for i, r := range reasons {
		if !d.used[i] {
			t.Logf("this reason explained nothing: %s", r.why)
		}
	}
	notes := d.notes()
	var page strings.Builder
	page.WriteString(head + frameworks(t, path) + headSame)
	page.WriteString(d.list(notes))
	page.WriteString(headClients + d.table("client", notes, func(c cell) (row, column string, ok bool) {
		m := c.meet
		return m.client.name + ", " + m.client.side.String(), m.agent.side.String(), m.agent.name == goSDK
	}))
	page.WriteString(headAgents + d.table("agent", notes, func(c cell) (row, column string, ok bool) {
		m := c.meet
		return m.agent.name + ", " + m.agent.side.String(), m.client.side.String(), m.client.name == goSDK
	}))
	page.WriteString("\n## Notes\n\n")
	for i, r := range reasons {
		if n := notes[i]; n > 0 {
			fmt.Fprintf(&page, "%d. %s\n", n, r.why)
		}
	}
	if err := os.WriteFile(path, []byte(page.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// frameworks is the section that the tests of package frameworks write.
func frameworks(t *testing.T, path string) string {
	t.Helper()
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(page), "\n## Frameworks\n")
	if !found {
		return ""
	}
	section, _, _ = strings.Cut(section, "\n## ")
	return "\n## Frameworks\n" + section
}

// list has a line for each meeting of the other SDKs on the same side.
func (d *document) list(notes map[int]int) string {
	rows := []string{}
	for _, c := range d.cells {
		if m := c.meet; m.agent.name != goSDK && m.client.name != goSDK {
			rows = append(rows, fmt.Sprintf("| %s | %s | %s | %s |\n", m.agent.side, m.client.name, m.agent.name, c.text(notes)))
		}
	}
	slices.Sort(rows)
	slices.Reverse(rows) // newest protocol first
	return "| side | client | agent | the same |\n| --- | --- | --- | --- |\n" + strings.Join(rows, "")
}

// table has a row for each client or agent, and a column for each side of the
// other end.
func (d *document) table(what string, notes map[int]int, place func(cell) (row, column string, ok bool)) string {
	rows := map[string]map[string]string{}
	for _, c := range d.cells {
		row, column, ok := place(c)
		if !ok {
			continue
		}
		if rows[row] == nil {
			rows[row] = map[string]string{}
		}
		rows[row][column] = c.text(notes)
	}
	var out strings.Builder
	out.WriteString("| " + what + " |")
	for _, s := range sides() {
		out.WriteString(" " + s.String() + " |")
	}
	out.WriteString("\n|" + strings.Repeat(" --- |", len(sides())+1) + "\n")
	for _, row := range slices.SortedFunc(maps.Keys(rows), func(a, b string) int { return cmp.Compare(b, a) }) {
		out.WriteString("| " + row + " |")
		for _, s := range sides() {
			out.WriteString(" " + rows[row][s.String()] + " |")
		}
		out.WriteString("\n")
	}
	return out.String()
}
