package operate

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"text/tabwriter"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"github.com/a2a-gateway/a2a-gateway/internal/cli/adminapi"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/arguments"
	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
	"github.com/a2a-gateway/a2a-gateway/internal/console/streams"
	"github.com/a2a-gateway/a2a-gateway/internal/sse"
)

// streamsPath is the collection of open streams in the admin API; one is at /api/v1/streams/{id}.
const streamsPath = "/api/v1/streams"

// StreamsCommand is `a2a-gateway streams`, which internal/cli mounts.
func StreamsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "streams",
		Short: "List, watch and end the open event streams of a running gateway",
		Long: "List, watch and end the open event streams of a running gateway. The command calls the admin API\n" +
			"at admin.address of the configuration, with admin.token or the token in the data directory.\n" +
			"The gateway records who watches or ends a stream.",
	}
	a := adminapi.Target{}
	a.Flags(cmd.PersistentFlags())
	cmd.AddCommand(streamsList(&a), streamsWatch(&a), streamsEnd(&a))
	return cmd
}

// streamsList is `streams list`, by GET /api/v1/streams, page by page. JSON has the same members as the API, in
// one page.
func streamsList(a *adminapi.Target) *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List open streams, the oldest first", Args: arguments.None}
	filters := map[string]*string{}
	for name, text := range map[string]string{
		"caller": "only streams of this `subject`; a * stands for any characters here and in the other filters",
		"agent":  "only streams of this agent's `id`",
		"task":   "only streams of this task's `id`",
	} {
		filters[name] = cmd.Flags().String(name, "", text)
	}
	output := cmd.Flags().StringP("output", "o", "text", "`format`: text or json")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		api, err := a.Connect(cmd.Context())
		if err != nil {
			return err
		}
		query := url.Values{}
		for name, value := range filters {
			if cmd.Flags().Changed(name) {
				query.Set(name, *value)
			}
		}
		path := streamsPath
		if len(query) > 0 {
			path += "?" + query.Encode()
		}
		all := streams.OpenStreams{Streams: []streams.OpenStream{}}
		for cursor := ""; ; {
			var page streams.OpenStreams
			if err := api.Do(http.MethodGet, adminapi.PagePath(path, cursor), &page); err != nil {
				return err
			}
			all.Open, all.Found = page.Open, page.Found
			all.Streams = append(all.Streams, page.Streams...)
			if cursor = page.Next; cursor == "" {
				break
			}
		}
		return verb.Show(cmd.OutOrStdout(), *output, all, func(w io.Writer) { tabulateStreams(w, &all) })
	}
	return cmd
}

// tabulateStreams prints a line for each stream.
func tabulateStreams(w io.Writer, all *streams.OpenStreams) {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, "ID\tCALLER\tAGENT\tTASK\tMETHOD\tBEGAN\tEVENTS")
	for i := range all.Streams {
		one := &all.Streams[i]
		_, _ = fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%d\n", verb.Cell(one.ID), verb.Cell(one.Caller), verb.Cell(one.Agent),
			verb.Cell(one.Task), verb.Cell(one.Method), verb.Moment(&one.Began, "-"), one.Events)
	}
	_ = t.Flush()
	if all.Found < all.Open {
		_, _ = fmt.Fprintf(w, "%d of %d open streams\n", all.Found, all.Open)
	}
}

// streamsWatch is `streams watch ID`, by GET /api/v1/streams/{id}/events.
func streamsWatch(a *adminapi.Target) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "watch ID",
		Short: "Print the events of an open stream from now on, until it ends",
		Long: "Print the events of an open stream from now on, until it ends or the command is interrupted: time, kind,\n" +
			"state, size, and the content where the gateway captures it and admin.content permits it.",
		Args: arguments.Count(1, 1),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		api, err := a.Connect(cmd.Context())
		if err != nil {
			return err
		}
		body, err := api.Follow(streamsPath + "/" + url.PathEscape(args[0]) + "/events")
		if err != nil {
			return err
		}
		defer body.Close() // only read from
		err = printWatched(cmd.OutOrStdout(), cmd.ErrOrStderr(), sse.NewReader(body, adminapi.LongestReply))
		if cmd.Context().Err() != nil { // it was interrupted
			return nil
		}
		return err
	}
	return cmd
}

// printWatched prints what is watched, a line for each event, until the gateway says why there is no more.
func printWatched(out, notes io.Writer, events *sse.Reader) error {
	for {
		e, err := events.Next()
		if err != nil {
			return verb.Failed(fmt.Errorf("the gateway closed the connection: %w", err))
		}
		switch e.Name {
		case "open":
			var first struct {
				Why string `json:"why"`
			}
			if err = json.Unmarshal(e.Data, &first); err == nil && first.Why != "" {
				_, _ = fmt.Fprintln(notes, verb.Legible(first.Why))
			}
		case "event":
			var one streams.Event
			if err = json.Unmarshal(e.Data, &one); err == nil {
				printEvent(out, &one)
			}
		case "gap":
			var gap struct {
				Dropped int `json:"dropped"`
			}
			if err = json.Unmarshal(e.Data, &gap); err == nil {
				_, _ = fmt.Fprintf(notes, "%d events are missing here: they came faster than they were read (admin.live.buffer)\n", gap.Dropped)
			}
		case "end":
			var end struct {
				Detail string `json:"detail"`
			}
			if err = json.Unmarshal(e.Data, &end); err == nil {
				_, _ = fmt.Fprintln(notes, verb.Legible(end.Detail))
				return nil
			}
		}
		if err != nil {
			return verb.Failed(errors.New("the gateway sent an event that cannot be read"))
		}
	}
}

// printEvent prints an event on one line.
func printEvent(w io.Writer, e *streams.Event) {
	_, _ = fmt.Fprintf(w, "%s  %s  %s  %d bytes", e.Time.Format(time.RFC3339Nano), verb.Cell(e.Kind), verb.Cell(e.State), e.Bytes)
	if e.Fault != "" {
		_, _ = fmt.Fprintf(w, "  %s", verb.Legible(e.Fault))
	}
	if e.Content != "" {
		_, _ = fmt.Fprintf(w, "  %s", verb.Legible(e.Content))
	}
	if e.Cut {
		_, _ = fmt.Fprint(w, " …")
	}
	_, _ = fmt.Fprintln(w)
}

// streamsEnd is `streams end ID…`, by DELETE /api/v1/streams/{id}.
func streamsEnd(a *adminapi.Target) *cobra.Command {
	return &cobra.Command{
		Use:   "end ID…",
		Short: "End streams: the gateway tells each client to subscribe again, and the tasks continue",
		Args:  arguments.Count(1, math.MaxInt),
		RunE: func(cmd *cobra.Command, ids []string) error {
			api, err := a.Connect(cmd.Context())
			if err != nil {
				return err
			}
			for _, id := range ids {
				if err := api.Do(http.MethodDelete, streamsPath+"/"+url.PathEscape(id), nil); err != nil {
					return fmt.Errorf("%s: %w", verb.Cell(id), err)
				}
				_, _ = fmt.Fprintf(cmd.OutOrStdout(), "ended %s\n", verb.Cell(id))
			}
			return nil
		},
	}
}
