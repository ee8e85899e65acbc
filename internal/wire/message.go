package wire

// Message is what a call brings for the agent to work on, in 1.0's words whatever
// version and binding it came in. It is made for those who judge contents: what goes
// on to the agent are the bytes. It holds no piece of the body, so that it may outlive
// it, and must not be changed.
type Message struct {
	ID               string
	TaskID           string
	ContextID        string
	Role             string // ROLE_USER, ROLE_AGENT; "" for none, and for a word nobody knows
	Parts            []Part
	Metadata         map[string]any // of the message; numbers are float64
	CallMetadata     map[string]any // of the params around it
	Extensions       []string
	ReferenceTaskIDs []string
	OutputModes      []string // configuration.acceptedOutputModes; nil when the call does not say, or says nothing
}

// The kinds of a Part.
const (
	PartText = "text"
	PartFile = "file" // inline, or by URL
	PartData = "data"
)

// Part is one piece of a Message.
//
//	{"text":"hello"}                                    PartText, 5 bytes
//	{"raw":"aGV5","filename":"a.txt"}                   PartFile, 3 bytes
//	{"url":"https://f.example/a.txt"}                   PartFile, with a URL and 0 bytes
//	{"data":{"n":1},"mediaType":"application/json"}     PartData, 7 bytes
type Part struct {
	Kind      string // PartText, PartFile or PartData; "" for one that no version knows
	Text      string
	Data      any    // of PartData; numbers are float64
	URL       string // of a file that is somewhere else
	Name      string // of a file
	MediaType string // as the part says, lower case and without parameters; "" when it does not
	Bytes     int64  // of the text, of the inline file once decoded, of the data's JSON; 0 for a file by URL
	Metadata  map[string]any
}
