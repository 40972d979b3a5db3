package check

import (
	"net/netip"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const addressAsAskedName = "address-as-asked"

// addressAsAsked: a pod that asks for an address is answered with that one, or refused.
func addressAsAsked() fact.Law {
	return fact.Law{
		Name: addressAsAskedName,
		Rule: "A pod that asks for an address gets that one or a refusal, never another one.",
		Why: "Firewalls, licences and peers know the address that a pod asks for: with another one it runs, and nobody " +
			"reaches what it was made for.",
		When:  fact.Always,
		Needs: []fact.Evidence{fact.Sandboxes, fact.Refusals, fact.WantedAddresses},
		Watch: func() fact.Watcher { return &askedWatcher{wanted: map[attached][]netip.Addr{}} },
	}
}

// attached is a sandbox of a node.
type attached struct {
	node  string
	owner ipam.Owner
}

type askedWatcher struct {
	// wanted is what open sandboxes were added with.
	wanted map[attached][]netip.Addr
	checks int64
}

func (w *askedWatcher) Checks() int64 { return w.checks }

func (w *askedWatcher) Observe(f *fact.Fact) error {
	switch x := f.What.(type) {
	case fact.Asked:
		if x.Command == fact.AskedAdd && len(x.Wanted) > 0 {
			w.wanted[attached{f.Node, x.Owner}] = x.Wanted
			w.wanted[attached{f.Node, x.Owner.Second()}] = x.Wanted
		}
	case fact.Refused:
		if len(w.wanted[attached{f.Node, x.Owner}]) > 0 {
			w.checks++
		}
	case fact.Answered:
		return w.answered(f, x)
	case fact.SandboxGone:
		delete(w.wanted, attached{f.Node, x.Owner})
		delete(w.wanted, attached{f.Node, x.Owner.Second()})
	}
	return nil
}

func (w *askedWatcher) answered(f *fact.Fact, x fact.Answered) error {
	wanted := w.wanted[attached{f.Node, x.Owner}]
	if len(wanted) > 0 {
		w.checks++
	}
	for _, a := range wanted {
		if a.Is4() == x.Addr.Is4() && a != x.Addr {
			v := broken(addressAsAskedName, f.At, f.Node, "pod %s asks for %s, and its ADD was answered with %s instead of a refusal", x.Pod, a, x.Addr)
			v.Before, v.After = a.String(), x.Addr.String()
			return v
		}
	}
	return nil
}
