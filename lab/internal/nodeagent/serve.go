package nodeagent

import (
	"cmp"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strconv"
	"time"

	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/host/rest"
)

// watch serves a lab on a unix socket: GET /state?after= (the number of the last change that was heard of), PUT
// /address?is= (an address with length, or nothing for none), and what every agent serves: /plan, /metrics and so on.
func (p *process) watch(path string, c Config) (*http.Server, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	shown := rest.Config{Agent: p.driver, NodeName: c.Agent.NodeName, IPAM: c.Agent.IPAMConfig, Metrics: p.driver.Metrics.Registry}
	if b := p.beside; b != nil && b.metrics != nil {
		shown.Metrics = b.metrics.With(shown.Metrics)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /state", p.state)
	mux.Handle("GET /", rest.Handler(shown))
	mux.HandleFunc("PUT /address", p.address)
	mux.HandleFunc("PUT /return-nic", p.returnNIC)
	s := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.Serve(l) }() // until it is closed
	return s, nil
}

func (p *process) state(out http.ResponseWriter, r *http.Request) {
	var s State
	heard, err := strconv.ParseInt(cmp.Or(r.URL.Query().Get("after"), "0"), 10, 64)
	if err != nil {
		http.Error(out, err.Error(), http.StatusBadRequest)
		return
	}
	err = p.driver.Ask(r.Context(), func(a *agent.Agent) {
		s.State = rest.StateOf(a)
		s.Changes = p.changes.after(heard)
		if p.beside != nil {
			s.Daemon, s.Short = p.beside.pending(a)
			if p.beside.kept != nil {
				s.Kept = p.beside.kept()
			}
		}
	})
	if err != nil {
		http.Error(out, err.Error(), http.StatusServiceUnavailable)
		return
	}
	s.PID, s.VPPUp, s.Restored = os.Getpid(), p.vppUp.Load(), p.restored
	s.StoreRevision, s.Heard = p.store.load(), p.cluster.heard()
	s.VPPCalls, s.LinuxCalls, s.Writes = p.counts.vpp.Load(), p.counts.linux.Load(), p.counts.writes.Load()
	s.StoreOps, s.StoreWrites, s.JournalBytes = p.counts.store.Load(), p.counts.storeWrites.Load(), p.counts.journal.Load()
	out.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(out).Encode(s) // whoever hangs up needs no answer
}

// returnNIC has the agent give its host the NIC back, as it is about to go.
func (p *process) returnNIC(out http.ResponseWriter, r *http.Request) {
	if err := p.driver.ReturnNIC(r.Context()); err != nil {
		http.Error(out, err.Error(), http.StatusServiceUnavailable)
	}
}

func (p *process) address(out http.ResponseWriter, r *http.Request) {
	if err := p.tellAddress(r.URL.Query().Get("is")); err != nil {
		http.Error(out, err.Error(), http.StatusBadRequest)
	}
}

// tellAddress tells the agent its node's interconnect address; the empty text is none.
func (p *process) tellAddress(text string) error {
	var a netip.Prefix
	if text != "" {
		var err error
		if a, err = netip.ParsePrefix(text); err != nil {
			return err
		}
	}
	p.driver.Tell(agent.OwnAddress{Addr: a})
	return nil
}
