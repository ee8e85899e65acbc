package explain

import (
	"github.com/a2a-gateway/a2a-gateway/ext/content"
	"github.com/a2a-gateway/a2a-gateway/internal/verdict"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/files"
	"github.com/a2a-gateway/a2a-gateway/proxy"
)

// screen holds the files of the message to policy.fileParts.
// Without a message there are no parts to look at, and methods that cannot bring files are left
// out.
func (j *judgement) screen() error {
	rules := j.Agent.files
	if j.Message == nil || !j.call.MayFile || rules.Request() == files.Off {
		return nil
	}
	// The body is the one that decode wrote, so that pointers into it, such as
	// /params/message/parts/0, are those of a JSON-RPC 1.0 request whatever the binding of the
	// call.
	cs, err := wire.ReadCarriers(wire.Side{Version: wire.V10, Binding: wire.JSONRPC}, j.Method, false, j.call.Body, j.Wire)
	if err != nil {
		return err
	}
	// What is not in the map, as with files.Report, is let through and only recorded.
	becomes := map[files.Action]string{files.Refuse: verdict.Refused, files.Strip: "stripped"}[rules.Request()]
	return proxy.ScreenFiles(rules, cs, func(v *content.Violation) {
		f := verdict.FileFault{Pointer: v.Pointer, Fault: string(v.Fault), Text: v.Text, Becomes: "recorded"}
		if v.Enforced {
			f.Becomes = becomes
		}
		j.e.Files = append(j.e.Files, f)
	})
}
