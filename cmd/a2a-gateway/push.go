package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/a2a-gateway/a2a-gateway/internal/console"
)

func pushCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "push",
		Short: "List, retry and drop webhooks that were not delivered",
		Long: "List, retry and drop webhooks that were not delivered. The running gateway is asked, at\n" +
			"admin.address of its configuration, with admin.token or the token in its data directory.",
	}
	a := admin{}
	a.flags(cmd.PersistentFlags())
	cmd.AddCommand(pushList(&a), pushRetry(&a), pushDrop(&a))
	return cmd
}

// listing is what `push list --output json` prints.
type listing struct {
	console.Depth

	Deliveries []console.Delivery `json:"deliveries"`
}

func pushList(a *admin) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List those that were given up, or those that wait",
		Args:  cobra.NoArgs,
	}
	dead := cmd.Flags().Bool("dead", false, "those that were given up; the default")
	waiting := cmd.Flags().Bool("waiting", false, "those that are still to be delivered")
	output := cmd.Flags().StringP("output", "o", "text", "`format`: text or json")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		which := console.Dead
		switch {
		case *dead && *waiting:
			return usage(errors.New("--dead and --waiting: choose one"))
		case *waiting:
			which = console.Waiting
		}
		api, err := a.connect(cmd.Context())
		if err != nil {
			return err
		}
		var all listing
		if all.Depth, err = api.depth(); err != nil {
			return err
		}
		if all.Deliveries, err = api.all(which); err != nil {
			return err
		}
		return show(cmd.OutOrStdout(), *output, all, func(w io.Writer) { tabulate(w, all.Deliveries) })
	}
	return cmd
}

func tabulate(w io.Writer, all []console.Delivery) {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, "ID\tAGENT\tTASK\tTARGET\tATTEMPTS\tCREATED\tDUE\tLATEST FAILURE")
	for i := range all {
		d := &all[i]
		why := d.Failure
		if d.Sealed {
			why = strings.TrimPrefix(why+"; sealed with a key that is gone", "; ")
		}
		_, _ = fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%d\t%s\t%s\t%s\n", cell(d.ID), cell(d.Agent), cell(d.Task), cell(d.Target),
			d.Attempts, d.Created.Format(time.RFC3339), moment(&d.Due, "-"), cell(why))
	}
	_ = t.Flush()
}

func pushRetry(a *admin) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "retry ID… | --all",
		Short: "Try those that were given up again",
		Long: "Try those that were given up again, as if they had never been tried. Whether they arrive is seen\n" +
			"with `push list --waiting` and `push list`.",
	}
	return each(a, cmd, "retried", func(api *adminAPI, id string) error { return api.retry(id) })
}

func pushDrop(a *admin) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "drop ID… | --all",
		Short: "Forget some, or with --all those that were given up",
	}
	return each(a, cmd, "dropped", func(api *adminAPI, id string) error { return api.drop(id) })
}

// each does something with those that the arguments name, or with all that were given up.
// What cannot be done is said, and does not keep it from the rest.
func each(a *admin, cmd *cobra.Command, done string, do func(*adminAPI, string) error) *cobra.Command {
	all := cmd.Flags().Bool("all", false, "all that were given up")
	cmd.RunE = func(cmd *cobra.Command, ids []string) error {
		if *all == (len(ids) > 0) {
			return usage(errors.New("name deliveries by their IDs, or all that were given up by --all"))
		}
		api, err := a.connect(cmd.Context())
		if err != nil {
			return err
		}
		n, missing := 0, 0
		one := func(id string) error {
			switch err := do(api, id); {
			case errors.Is(err, errNoDelivery):
				missing++
				if !*all { // with --all, somebody else was faster
					_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s\n", cell(id), printable(err.Error()))
				}
			case err != nil:
				return fmt.Errorf("%s: %w", cell(id), err)
			default:
				n++
			}
			return nil
		}
		if *all {
			ids, err = api.dead()
		}
		for i := 0; i < len(ids) && err == nil; i++ {
			err = one(ids[i])
		}
		_, _ = fmt.Fprintf(cmd.OutOrStdout(), "%s %d\n", done, n)
		if err == nil && missing > 0 && !*all {
			err = failed(fmt.Errorf("%d of %d were not there", missing, len(ids)))
		}
		return err
	}
	return cmd
}
