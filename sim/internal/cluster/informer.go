package cluster

import (
	"strconv"
	"time"
)

// Handler receives what an Informer reports.
type Handler interface {
	// Listed gives everything that exists, in key order: after the start and after each gap. What the handler knew and is
	// not among objects, is gone. The slice is shared and must not be changed.
	Listed(objects []Object, version int64)
	// Changed gives one change; versions ascend, and none comes twice.
	Changed(c Change)
}

// InformerConfig says what an Informer watches, and from where.
type InformerConfig struct {
	// Name is for event lines: "kubelet", "agent".
	Name string
	// At is the endpoint at which it runs.
	At   Endpoint
	Kind Kind
	// Node selects what belongs to that node: pods bound there, its resource, its Node object; empty selects everything.
	Node    string
	Handler Handler
	// Fresh: lists are asked of the API server itself and not of its cache, so that they are as of now at the earliest.
	Fresh bool
}

// Informer keeps its Handler up to date by list and watch. It keeps no objects itself: a thousand of them that watch a
// thousand nodes cost a thousand streams and one list. Changes that come twice or late are dropped; a broken watch
// makes it watch again from where it was, and list again when the API has forgotten that.
type Informer struct {
	// Faults are hooks of the watch. Lag makes lists that are not Fresh stale too, but never staler than what was seen
	// since Start.
	Faults StreamFaults

	api     *API
	cfg     InformerConfig
	running bool
	synced  bool
	counted bool
	listed  bool
	attempt uint64        // whatever belongs to an older attempt is ignored
	asked   time.Duration // when the last attempt began
	version int64
	stream  *stream[Change]
	wait    time.Duration
	lists   int
	ignored int
}

const (
	// apiTimeout is how long a client waits for the API server: client-go's request timeout of kubelets and controllers
	// for single objects is 10 s and more; 10 s is what node status updates use.
	apiTimeout = 10 * time.Second
	// informerRetry and informerRetryMax bound the wait between attempts: client-go's reflector, 800 ms doubling to 30 s,
	// here without jitter.
	informerRetry    = 800 * time.Millisecond
	informerRetryMax = 30 * time.Second
)

// NewInformer returns an Informer that does nothing until Start.
func (a *API) NewInformer(cfg InformerConfig) *Informer { return &Informer{api: a, cfg: cfg} }

// Start begins with a list, as a new process does. It panics on a running Informer.
func (i *Informer) Start() {
	if i.running {
		panic("cluster: informer " + i.cfg.Name + " is started twice")
	}
	i.running, i.listed, i.version, i.wait = true, false, 0, 0
	i.again()
}

// Stop ends it: its process died. A stopped Informer may be stopped again, and started again.
func (i *Informer) Stop() {
	i.running = false
	i.attempt++
	i.closeStream()
	i.setSynced(false)
}

// Synced reports that a list was delivered and a watch is live.
func (i *Informer) Synced() bool { return i.synced }

// Version is the last version delivered.
func (i *Informer) Version() int64 { return i.version }

// Lists counts the delivered lists, Ignored the changes that came twice or late.
func (i *Informer) Lists() int   { return i.lists }
func (i *Informer) Ignored() int { return i.ignored }

// Relist makes it list again, as after a gap.
func (i *Informer) Relist() {
	if i.running {
		i.listed = false
		i.again()
	}
}

// Stale makes the Informer see everything d late from now on; 0 ends that.
func (i *Informer) Stale(d time.Duration) { i.Faults.Lag = d }

// DropNext loses the next n changes on their way.
func (i *Informer) DropNext(n int) { i.Faults.Drop = n }

// DuplicateNext delivers the next n changes twice.
func (i *Informer) DuplicateNext(n int) { i.Faults.Duplicate = n }

// again starts a new attempt: a list, or a watch from where the last one ended.
func (i *Informer) again() {
	i.attempt++
	i.asked = i.api.clock.Now()
	i.closeStream()
	i.setSynced(false)
	net := i.api.net
	if !i.listed {
		net.Call(i.cfg.At, i.api.at, apiTimeout, &listCall{i: i, attempt: i.attempt})
		return
	}
	net.Call(i.cfg.At, i.api.at, apiTimeout, &watchCall{i: i, attempt: i.attempt, from: i.version})
}

// listAge is how long ago the list under delivery was asked for.
func (i *Informer) listAge() time.Duration { return i.api.clock.Now() - i.asked }

// delivery is what becomes of what the API server is about to send.
func (i *Informer) delivery() Delivery {
	if i.api.deliver == nil {
		return Delivery{}
	}
	return i.api.deliver(&i.cfg)
}

func (i *Informer) closeStream() {
	if i.stream != nil {
		i.stream.close()
		i.stream = nil
	}
}

// setSynced keeps the network's count of informers that run without a live watch.
func (i *Informer) setSynced(synced bool) {
	i.synced = synced
	unsynced := i.running && !synced
	if unsynced != i.counted {
		i.counted = unsynced
		if unsynced {
			i.api.net.busy.Unsynced++
		} else {
			i.api.net.busy.Unsynced--
		}
	}
}

// failed tries again after a while.
func (i *Informer) failed() {
	i.wait = backOff(i.wait, informerRetry, informerRetryMax)
	i.attempt++
	i.api.clock.After(i.wait, &informerRetryAt{i, i.attempt})
}

func (i *Informer) appendName(b []byte) []byte {
	b = append(b, i.cfg.Name...)
	b = append(b, ' ')
	b = append(b, kindNames[i.cfg.Kind]...)
	return append(b, 's')
}

func (i *Informer) appendItems(b []byte, items []Change) []byte {
	b = i.appendName(b)
	if len(items) == 1 {
		return items[0].AppendText(append(b, ' '))
	}
	if len(items) == 0 {
		return b
	}
	b = append(b, ' ')
	b = strconv.AppendInt(b, int64(len(items)), 10)
	b = append(b, " changes rv "...)
	b = strconv.AppendInt(b, items[0].ResourceVersion, 10)
	b = append(b, ".."...)
	return strconv.AppendInt(b, items[len(items)-1].ResourceVersion, 10)
}

func (i *Informer) receive(items []Change) {
	attempt := i.attempt
	for _, c := range items {
		if i.attempt != attempt {
			return // a handler stopped or restarted the informer
		}
		if c.ResourceVersion <= i.version {
			i.ignored++
			continue
		}
		i.version = c.ResourceVersion
		if c.Type != Bookmark {
			i.cfg.Handler.Changed(c)
		}
	}
}

func (i *Informer) lost() {
	i.stream = nil
	i.again()
}

type informerRetryAt struct {
	i       *Informer
	attempt uint64
}

func (r *informerRetryAt) AppendText(b []byte) []byte {
	b = append(b, "informer "...)
	b = append(b, r.i.api.net.Name(r.i.cfg.At)...)
	b = append(b, ' ')
	b = r.i.appendName(b)
	return append(b, " retries"...)
}

func (r *informerRetryAt) Fire() {
	if r.i.attempt == r.attempt {
		r.i.again()
	}
}

// listCall asks for everything.
type listCall struct {
	i       *Informer
	attempt uint64
}

type listReply struct {
	objects []Object
	version int64
}

func (l *listCall) AppendText(b []byte) []byte { return l.i.appendName(append(b, "list "...)) }

func (l *listCall) Serve() any {
	i := l.i
	if i.api.down {
		return ErrUnavailable
	}
	state, age := i.api.kinds[i.cfg.Kind], i.Faults.Lag
	if i.api.list != nil && !i.cfg.Fresh {
		older, refused := i.api.list(&i.cfg)
		if refused {
			return ErrUnavailable
		}
		age = max(age, min(older, i.api.clock.Now()))
	}
	if age > 0 && !i.cfg.Fresh {
		// A stale cache answers, but a client that names the version it has seen is never taken back before it.
		version := max(state.versionAt(i.api.clock.Now()-age), i.version)
		return &listReply{state.listAt(version, i.cfg.Node), version}
	}
	return &listReply{state.list(i.cfg.Node), i.api.version}
}

func (r *listReply) AppendText(b []byte) []byte {
	b = strconv.AppendInt(b, int64(len(r.objects)), 10)
	b = append(b, " rv "...)
	return strconv.AppendInt(b, r.version, 10)
}

func (l *listCall) Done(reply any, ok bool) {
	i := l.i
	if i.attempt != l.attempt {
		return
	}
	r, listed := reply.(*listReply)
	if !ok || !listed {
		i.failed()
		return
	}
	i.listed, i.version, i.wait = true, r.version, 0
	i.lists++
	i.cfg.Handler.Listed(r.objects, r.version)
	if i.attempt == l.attempt {
		i.again()
	}
}

// watchCall opens the watch.
type watchCall struct {
	i       *Informer
	attempt uint64
	from    int64
}

func (w *watchCall) AppendText(b []byte) []byte {
	b = w.i.appendName(append(b, "watch "...))
	b = append(b, " after "...)
	return strconv.AppendInt(b, w.from, 10)
}

func (w *watchCall) Serve() any {
	i := w.i
	switch {
	case i.api.down:
		return ErrUnavailable
	case i.attempt != w.attempt || i.stream != nil:
		return nil // the client is gone, or the request came twice
	}
	state := i.api.kinds[i.cfg.Kind]
	watch := &apiWatch{node: i.cfg.Node, judge: i.delivery}
	watch.stream = openStream(i.api.net, i.api.at, i.cfg.At, receiver[Change](i), &i.Faults, func() { state.unwatch(watch) })
	if err := state.watch(watch, w.from); err != nil {
		watch.stream.close()
		return err
	}
	i.stream = watch.stream
	return nil
}

func (w *watchCall) Done(reply any, ok bool) {
	i := w.i
	switch {
	case i.attempt != w.attempt:
	case !ok:
		i.closeStream()
		i.failed()
	case reply == ErrGone:
		i.listed = false
		i.again()
	case reply != nil:
		i.failed()
	default:
		i.wait = 0
		i.setSynced(true)
	}
}
