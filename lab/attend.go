package lab

import (
	"context"
	"fmt"
	"time"

	"github.com/vppdrill/vppdrill/lab/vppproc"
	"github.com/vppdrill/vppdrill/scenarios"
)

const (
	// askVPPEvery is how often a lab asks each of its VPPs for its version, which takes a VPP 0.1 ms.
	askVPPEvery = 2 * time.Second
	// silentFor is how long a VPP may be silent before its lab takes it for dead. Beside kubelets and etcd on two
	// processors one was seen to answer after 3 s; an agent loses patience after 10 s.
	silentFor = 15 * time.Second
)

// attend ends a VPP that lives and does not answer, as systemd's watchdog would: whoever waits for its end starts it
// again. One that the lab itself has stopped where it is may be silent. One that got no processor lives on, and the run
// cannot be judged.
func (n *node) attend(d *daemon, p Process, life int) {
	var c *vppproc.Conn
	defer func() {
		if c != nil {
			c.Close()
		}
	}()
	heard := time.Now()
	for {
		select {
		case <-p.Done():
			return
		case <-time.After(askVPPEvery):
		}
		asked := time.Now()
		err := n.askVPP(&c)
		n.mu.Lock()
		if d.life != life {
			n.mu.Unlock()
			return
		}
		if err == nil || d.paused {
			heard = asked
		}
		silent := time.Since(heard)
		starved := ""
		if silent >= silentFor {
			starved = starving("VPP of "+n.name, d.samples, heard)
		}
		if silent >= silentFor && starved == "" {
			d.ailing = fmt.Sprintf("VPP did not answer for %s and was killed: %v", silent.Round(time.Second), err)
		}
		n.mu.Unlock()
		switch {
		case starved != "":
			n.w.Fail(fmt.Errorf("%w: %s and did not answer for %s", scenarios.ErrFallen, starved, silent.Round(time.Second)))
			heard = time.Now()
		case silent >= silentFor:
			p.Kill()
			return
		}
	}
}

// listenEvery is how often an agent is asked for its state by a lab that has no other reason to: facts of a node without pods are then
// not told minutes late.
const listenEvery = time.Second

// listen asks an agent for its state every so often, until it ends.
func (n *node) listen(p Process) {
	for {
		select {
		case <-p.Done():
			return
		case <-time.After(listenEvery):
		}
		ctx, cancel := context.WithTimeout(context.Background(), askTime)
		_, _ = n.poll(ctx) // one that is stopped where it is tells nothing
		cancel()
	}
}

// askVPP asks a node's VPP for its version over *c, which is dialled where it is nil, and closed and forgotten when it
// fails.
func (n *node) askVPP(c **vppproc.Conn) error {
	ctx, cancel := context.WithTimeout(context.Background(), silentFor/3)
	defer cancel()
	if *c == nil {
		dialled, err := vppproc.Dial(n.machine.VPPDir())
		if err != nil {
			return err
		}
		*c = &dialled
	}
	_, err := (*c).Version(ctx)
	if err != nil {
		(*c).Close()
		*c = nil
	}
	return err
}
