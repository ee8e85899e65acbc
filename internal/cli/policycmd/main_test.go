package policycmd

import (
	"os"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

func TestMain(m *testing.M) {
	testenv.Clear()
	os.Exit(m.Run())
}
