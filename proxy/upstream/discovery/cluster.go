package discovery

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// Timing toward the API server.
const (
	// firstPause follows everything that ends, well or not; after failures it doubles.
	firstPause = time.Second
	mostPause  = 30 * time.Second
	// watchTime is how long the API server is asked to go on telling. It ends sooner now and
	// then, and a watch that hangs without anybody knowing is over then at last.
	watchTime = 5 * time.Minute
)

// cluster follows the endpoint slices of a service: it lists them, and is told from there
// on what becomes of them. Whatever goes wrong, it begins with a list again.
//
// The slices are kept whole and by name, because an event brings one slice and the instances are
// those of all slices together: a service of more than 100 endpoints, or of two address families,
// has several.
type cluster struct {
	config  Config
	options Options
	server  apiServer
	pause   time.Duration
	watches time.Duration

	slices   map[string]endpointSlice // by name
	failures int                      // in a row
}

// newCluster prepares to follow the service that c names; Run asks for the first time.
// The label kubernetes.io/service-name is set on each slice by the controller that makes it, and
// is the documented way from a service to its slices.
func newCluster(c Config, o Options) *cluster {
	return &cluster{config: c, options: o, pause: firstPause, watches: watchTime,
		server: apiServer{
			config: *c.Kubernetes, limit: int64(c.Answer), timeout: c.Timeout.Std(), account: serviceAccount,
			group: "/apis/discovery.k8s.io/v1", resource: "endpointslices",
			selector: "kubernetes.io/service-name=" + c.Kubernetes.Service,
		}}
}

// What ends a watch without being a failure.
var (
	// errGone: the API server has forgotten what happened since the version it was asked for.
	errGone = errors.New("the watched version is gone")
	// errDoubt: no endpoint is left, by an event that nobody repeats. A list does.
	errDoubt = errors.New("the last endpoint went away")
)

// Run implements Source.
//
// The pause after a failure doubles up to mostPause. One after a watch that ended in good order
// is short, and is still there: an API server that ends each watch at once would otherwise be
// asked without end.
func (c *cluster) Run(ctx context.Context, found func([]Instance)) {
	defer c.server.close()
	k := newKeeper(c.config, c.options, found, "kubernetes "+c.config.Kubernetes.Service)
	for ctx.Err() == nil {
		err := c.follow(ctx, k)
		if ctx.Err() != nil {
			return
		}
		if err != nil && !errors.Is(err, errDoubt) {
			c.failures++ // of versions that are gone too: a new one should be good for a while
			if !errors.Is(err, errGone) {
				k.failed(err)
			}
		}
		if !wait(ctx, backOff(c.pause, mostPause, c.failures)) {
			return
		}
	}
}

// follow lists and watches until the list has to be fetched anew. Watches end all the
// time; the next one goes on where the last one ended.
func (c *cluster) follow(ctx context.Context, k *keeper) error {
	version, err := c.list(ctx)
	if err != nil {
		return err
	}
	if err := c.tell(k); err != nil {
		return err
	}
	for {
		err := c.watch(ctx, k, &version)
		if err != nil {
			return err
		}
		if !wait(ctx, c.pause) {
			return nil
		}
	}
}

// tell passes on what the slices at hand amount to.
//
// It returns errDoubt where the last endpoint has gone and the keeper does not believe it yet. A
// watch would never repeat that event, so that a new list has to say it again.
func (c *cluster) tell(k *keeper) error {
	list, err := instancesOf(c.slices, c.config.Kubernetes.Port)
	if err != nil {
		return err
	}
	if err := k.answer(list); err != nil {
		return err
	}
	if k.doubts() {
		return errDoubt
	}
	return nil
}

// page is how many slices are asked for at once: of up to 1,000 endpoints, but
// 100 as a rule.
const page = 100

// list fetches all slices of the service, page by page, and the version they are of.
//
// c.slices is replaced only after the last page, so that a list which breaks off leaves what was
// known. The count is held to the limit after each page, and not at the end, so that a server
// which pages for ever is given up.
func (c *cluster) list(ctx context.Context) (version string, err error) {
	all, next := map[string]endpointSlice{}, ""
	for {
		got, err := listPage[endpointSlice](ctx, &c.server, next)
		if err != nil {
			return "", fmt.Errorf("list endpoint slices: %w", err)
		}
		for _, s := range got.Items {
			all[s.Metadata.Name] = s
		}
		if len(all) > c.config.Limit {
			return "", c.tooMany(len(all))
		}
		if next = got.Metadata.Continue; next == "" {
			c.slices = all
			return got.Metadata.ResourceVersion, nil
		}
		if len(got.Items) == 0 {
			return "", errors.New("list endpoint slices: an empty page that is not the last one")
		}
	}
}

func (c *cluster) tooMany(n int) error {
	return fmt.Errorf("%d endpoint slices are more than limit (%d)", n, c.config.Limit)
}

// watch is told of changes since the version, and moves it on.
//
// Each watch lasts a random time between one and two times watchTime. A successful event, and a
// watch that has lasted, end the row of failures.
func (c *cluster) watch(ctx context.Context, k *keeper, version *string) error {
	last := c.watches + rand.N(c.watches) //nolint:gosec // gateways that began together do not begin again together
	ctx, cancel := context.WithTimeout(ctx, last+c.server.timeout)
	defer cancel()
	w, err := c.server.watch(ctx, *version, last)
	if err != nil {
		return watching(err)
	}
	defer w.close()
	k.worked()
	defer func(began time.Time) {
		if time.Since(began) > mostPause {
			c.failures = 0
		}
	}(time.Now())
	for w.next() {
		e, err := readEvent[endpointSlice](w.line())
		if err != nil {
			return watching(err)
		}
		if err := c.apply(k, e, version); err != nil {
			return watching(err)
		}
		c.failures = 0
	}
	if err := w.err(); err != nil {
		return watching(err)
	}
	c.failures = 0 // it ended as it should
	return nil
}

func watching(err error) error { return fmt.Errorf("watch endpoint slices: %w", err) }

// apply changes the slices by one event.
//
// The version moves on with each event, bookmarks included, since the next watch goes on from
// there. ADDED for a name that is known replaces it: after a reconnect the server may repeat what
// was listed.
func (c *cluster) apply(k *keeper, e event[endpointSlice], version *string) error {
	if e.object.Metadata.ResourceVersion == "" {
		return errors.New("an event without a version")
	}
	name := e.object.Metadata.Name
	switch {
	case e.kind == bookmark:
		*version = e.object.Metadata.ResourceVersion
		return nil
	case name == "":
		return errors.New("an event about a slice without a name")
	case e.kind == deleted:
		delete(c.slices, name)
	default:
		c.slices[name] = e.object
	}
	if len(c.slices) > c.config.Limit {
		return c.tooMany(len(c.slices))
	}
	*version = e.object.Metadata.ResourceVersion
	return c.tell(k)
}
