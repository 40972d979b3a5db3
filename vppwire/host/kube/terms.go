package kube

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes"
)

// defaultRequestTimeout is client-go's default deadline for renewing a lease: beyond it nothing could be done anyway.
const defaultRequestTimeout = 10 * time.Second

// complete gives a program the settings that it was not given: how long a request may go unanswered, and where it logs.
func complete(timeout *time.Duration, log **slog.Logger) {
	if *timeout == 0 {
		*timeout = defaultRequestTimeout
	}
	if *log == nil {
		*log = slog.New(slog.DiscardHandler)
	}
}

// operatorPause is between two terms.
const operatorPause = 5 * time.Second

// terms has one term after the other served until ctx ends, which is no error: as the holder of a lease, or without one where that is
// nil. Its error is why there should be no further one.
func terms(ctx context.Context, client kubernetes.Interface, lease *Lease, c *clock, log *slog.Logger, serve func(context.Context, *lock) error) error {
	for ctx.Err() == nil {
		if lease == nil {
			if err := serve(ctx, nil); err != nil {
				return err
			}
		} else if err := (electorate{client, *lease, c, log}).elect(ctx, serve); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(operatorPause):
		}
	}
	return nil
}

// underway is what a leading program has under way, in words for other goroutines.
type underway struct {
	mu   sync.Mutex
	word string
}

// Pending says what a leading one has under way, "" for nothing, where nobody can know it, or where this one does not lead.
func (u *underway) Pending() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.word
}

func (u *underway) is(word string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.word = word
}
