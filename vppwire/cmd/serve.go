package cmd

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"golang.org/x/sync/errgroup"

	"github.com/vppdrill/vppdrill/vppwire/host/rest"
)

// part is a part of a running program; it ends when its context does, or when it cannot go on.
type part = func(context.Context) error

// untilOneEnds runs the parts of a program. When one of them ends, in order or not, the others have nothing left to do.
func untilOneEnds(ctx context.Context, parts ...part) error {
	ended := errors.New("ended")
	group, ctx := errgroup.WithContext(ctx)
	for _, p := range parts {
		group.Go(func() error {
			if err := p(ctx); err != nil {
				return err
			}
			return ended
		})
	}
	if err := group.Wait(); !errors.Is(err, ended) {
		return err
	}
	return nil
}

// serving is the part that shows h at an address of --rest: the parts of none for an empty one. It listens when serving
// returns.
func serving(where string, h http.Handler, log *slog.Logger) ([]part, error) {
	if where == "" {
		return nil, nil
	}
	l, err := rest.Listen(where)
	if err != nil {
		return nil, err
	}
	log.Info("REST", "address", l.Addr())
	return []part{func(ctx context.Context) error { return rest.Serve(ctx, l, h) }}, nil
}
