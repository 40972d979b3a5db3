package sim

import (
	"fmt"

	"go.fd.io/govpp/api"

	"github.com/vppdrill/vppdrill/sim/vppmodel"
	"github.com/vppdrill/vppdrill/sim/vppmodel/apitrace"
)

// traced starts a VPP, whose requests are kept where somebody wants them.
func (w *World) traced(m *machine, cfg vppmodel.Config) *vppmodel.VPP {
	if !w.tracing {
		return vppmodel.New(cfg)
	}
	cfg.Asked = func(request, reply api.Message) { m.trace.Add(request, reply) }
	v := vppmodel.New(cfg)
	m.trace = apitrace.New(v)
	return v
}

// apiTrace is what a node's VPP was asked since its start.
func (w *World) apiTrace(node string) ([]byte, error) {
	m := w.machines[node]
	switch {
	case m == nil:
		return nil, fmt.Errorf("there is no node %q now", node)
	case m.vpp == nil:
		return nil, fmt.Errorf("%s has no VPP now", node)
	case m.trace.Empty():
		return nil, fmt.Errorf("the VPP of %s has not been asked for anything yet", node)
	}
	return m.trace.Bytes()
}
