package ipamd

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"github.com/vppdrill/vppdrill/ipam/datastore"
	"github.com/vppdrill/vppdrill/vppwire/oneline"
)

// Cloud performs a Manager's calls. Do answers within less time than a Manager waits, and is called by one goroutine at a
// time.
type Cloud interface {
	Do(ctx context.Context, c datastore.Call) datastore.Result
}

// Config describes a Daemon. Cloud and Checkpoint are needed.
type Config struct {
	Cloud      Cloud
	Sizing     datastore.Sizing
	Checkpoint datastore.Checkpointer
	// Cooling is how long a released address is not given out again; 0 is upstream's 30 s.
	Cooling time.Duration
	// Settings are what introspection shows of the environment, by upstream's names.
	Settings map[string]any
	Log      *slog.Logger
	// Now is the present time; nil: the machine's.
	Now func() time.Time
}

// phase of the checkpoint's migration: the file is read and written, and keys that upstream once learned from a container
// runtime are honored.
const phase = 2

// Daemon is one node's ipamd. Its methods may be called from any goroutine.
type Daemon struct {
	cfg     Config
	metrics *Metrics
	caller

	mu      sync.Mutex // over all below
	store   *datastore.DataStore
	machine *datastore.Manager
	wake    time.Time
	said    string // the last note, which is said once
	pending *datastore.Call
}

// New returns a Daemon that does nothing before Run.
func New(cfg Config) *Daemon {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	d := &Daemon{cfg: cfg, caller: newCaller()}
	d.store = datastore.NewDataStore(warnings{cfg.Log}, cfg.Checkpoint, cfg.Now)
	d.store.CheckpointMigrationPhase = phase
	if cfg.Cooling > 0 {
		d.store.Cooling = cfg.Cooling
	}
	d.machine = datastore.NewManager(d.store, cfg.Sizing)
	d.metrics = newMetrics(d.look, cfg.Sizing)
	return d
}

// warnings are a store's, in the log.
type warnings struct{ log *slog.Logger }

func (w warnings) Warnf(format string, args ...any) {
	w.log.Warn(oneline.Text(fmt.Sprintf(format, args...)))
}

// Run drives the daemon until ctx ends, which is no error. It is called once.
func (d *Daemon) Run(ctx context.Context) error {
	defer d.caller.start(ctx, d.cfg.Cloud)()
	alarm := time.NewTimer(0)
	defer alarm.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case r := <-d.answers:
			d.step(datastore.Called{Result: r})
		case <-alarm.C:
			d.step(datastore.Woke{})
		}
		d.mu.Lock()
		alarm.Reset(max(0, d.wake.Sub(d.cfg.Now())))
		d.mu.Unlock()
	}
}

// step lets the machine take a step and performs what follows.
func (d *Daemon) step(ev datastore.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if answer, is := ev.(datastore.Called); is {
		d.metrics.called(d.pending, answer.Result.Err)
		d.pending = nil
	}
	for _, e := range d.machine.Step(d.cfg.Now(), ev) {
		switch e := e.(type) {
		case datastore.Perform:
			c := e.Call
			d.pending = &c
			d.cfg.Log.Debug("call", "call", c.String())
			d.metrics.calling(c)
			d.ask(c)
		case datastore.WakeAt:
			d.wake = e.At
		case datastore.Note:
			d.note(e.Text)
		case datastore.WantTrunk:
			d.note("a trunk interface is wanted, which the controller of branch interfaces attaches")
		}
	}
}

// note logs what the machine has to say, but the same once in a row.
func (d *Daemon) note(text string) {
	if text != d.said {
		d.cfg.Log.Warn(oneline.Text(text))
	}
	d.said = text
}

// PodAddress is what a pod is given.
type PodAddress struct {
	Address netip.Addr `json:"address"`
	Device  int        `json:"deviceNumber"`
}

// Assign gives a sandbox an address, the same again if it has one. The checkpoint has it then.
func (d *Daemon) Assign(key datastore.IPAMKey) (PodAddress, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	a, device, err := d.store.AssignPodIPv4Address(key)
	d.metrics.added(err)
	return PodAddress{a, device}, err
}

// Release takes a sandbox's address back. Error: datastore.ErrUnknownPod when there is none, which is a success of a DEL.
func (d *Daemon) Release(key datastore.IPAMKey) (PodAddress, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	a, device, err := d.store.UnassignPodIPv4Address(key)
	d.metrics.removed(err)
	return PodAddress{a, device}, err
}

// Sweep takes back what sandboxes have that are not among the valid ones, and returns how many those were.
func (d *Daemon) Sweep(valid []datastore.IPAMKey) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	list, err := d.store.Sweep(valid)
	return len(list), err
}

// Lookup is what a sandbox has.
func (d *Daemon) Lookup(key datastore.IPAMKey) (PodAddress, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p, ok := d.store.Lookup(key)
	return PodAddress{p.IP, p.DeviceNumber}, ok
}

// Ready reports whether pods are served: EC2 was asked and the checkpoint is read.
func (d *Daemon) Ready() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.machine.Ready()
}

// Trouble is the last thing that went wrong while pods are not served, for probes.
func (d *Daemon) Trouble() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return oneline.Text(d.said)
}

// look runs f on the store, between two steps.
func (d *Daemon) look(f func(store)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f(d.store)
}
