package proxy

import (
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/wire/translate"
)

// scripts are what runtimes of JavaScript call themselves in User-Agent: Node's
// fetch and grpc-js, Deno, Bun, and browsers.
var scripts = []string{"node", "undici", "deno", "bun/", "mozilla/"}

// callerBytes is the same of the caller.
func (x *fromClient) callerBytes() translate.Bytes {
	agent := strings.ToLower(x.r.UserAgent())
	for _, name := range scripts {
		if strings.Contains(agent, name) {
			return translate.Plain
		}
	}
	return translate.Doubled
}
