package approvers_test

import (
	"testing"

	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

func TestMain(m *testing.M) { proxytest.Main(m) }
