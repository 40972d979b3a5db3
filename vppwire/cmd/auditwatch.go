package cmd

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/ipam/audit"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/vppwire/host"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
	"github.com/vppdrill/vppdrill/vppwire/host/rest"
	"github.com/vppdrill/vppdrill/vppwire/oneline"
)

// watchFlags are those of audit --watch.
type watchFlags struct {
	on      bool
	lasts   time.Duration
	metrics string
	events  string
}

func (w *watchFlags) add(c *cobra.Command) {
	f := c.Flags()
	f.BoolVar(&w.on, "watch", false, "keep looking, and tell when findings come and go")
	f.DurationVar(&w.lasts, "for", 0, "with --watch: how long; 0 until it is interrupted")
	f.StringVar(&w.metrics, "metrics", "", "with --watch: `address` that serves /metrics to Prometheus")
	f.StringVar(&w.events, "events", "", "with --watch: `namespace` that gets an event for each change; needs the right to create events there")
}

// given reports whether a flag is given that belongs to --watch.
func (w *watchFlags) given(c *cobra.Command) bool {
	return c.Flags().Changed("for") || c.Flags().Changed("metrics") || c.Flags().Changed("events")
}

func (w *watchFlags) check(c *cobra.Command, files []string) error {
	switch {
	case !w.on:
		return cli.Usagef("audit: --for, --metrics and --events belong to --watch")
	case len(files) > 0:
		return cli.Usagef("audit: --watch looks at a cluster, and files do not change")
	case c.Flags().Changed("out"):
		return cli.Usagef("audit: --out writes a report of one look, and --watch keeps looking: leave out one of the two")
	case w.lasts < 0:
		return cli.Usagef("audit: --for %s is negative", w.lasts)
	}
	return nil
}

// How often a watch looks: after a change at once, but never for more than a fifth of the time, and without one each
// watchIdle, as what is said of time itself can change.
const (
	watchLeast = 500 * time.Millisecond
	watchShare = 5
	watchIdle  = 5 * time.Minute
)

// watched is a watch under way.
type watched struct {
	mirror   *kube.Mirror
	standing audit.Standing
	figures  *host.AuditMetrics
	tell     func(audit.Change)
	// begun: the cluster was seen as a whole once.
	begun func(audit.Report)
	whole bool
}

// runWatch looks until its time is over or it is interrupted. kubeconfig may be empty in a pod.
func runWatch(ctx context.Context, out, notes io.Writer, kubeconfig string, format cli.Format, f watchFlags) error {
	log := slog.New(slog.NewTextHandler(notes, &slog.HandlerOptions{Level: slog.LevelWarn}))
	c, err := kube.Dial(kubeconfig, "vppdrill-audit", log)
	if err != nil {
		return cli.Usagef("audit: %w", err)
	}
	w := &watched{figures: host.NewAuditMetrics()}
	c.OnRequest(w.figures.Asked)
	for _, path := range auditNeeded {
		if err := c.Readable(ctx, path); err != nil {
			return cli.CannotRun(fmt.Errorf("audit: %w", err))
		}
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var parts []part
	if f.metrics != "" {
		// Figures alone, without a name of the cluster, so that Prometheus may ask from elsewhere.
		l, err := net.Listen("tcp", f.metrics)
		if err != nil {
			return cli.CannotRun(fmt.Errorf("audit: --metrics: %w", err))
		}
		parts = append(parts, func(ctx context.Context) error { return rest.Serve(ctx, l, rest.Figures(w.figures.Registry)) })
	}
	record := func(audit.Change) {}
	if f.events != "" {
		record = eventOf(c.EventsIn(ctx, f.events))
	}
	w.tell = func(change audit.Change) {
		w.figures.Changed(change)
		record(change)
		if format == cli.JSON {
			text, _ := json.Marshal(change) // it has nothing that could fail
			fmt.Fprintln(out, string(text))
			return
		}
		fmt.Fprintln(out, change)
	}
	w.begun = func(r audit.Report) {
		if format != cli.JSON {
			fmt.Fprintf(out, "%s watching %d nodes and %d pods with addresses of their own\n", time.Now().UTC().Format(time.RFC3339), r.Nodes, r.Pods)
			printBasis(out, r)
		}
	}
	w.mirror = c.Mirror(ctx, slices.Concat(auditNeeded, auditMore))
	if f.lasts > 0 {
		var end context.CancelFunc
		ctx, end = context.WithTimeout(ctx, f.lasts)
		defer end()
	}
	if err := untilOneEnds(ctx, append(parts, w.run)...); err != nil {
		return cli.CannotRun(fmt.Errorf("audit: %w", err))
	}
	if (audit.Report{Findings: w.standing.Told()}).Broken() {
		return cli.Broken(nil)
	}
	return nil
}

// run looks after each change.
func (w *watched) run(ctx context.Context) error {
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		select { // whatever has changed is looked at together
		case <-ctx.Done():
			return nil
		case <-pause.C:
		}
		begun := time.Now()
		w.look(begun)
		took := time.Since(begun)
		least := max(watchLeast, took*(watchShare-1))
		next := watchIdle
		if at := w.standing.Next(); !at.IsZero() {
			next = min(next, max(time.Until(at), 0))
		}
		select {
		case <-ctx.Done():
			return nil
		case <-w.mirror.Changed():
		case <-time.After(next):
			least = max(least-next, 0)
		}
		pause.Reset(least)
	}
}

// look judges the cluster as it is now.
func (w *watched) look(now time.Time) {
	var o audit.Objects
	var odd []string // objects of which one does not say what it should are no reason to stop looking at all others
	left, whole := w.mirror.Each(func(text []byte) {
		if err := o.Parse("the API server's answer", text); err != nil {
			odd = append(odd, oneline.Error(err).Error())
		}
	})
	if !whole {
		return
	}
	r := audit.Judge(&o)
	r.Unknown = slices.Concat(r.Unknown, left, odd)
	if !w.whole {
		w.whole = true
		w.begun(r)
	}
	for _, change := range w.standing.Look(now, r.Findings) {
		w.tell(change)
	}
	w.figures.Looked(r, w.standing.Told(), o.Len(), time.Since(now))
}

// eventOf records a change as an event.
func eventOf(record func(warning bool, reason, message string)) func(audit.Change) {
	return func(c audit.Change) {
		reason := "AddressFindingCame"
		if !c.Came {
			reason = "AddressFindingGone"
		}
		record(c.Came, reason, c.Finding.String())
	}
}
