package mode

import "github.com/vppdrill/vppdrill/vppwire"

// Filter is what a pod may send and get, as vppwire.FormatACLRules writes rules. Held: whatever rules VPP has for the
// pod stay, and these are for where it has none.
type Filter struct {
	Egress, Ingress string
	Held            bool
}

// filter has a pod's interface ask ACLs of its own. They come before the interface does, which is up only behind them,
// and stay as long as it lives: VPP ends an interface's sessions with a change of its ACLs, and not with one of their
// rules.
func (o *objects) filter(name string, f *Filter) {
	in, out := vppwire.ACLPrefix+name+"/in", vppwire.ACLPrefix+name+"/out"
	o.add(vppwire.ACL{Name: in, Rules: f.Egress, Held: f.Held})
	o.add(vppwire.ACL{Name: out, Rules: f.Ingress, Held: f.Held})
	o.add(vppwire.ACLList{If: name, In: in, Out: out})
}
