package nodeid

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// Prefix is what node records are stored under: Prefix + decimal node ID.
const Prefix = "allocatedIDs/"

// Record is a node's record in the cluster's store: who holds an ID and where its pods are reached.
type Record struct {
	ID        uint32
	Name, UID string
	// Address is the interconnect address with its subnet's length, zero while unknown.
	Address netip.Prefix
	// Management are the node's addresses outside of VPP, in the Node object's order.
	Management []netip.Addr
	// PodNetworks are the blocks whose pods live on the node: the ones it gives addresses from first, draining ones
	// behind.
	PodNetworks []netip.Prefix
	// HostNetwork is the link between VPP and Linux; VXLAN the BVI's address.
	HostNetwork netip.Prefix
	VXLAN       netip.Addr
	// SecondAddress, SecondHostNetwork and SecondVXLAN are the same of the second family; zero in clusters of one.
	SecondAddress, SecondHostNetwork netip.Prefix
	SecondVXLAN                      netip.Addr
	// ReleasedAt is when the node was found gone; the zero time while it lives. UTC, nanoseconds.
	ReleasedAt time.Time
}

// Key is the record's key in the store.
func (n Record) Key() string { return recordKey(n.ID) }

func recordKey(id uint32) string {
	b := make([]byte, 0, len(Prefix)+10)
	b = append(b, Prefix...)
	return string(strconv.AppendUint(b, uint64(id), 10))
}

// parseKey reads recordKey back; the ID is at least 1 and written without leading zeros.
func parseKey(key string) (uint32, bool) {
	tail, ok := strings.CutPrefix(key, Prefix)
	if !ok || tail == "" || tail[0] == '0' || tail[0] == '+' {
		return 0, false
	}
	n, err := strconv.ParseUint(tail, 10, 32)
	return uint32(n), err == nil
}

// String is the record's canonical JSON: fields in this order, empty optional ones left out, no white space.
func (n Record) String() string { return string(n.AppendText(nil)) }

// AppendText appends what String returns.
func (n Record) AppendText(b []byte) []byte {
	b = append(b, `{"id":`...)
	b = strconv.AppendUint(b, uint64(n.ID), 10)
	b = append(b, `,"name":`...)
	b = appendJSONString(b, n.Name)
	b = append(b, `,"uid":`...)
	b = appendJSONString(b, n.UID)
	b = append(b, `,"ip_address":"`...)
	if n.Address.IsValid() {
		b = n.Address.AppendTo(b)
	}
	b = append(b, `","management_ip_address":"`...)
	for i, m := range n.Management {
		if i > 0 {
			b = append(b, ',')
		}
		b = m.AppendTo(b)
	}
	b = append(b, `","pod_networks":[`...)
	for i, p := range n.PodNetworks {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = p.AppendTo(b)
		b = append(b, '"')
	}
	b = append(b, ']')
	if n.HostNetwork.IsValid() {
		b = append(b, `,"host_network":"`...)
		b = n.HostNetwork.AppendTo(b)
		b = append(b, '"')
	}
	if n.VXLAN.IsValid() {
		b = append(b, `,"vxlan":"`...)
		b = n.VXLAN.AppendTo(b)
		b = append(b, '"')
	}
	for _, f := range [...]struct {
		name   string
		prefix netip.Prefix
	}{{`,"second_ip_address":"`, n.SecondAddress}, {`,"second_host_network":"`, n.SecondHostNetwork}} {
		if f.prefix.IsValid() {
			b = append(f.prefix.AppendTo(append(b, f.name...)), '"')
		}
	}
	if n.SecondVXLAN.IsValid() {
		b = append(n.SecondVXLAN.AppendTo(append(b, `,"second_vxlan":"`...)), '"')
	}
	if !n.ReleasedAt.IsZero() {
		b = append(b, `,"released_at":"`...)
		b = n.ReleasedAt.UTC().AppendFormat(b, time.RFC3339Nano)
		b = append(b, '"')
	}
	return append(b, '}')
}

// appendJSONString quotes s. Names and UIDs of Kubernetes need no escapes; everything else takes the slow path.
func appendJSONString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x7f || c == '<' || c == '>' || c == '&' {
			quoted, err := json.Marshal(s)
			if err != nil {
				panic(fmt.Sprintf("nodeid: quote %q: %v", s, err)) // Marshal of a string cannot fail
			}
			return append(b, quoted...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}
