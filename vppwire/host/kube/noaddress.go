package kube

import (
	"log/slog"
	"time"

	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// ReasonNoAddress is the event about a node whose pods are refused because none of its addresses is free.
const ReasonNoAddress = "NoFreeAddress"

// noAddressAgain is how often a node is told to have no address free: kubelets ask again every few seconds, and API
// servers forget events within an hour. noAddressRest is the time without a refusal after which a further one is the
// first: kubelets ask at least once a minute for a pod.
const (
	noAddressAgain = 10 * time.Minute
	noAddressRest  = 2 * time.Minute
)

// NoAddress tells that a node's pods are refused for want of addresses. The kubelet's own event is about one pod, and
// goes with it; this is about the node, whose range is what is too small. Tell is needed.
type NoAddress struct {
	Tell func(agent.Log)
	// Patience is how long pods are refused before that is told. Where blocks come as pods do, the first pod that has no
	// room in those of before is refused by design.
	Patience time.Duration
	// since is the first refusal since an address was given, last the latest; told is when that was told. Zero: none.
	since, last, told time.Time
}

// Stepped is to be called where vppwire/host calls its Config.Stepped.
func (n *NoAddress) Stepped(now time.Time, effects []agent.Effect) {
	for _, e := range effects {
		answer, ok := e.(agent.Answer)
		switch {
		case !ok:
		case answer.Exhausted:
			n.refused(now, answer.Message)
		case answer.Code == agent.CodeOK && answer.Result.Addr.IsValid(): // an ADD
			n.since = time.Time{}
		}
	}
}

func (n *NoAddress) refused(now time.Time, why string) {
	if n.since.IsZero() || now.Sub(n.last) > noAddressRest {
		n.since = now
	}
	n.last = now
	if now.Sub(n.since) < n.Patience || !n.told.IsZero() && now.Sub(n.told) < noAddressAgain {
		return
	}
	n.told = now
	n.Tell(agent.Log{Level: int(slog.LevelWarn), Reason: ReasonNoAddress,
		Message: "pods on this node are refused: " + why + "; delete pods, lower the kubelet's maxPods, or give nodes larger ranges"})
}
