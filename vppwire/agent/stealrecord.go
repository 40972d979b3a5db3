package agent

import (
	"errors"
	"net/netip"
	"strconv"
	"strings"

	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/mode"
)

// stolenRecords say what the host had on a NIC.
func stolenRecords(of mode.Stolen) []Record {
	return []Record{{Kind: RecordFormat, Format: formatStolen}, stolenRecord(of)}
}

// stolenRecord says what the host had on a NIC, or of a zero Stolen that it has it back.
func stolenRecord(of mode.Stolen) Record {
	return Record{Kind: RecordStolen, Stolen: string(appendStolen(nil, of))}
}

// stolenOf is what a record says.
func stolenOf(r Record) (of mode.Stolen, err error) {
	f := fields{rest: r.Stolen}
	of = f.stolen()
	return of, f.end()
}

// appendStolen writes "eth0 192.168.16.1/24 0.0.0.0/0>192.168.16.100@100": link, addresses, and routes with gateway and
// metric, lists with commas between; dashes for a NIC that the host has back.
func appendStolen(b []byte, of mode.Stolen) []byte {
	b = appendField(b, of.Link)
	b = append(b, ' ')
	for i, a := range of.Addrs {
		if i > 0 {
			b = append(b, ',')
		}
		b = a.AppendTo(b)
	}
	if len(of.Addrs) == 0 {
		b = append(b, '-')
	}
	b = append(b, ' ')
	for i, r := range of.Routes {
		if i > 0 {
			b = append(b, ',')
		}
		b = r.Via.AppendTo(append(r.Dst.AppendTo(b), '>'))
		b = strconv.AppendUint(append(b, '@'), uint64(r.Metric), 10)
	}
	if len(of.Routes) == 0 {
		b = append(b, '-')
	}
	return b
}

// stolen reads what appendStolen wrote.
func (f *fields) stolen() (of mode.Stolen) {
	of.Link = f.text()
	addrs, _ := f.next()
	routes, _ := f.next()
	if f.err != nil {
		return of
	}
	for _, text := range listed(addrs) {
		p, err := netip.ParsePrefix(text)
		if err != nil || !p.Addr().Is4() {
			f.fail("address %q: want one of IPv4 with its length", text)
		}
		of.Addrs = append(of.Addrs, p)
	}
	for _, text := range listed(routes) {
		dst, rest, _ := strings.Cut(text, ">")
		via, metric, _ := strings.Cut(rest, "@")
		p, err := netip.ParsePrefix(dst)
		gw, viaErr := parseAddr(via)
		n, metricErr := strconv.ParseUint(metric, 10, 32)
		if err := errors.Join(err, viaErr, metricErr); err != nil || p != p.Masked() {
			f.fail("route %q: want destination>gateway@metric", text)
		}
		of.Routes = append(of.Routes, vppwire.HostRoute{Dst: p, Via: gw, Link: of.Link, Metric: uint32(n)})
	}
	if of.Has() != (len(of.Addrs) > 0) {
		f.fail("a stolen link has a name and an address")
	}
	return of
}

func listed(text string) []string {
	if text == "-" {
		return nil
	}
	return strings.Split(text, ",")
}
