package gen

import "strconv"

// requests are VPP messages that wiring consists of, by the names of VPP 25.10's API.
var requests = [...]string{
	"af_packet_create_v3", "tap_create_v3", "create_loopback_instance", "sw_interface_set_flags", "sw_interface_set_table",
	"sw_interface_set_mtu", "sw_interface_add_del_address", "sw_interface_set_unnumbered", "sw_interface_tag_add_del",
	"ip_route_add_del_v2", "ip_neighbor_add_del", "vxlan_add_del_tunnel_v3", "bridge_domain_add_del_v2",
	"sw_interface_set_l2_bridge", "l2fib_add_del",
}

// kinds are what else can go wrong, each with the outcomes that make sense for it.
var kinds = [...]struct {
	kind     string
	outcomes []string
}{
	{"dataplane", []string{"Mute", "Vanish", "(Refuse -1)", "(Delay 3s)", "(Delay 700ms)", "Duplicate", "CrashBefore", "CrashAfter"}},
	{"store", []string{"Mute", "Vanish", "(Refuse 0)", "(Delay 3s)", "Duplicate"}},
	{"effect", []string{"CrashBefore", "CrashAfter"}},
	{"persist", []string{"(Refuse 0)", "CrashBefore", "CrashAfter", "(Delay 700ms)", "PowerLoss"}},
	{"control", []string{"Mute", "Vanish", "(Refuse 0)", "(Delay 3s)", "CrashBefore", "CrashAfter"}},
	{"store-watch", []string{"Vanish", "Duplicate", "(Delay 3s)"}},
	{"api-watch", []string{"Vanish", "Duplicate", "(Delay 3s)"}},
	{"cni", []string{"Vanish"}},
}

// refusals are what whoever asks is refused again and again as long as it lasts: a disk that is full, a store without a leader, an API server
// that sheds load.
var refusals = [...]string{"(Kind persist (Refuse 0))", "(Kind store (Refuse 0))", "(Kind control (Refuse 0))", "(Kind dataplane (Refuse -1))"}

// fault draws a precise fault: the n-th, or the first n, of one message or of one kind of operation; or whatever is refused all the time.
func (d drawer) fault() string {
	if d.coin("lasting refusal", 4) {
		return one(d, "refusal", refusals[:]...)
	}
	inner := ""
	if d.coin("fault of a message", 2) {
		name := one(d, "message", requests[:]...)
		inner = "(Request " + name + " " + one(d, "outcome", kinds[0].outcomes...) + ")"
	} else {
		k := kinds[d.c.Pick("kind", len(kinds))]
		inner = "(Kind " + k.kind + " " + one(d, "outcome", k.outcomes...) + ")"
	}
	n := strconv.Itoa(1 + d.c.Pick("count", 12))
	return "(" + one(d, "when", "Nth", "Nth", "First") + " " + n + " " + inner + ")"
}
