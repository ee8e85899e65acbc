package lint

// What the tests beside the package expect; others show kinds and compare none but Long.
const (
	Instruction = kindInstruction
	Invisible   = kindInvisible
	Lookalike   = kindLookalike
	Markup      = kindMarkup
	Blob        = kindBlob
	MaxFindings = maxFindings
)
