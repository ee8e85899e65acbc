package operate

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/a2a-gateway/a2a-gateway/internal/cli/adminapi"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/arguments"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
	"github.com/a2a-gateway/a2a-gateway/internal/console/deliveries"
)

// PushCommand is `a2a-gateway push`, which internal/cli mounts: the deliveries of webhooks (A2A
// push notifications) that the gateway makes for agents.
func PushCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "push",
		Short: "List, retry and drop push notifications that were not delivered",
		Long: "List, retry and drop push notifications that were not delivered. The command calls the admin API\n" +
			"at admin.address of the configuration, with admin.token or the token in the data directory.",
	}
	a := adminapi.Target{}
	a.Flags(cmd.PersistentFlags())
	cmd.AddCommand(pushList(&a), pushRetry(&a), pushDrop(&a))
	return cmd
}

// listing is what `push list --output json` prints: how many wait and how many were given up, and
// those of the state that was asked for.
type listing struct {
	deliveries.Depth

	Deliveries []deliveries.Delivery `json:"deliveries"`
}

// pushList is `push list`, by GET /api/v1/push and GET /api/v1/push/deliveries. Those that were
// given up are the default, as they are what somebody has to do something about.
func pushList(a *adminapi.Target) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List dead letters, or notifications that wait for delivery",
		Args:  arguments.None,
	}
	dead := cmd.Flags().Bool("dead", false, "dead letters; the default")
	waiting := cmd.Flags().Bool("waiting", false, "notifications that wait for delivery")
	output := cmd.Flags().StringP("output", "o", "text", "`format`: text or json")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		// Both states would need two lists, and nobody who looks for one wants to scroll through
		// the other.
		which := deliveries.Dead
		switch {
		case *dead && *waiting:
			return verb.Usage(errors.New("--dead and --waiting: choose one"))
		case *waiting:
			which = deliveries.Waiting
		}
		api, err := a.Connect(cmd.Context())
		if err != nil {
			return err
		}
		var all listing
		if all.Depth, err = api.Depth(); err != nil {
			return err
		}
		if all.Deliveries, err = api.All(which); err != nil {
			return err
		}
		return verb.Show(cmd.OutOrStdout(), *output, all, func(w io.Writer) {
			tabulate(w, all.Deliveries)
			switch {
			case which == deliveries.Dead && all.Waiting > 0:
				_, _ = fmt.Fprintf(w, "%d more wait for delivery: push list --waiting\n", all.Waiting)
			case which == deliveries.Waiting && all.Dead > 0:
				_, _ = fmt.Fprintf(w, "%d dead letters: push list\n", all.Dead)
			}
		})
	}
	return cmd
}

// tabulate prints a line for each delivery. One whose body was sealed with a key that is gone says
// so beside its latest failure, since no retry will help it.
//
// A retry that is due at once, and a delivery that was given up and is never due, have "-" as DUE.
// Times are in UTC as RFC 3339 writes them; TARGET has no secret of the webhook's URL in it
// (decision 0029).
func tabulate(w io.Writer, all []deliveries.Delivery) {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, "ID\tAGENT\tTASK\tTARGET\tATTEMPTS\tCREATED\tDUE\tLATEST FAILURE")
	for i := range all {
		d := &all[i]
		why := d.Failure
		if d.Sealed {
			why = strings.TrimPrefix(why+"; sealed with a key that is gone", "; ")
		}
		_, _ = fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%d\t%s\t%s\t%s\n", verb.Cell(d.ID), verb.Cell(d.Agent), verb.Cell(d.Task), verb.Cell(d.Target),
			d.Attempts, d.Created.Format(time.RFC3339), verb.Moment(&d.Due, "-"), verb.Cell(why))
	}
	_ = t.Flush()
}

// pushRetry is `push retry`. It puts the deliveries in line and does not wait for them, as a
// receiver may take minutes: the number that it prints is of those in line.
func pushRetry(a *adminapi.Target) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "retry ID… | --all",
		Short: "Retry dead letters",
		Long: "Retry dead letters, as if the gateway had never tried to deliver them. To see whether they arrive,\n" +
			"run `push list --waiting` and `push list`.",
	}
	return each(a, cmd, "retried", func(api *adminapi.Client, id string) error { return api.Retry(id) })
}

// pushDrop is `push drop`. With ids it also drops deliveries that wait; --all are those that were
// given up and no others, so that no flag empties the queue by mistake.
func pushDrop(a *adminapi.Target) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "drop ID… | --all",
		Short: "Drop notifications, or with --all all dead letters",
	}
	return each(a, cmd, "dropped", func(api *adminapi.Client, id string) error { return api.Drop(id) })
}

// each does something with those that the arguments name, or with all that were given up.
// What cannot be done is said, and does not keep it from the rest.
func each(a *adminapi.Target, cmd *cobra.Command, done string, do func(*adminapi.Client, string) error) *cobra.Command {
	all := cmd.Flags().Bool("all", false, "all dead letters")
	cmd.RunE = func(cmd *cobra.Command, ids []string) error {
		if *all == (len(ids) > 0) {
			return verb.Usage(errors.New("name deliveries by their IDs, or all that were given up by --all"))
		}
		api, err := a.Connect(cmd.Context())
		if err != nil {
			return err
		}
		// n were done, and missing were not there. Both are counted so that the last line of the
		// output is true also after an error in the middle.
		n, missing := 0, 0
		one := func(id string) error {
			switch err := do(api, id); {
			case errors.Is(err, adminapi.ErrNoDelivery):
				missing++
				if !*all { // with --all, somebody else was faster
					_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s\n", verb.Cell(id), verb.Printable(err.Error()))
				}
			case err != nil:
				return fmt.Errorf("%s: %w", verb.Cell(id), err)
			default:
				n++
			}
			return nil
		}
		if *all {
			ids, err = api.Dead()
		}
		for i := 0; i < len(ids) && err == nil; i++ {
			err = one(ids[i])
		}
		_, _ = fmt.Fprintf(cmd.OutOrStdout(), "%s %d\n", done, n)
		// An id that was named and is not there is exit code 1: the script that named it is wrong
		// about something. Of --all, some may have gone by themselves meanwhile.
		if err == nil && missing > 0 && !*all {
			err = verb.Failed(fmt.Errorf("%d of %d were not there", missing, len(ids)))
		}
		return err
	}
	return cmd
}
