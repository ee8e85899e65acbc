package message

import (
	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// What the members of messages and their parts mean. Zero is for a name that is in no table.
const (
	fieldMessage jsonscan.Field = 1 + iota
	fieldConfiguration
	fieldMetadata
	fieldParts
	fieldOpaque // skipped, but its name must not be imitated
	fieldRole
	fieldModes
	fieldKind // "kind" of 0.2 and 0.3, "type" of 0.1
	fieldText
	fieldData
	fieldFile
	fieldBytes // of a file: inline, in base64
	fieldURL
	fieldFileName
	fieldMediaType
)

var (
	argumentMembers = map[string]jsonscan.Field{
		"message": fieldMessage, "configuration": fieldConfiguration, "metadata": fieldMetadata,
	}
	argumentNames = wire.NewNames(wire.InvalidParams, argumentMembers)
	// Clients of 0.1 were written after samples that have this in the params.
	argumentNames01 = wire.NewNames(wire.InvalidParams, argumentMembers, map[string]jsonscan.Field{"acceptedOutputModes": fieldModes})
	// ProtoJSON of 0.3, whose proto calls the message "request".
	argumentNames03 = wire.NewNames(wire.InvalidParams, argumentMembers, map[string]jsonscan.Field{"request": fieldMessage})

	settingNames = wire.NewNames(wire.InvalidParams, map[string]jsonscan.Field{"acceptedOutputModes": fieldModes})

	bodyNames = wire.NewNames(wire.InvalidParams, map[string]jsonscan.Field{
		"role": fieldRole, "parts": fieldParts, "content": fieldParts, "metadata": fieldMetadata,
	})

	// partMembers are those that parts have in every version.
	partMembers = map[string]jsonscan.Field{
		"kind": fieldKind, "type": fieldKind, "text": fieldText, "data": fieldData, "metadata": fieldMetadata,
	}
	partNames10 = wire.NewNames(wire.InvalidParams, partMembers, strangers(olderMembers), map[string]jsonscan.Field{
		"raw": fieldBytes, "url": fieldURL, "filename": fieldFileName, "mediaType": fieldMediaType,
	})
	partNames = wire.NewNames(wire.InvalidParams, partMembers, olderMembers, strangers(map[string]jsonscan.Field{
		"raw": fieldBytes, "url": fieldURL, "filename": fieldFileName, "mediaType": fieldMediaType,
	}))
	olderMembers = map[string]jsonscan.Field{"file": fieldFile}

	fileMembers      = map[string]jsonscan.Field{"name": fieldFileName, "mimeType": fieldMediaType}
	rpcFileMembers   = map[string]jsonscan.Field{"bytes": fieldBytes, "uri": fieldURL}
	protoFileMembers = map[string]jsonscan.Field{"fileWithBytes": fieldBytes, "fileWithUri": fieldURL}
	fileNames        = wire.NewNames(wire.InvalidParams, fileMembers, rpcFileMembers, strangers(protoFileMembers))
	fileNames03      = wire.NewNames(wire.InvalidParams, fileMembers, protoFileMembers, strangers(rpcFileMembers)) // ProtoJSON
)

// strangers are members that mean something in another version: to some agents, which
// read older forms as well, perhaps in this one too.
//
//	{"text":"hi","raw":"aGV5"}   in 0.3: text to an agent that knows 0.3, perhaps a file to one of 1.0
func strangers(of map[string]jsonscan.Field) map[string]jsonscan.Field {
	all := make(map[string]jsonscan.Field, len(of))
	for name := range of {
		all[name] = fieldOpaque
	}
	return all
}

// argumentTable is how the params of a call with a message are read.
func (r *messageReader) argumentTable() *wire.Names {
	switch {
	case r.call.Version == wire.V01:
		return argumentNames01
	case r.proto03():
		return argumentNames03
	}
	return argumentNames
}

// partTable is how a part is read. In 1.0 the file's members are the part's own; before, they stand in
// its member file.
//
//	0.3   {"kind":"file","file":{"name":"a.txt","bytes":"aGV5"}}
//	1.0   {"raw":"aGV5","filename":"a.txt"}
func (r *messageReader) partTable() *wire.Names {
	if r.call.Version == wire.V10 {
		return partNames10
	}
	return partNames
}

// fileTable is how the object is read that is a file before 1.0.
//
//	0.3 JSON-RPC   {"bytes":"aGV5"} or {"uri":"https://f.example/a"}
//	0.3 ProtoJSON  {"fileWithBytes":"…"} or {"fileWithUri":"https://f.example/a"}
func (r *messageReader) fileTable() *wire.Names {
	if r.proto03() {
		return fileNames03
	}
	return fileNames
}

// proto03 reports whether the document is ProtoJSON of 0.3.
func (r *messageReader) proto03() bool {
	return r.call.Version == wire.V03 && r.call.Binding != wire.JSONRPC
}
