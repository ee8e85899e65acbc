package progress_test

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/cobra"

	"github.com/a2a-gateway/a2a-gateway/internal/cli/progress"
)

// TestProgress: a log has a line now and then, what is done soon has none, and --quiet has none either.
func TestProgress(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		args  []string
		steps int // of a second
		want  string
	}{
		{"soon", nil, 5, ""},
		{"long", nil, 26, "5,000 records read\n15,000 records read\n25,000 records read\n"},
		{"quiet", []string{"--quiet"}, 26, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				cmd := &cobra.Command{Use: "x", RunE: func(cmd *cobra.Command, _ []string) error {
					p := progress.New(cmd, "records read")
					defer p.End()
					for i := range tt.steps {
						p.At(i * 1000)
						time.Sleep(time.Second)
					}
					return nil
				}}
				progress.Flag(cmd)
				cmd.SetErr(&out)
				cmd.SetArgs(append([]string{}, tt.args...))
				if err := cmd.Execute(); err != nil {
					t.Fatal(err)
				}
				if out.String() != tt.want {
					t.Errorf("%q, want %q", out.String(), tt.want)
				}
			})
		})
	}
}
