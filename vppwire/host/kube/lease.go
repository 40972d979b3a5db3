package kube

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// Lease is the coordination.k8s.io/v1 Lease that the leader holds. Zero times are client-go's: 15 s, 10 s and 2 s.
type Lease struct {
	Namespace, Name string
	// Identity is this process's, and no other's: the pod's name with its UID, or a host's with something random.
	Identity string
	// Duration is how long others wait after they saw the lease renewed last: whole seconds, as the Lease holds them.
	// RenewDeadline is how long a leader leads after it began to renew last, RetryPeriod the pause between tries.
	Duration, RenewDeadline, RetryPeriod time.Duration
	// Silence is how long nothing may come of requests for the lease until this process ends with ErrSilent, counted from
	// the first of them; 0: Duration.
	Silence time.Duration
	// Writes is what its holder alone may write, WritesPodCIDRs and WritesLedger: who does so by another lease is looked
	// for, and this process ends with ErrRival where there is one. Empty: nobody is looked for.
	Writes []string
	// Standing is told how this process fares; nil: nobody asks it.
	Standing *Standing
	// look is the command that shows how the API server fares, empty where there is none.
	look string
}

// shownBy is the lease with the command that shows how its API server fares.
func (l *Lease) shownBy(look string) *Lease {
	if l == nil {
		return nil
	}
	with := *l
	with.look = look
	return &with
}

// ErrSilent: the API server has not answered for Lease.Silence.
var ErrSilent = errors.New("the API server does not answer")

// silent is the line about a server that was asked for the lease and did not answer.
func (l Lease) silent(err error) error {
	return withLook(fmt.Errorf("%w: nothing came of requests for lease %s/%s for %s: %w", ErrSilent, l.Namespace, l.Name, l.Silence, withClock(err)), l.look)
}

func (l Lease) complete() (Lease, error) {
	if l.Namespace == "" || l.Name == "" || l.Identity == "" {
		return l, errors.New("kube: a lease needs namespace, name and identity")
	}
	if l.Duration == 0 {
		l.Duration = 15 * time.Second
	}
	if l.RenewDeadline == 0 {
		l.RenewDeadline = 10 * time.Second
	}
	if l.RetryPeriod == 0 {
		l.RetryPeriod = 2 * time.Second
	}
	if l.Silence == 0 {
		l.Silence = l.Duration
	}
	if l.Standing == nil {
		l.Standing = NewStanding()
	}
	if l.Duration%time.Second != 0 {
		return l, fmt.Errorf("kube: a lease of %s: want whole seconds, as others see no other", l.Duration)
	}
	config := electorConfig(l, nil)
	config.Lock = &resourcelock.LeaseLock{LockConfig: resourcelock.ResourceLockConfig{Identity: l.Identity}}
	_, err := leaderelection.NewLeaderElector(config) // checks how the times go together
	if err != nil {
		return l, fmt.Errorf("kube: lease %s/%s: %w", l.Namespace, l.Name, err)
	}
	return l, nil
}

// completed is complete of a lease that may be nil.
func (l *Lease) completed() (*Lease, error) {
	if l == nil {
		return nil, nil
	}
	whole, err := l.complete()
	return &whole, err
}

func electorConfig(l Lease, began func(context.Context)) leaderelection.LeaderElectionConfig {
	if began == nil {
		began = func(context.Context) {}
	}
	return leaderelection.LeaderElectionConfig{
		LeaseDuration: l.Duration, RenewDeadline: l.RenewDeadline, RetryPeriod: l.RetryPeriod, Name: l.Name, ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: began, OnStoppedLeading: func() {}},
	}
}

// electorate is what a process stands for a lease with.
type electorate struct {
	client kubernetes.Interface
	lease  Lease
	clock  *clock
	log    *slog.Logger
}

// elect waits for the lease, has a term served until it ends or the lease is lost, and gives the lease back once
// nothing of the term is left. Its error is the term's, or why this process should not stand again: ErrRival,
// ErrNotReady, ErrSilent.
func (e electorate) elect(ctx context.Context, serve func(context.Context, *lock) error) error {
	if err := e.alone(ctx); err != nil {
		return err
	}
	// The elector outlives ctx: what is under way ends before others may lead.
	electing, resign := context.WithCancel(logged(context.WithoutCancel(ctx), slog.New(quiet{e.log.Handler()})))
	defer resign()
	lock := e.lock(resign)
	began := make(chan context.Context, 1)
	config := electorConfig(e.lease, func(ctx context.Context) { began <- ctx })
	config.Lock = lock
	elector, err := leaderelection.NewLeaderElector(config)
	if err != nil {
		return err
	}
	e.lease.Standing.stands(e, elector)
	over := make(chan struct{})
	go func() {
		defer close(over)
		elector.Run(electing)
	}()
	defer func() { resign(); <-over }()
	select {
	case <-ctx.Done():
		return nil
	case <-over:
		return lock.hopeless()
	case leading := <-began:
		leading, end := context.WithCancelCause(leading)
		defer end(nil)
		defer context.AfterFunc(ctx, func() { end(nil) })()
		e.log.Info("leading", "lease", lock.Describe(), "identity", lock.Identity())
		var watch sync.WaitGroup
		defer watch.Wait()
		if len(e.lease.Writes) > 0 {
			watch.Go(func() { e.watchOthers(leading, end) })
		}
		err := serve(leading, lock)
		if cause := context.Cause(leading); err == nil && errors.Is(cause, ErrRival) {
			err = cause
		}
		e.log.Info("not leading any more", "lease", lock.Describe(), "error", err)
		end(nil)
		if err == nil {
			err = lock.hopeless()
		}
		return err
	}
}

// lock notes when the lease was renewed.
type lock struct {
	resourcelock.Interface
	clock    *clock
	deadline time.Duration
	standing *Standing
	// renewed says that until has changed.
	renewed chan struct{}

	mu    sync.Mutex
	until time.Time
	// holder is who held the lease when it was read last.
	holder string
	// why is set once there is no end to standing for the lease, and resign is called.
	why    error
	resign func()
}

func (e electorate) lock(resign func()) *lock {
	return &lock{
		resign: resign,
		Interface: &resourcelock.LeaseLock{
			Labels:     e.labels(),
			LeaseMeta:  metav1.ObjectMeta{Namespace: e.lease.Namespace, Name: e.lease.Name},
			Client:     e.client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: e.lease.Identity},
		},
		clock: e.clock, deadline: e.lease.RenewDeadline, standing: e.lease.Standing, renewed: make(chan struct{}, 1),
	}
}

// Get implements resourcelock.Interface.
func (l *lock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := l.Interface.Get(ctx)
	if err == nil {
		l.holder = record.HolderIdentity
	}
	if !apierrors.IsNotFound(err) { // one that is not there is created next
		l.answered(l.holder, err)
	}
	return record, raw, err
}

// Create implements resourcelock.Interface.
func (l *lock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.write(ctx, record, l.Interface.Create)
}

// Update implements resourcelock.Interface. It does not give back what is another's: client-go's elector reads the
// lease before it gives it back, and looks at what it knew before instead, which is old when the lease was lost for
// want of an answer.
func (l *lock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if record.HolderIdentity == "" && l.holder != l.Identity() {
		return fmt.Errorf("lease %s is held by %q now", l.Describe(), l.holder)
	}
	return l.write(ctx, record, l.Interface.Update)
}

// write counts from before the request: others see the lease renewed after that, and count from there.
func (l *lock) write(ctx context.Context, record resourcelock.LeaderElectionRecord, write func(context.Context, resourcelock.LeaderElectionRecord) error) error {
	begin := l.clock.now()
	if err := write(ctx, record); err != nil {
		l.answered("", err)
		return err
	}
	l.holder = record.HolderIdentity
	l.answered(l.holder, nil)
	if l.holder != l.Identity() {
		return nil
	}
	l.mu.Lock()
	l.until = begin.Add(l.deadline)
	l.mu.Unlock()
	select {
	case l.renewed <- struct{}{}:
	default: // whoever waits will read the newest
	}
	return nil
}

// leadsUntil is until when this process leads for certain.
func (l *lock) leadsUntil() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.until
}

// limit is how long a request may take that may take timeout by itself: what leaves later than the lease's end is somebody else's time.
// A nil lock ends never.
func (l *lock) limit(timeout time.Duration) time.Duration {
	if l == nil {
		return timeout
	}
	return min(timeout, l.leadsUntil().Sub(l.clock.now()))
}

// answered notes what became of a request about the lease. A namespace that is not there comes of nobody's waiting, and
// who waited for a server that is silent ends as leaders do that lose their lease: the controller manager, operators.
func (l *lock) answered(holder string, err error) {
	why := l.standing.heardOf(holder, err)
	if namespace := namespaceOf(err); namespace != "" {
		why = fmt.Errorf("%w: there is no namespace for lease %s: kubectl create namespace %s", ErrNotReady, l.Describe(), namespace)
	}
	if why == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.why = why
	l.resign()
}

// hopeless is why standing for the lease has no end, nil where it may.
func (l *lock) hopeless() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.why
}
