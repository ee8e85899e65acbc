package toolname_test

import (
	"fmt"

	"github.com/a2a-gateway/a2a-gateway/internal/mcpserver/toolname"
)

func ExampleOf() {
	fmt.Println(toolname.Of("billing", "refund"))
	fmt.Println(toolname.Of("billing", "refund/partial"))
	// Output:
	// billing__refund
	// billing__refund-partial--mmj2x2d5ue
}
