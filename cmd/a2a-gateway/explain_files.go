package main

import (
	"github.com/a2a-gateway/a2a-gateway/ext/content"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/files"
	"github.com/a2a-gateway/a2a-gateway/proxy"
)

// fileFault is something that is wrong with a file of the message.
type fileFault struct {
	Pointer string `json:"pointer"` // RFC 6901, into the call as one of 1.0 over JSON-RPC
	Fault   string `json:"fault"`   // as in records
	Text    string `json:"text"`
	Becomes string `json:"becomes"` // refused, stripped or recorded
}

func (f *fileFault) String() string { return f.Pointer + ": " + f.Text + " (" + f.Becomes + ")" }

// screen holds the files of the message to policy.fileParts.
func (j *judgement) screen() error {
	rules := j.agent.files
	if j.message == nil || !j.call.MayFile || rules.Request() == files.Off {
		return nil
	}
	cs, err := wire.ReadCarriers(wire.Side{Version: wire.V10, Binding: wire.JSONRPC}, j.method, false, j.call.Body, j.wireLimits())
	if err != nil {
		return err
	}
	becomes := map[files.Action]string{files.Refuse: refused, files.Strip: "stripped"}[rules.Request()]
	return proxy.ScreenFiles(rules, cs, func(v *content.Violation) {
		f := fileFault{v.Pointer, string(v.Fault), v.Text, "recorded"}
		if v.Enforced {
			f.Becomes = becomes
		}
		j.e.Files = append(j.e.Files, f)
	})
}
