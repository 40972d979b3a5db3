package fabric

import (
	"bytes"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/vppdrill/vppdrill/ipam/space"
	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/internal/spawn"
	"github.com/vppdrill/vppdrill/scenarios"
)

// dnsmasq is Debian's; its least lease is two minutes.
const dnsmasq = "dnsmasq"

// serverNumber is the server's own address in a range with room.
const serverNumber = 254

// dhcp is a lab's DHCP server: dnsmasq on the bridge of the wire. It lives in the fabric's namespace.
type dhcp struct {
	f *Fabric
	c lab.DHCPConfig

	mu      sync.Mutex
	process *spawn.Process
	// own are the server's addresses, one for each range that it has had, so that who asks for an old one is refused.
	own   []netip.Prefix
	hosts map[uint32]netip.Addr
	// kept are addresses that nobody gets any more. VPP 25.10 names the server in every renewal, which dnsmasq takes for
	// the choice of a new lease: it then goes on with the old address whatever is reserved, unless that is kept for
	// another.
	kept []netip.Addr
}

// ServeDHCP implements lab.Fabric.
func (f *Fabric) ServeDHCP(c lab.DHCPConfig) (lab.DHCP, error) {
	if _, err := exec.LookPath(dnsmasq); err != nil {
		return nil, lab.Cannot("a DHCP server for labs is not there: apt-get install dnsmasq-base")
	}
	d := &dhcp{f: f, c: c, hosts: map[uint32]netip.Addr{}}
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return nil, err
	}
	return d, d.Serve(c.Range)
}

func (d *dhcp) file(name string) string { return filepath.Join(d.c.Dir, name) }

// Serve implements lab.DHCP.
func (d *dhcp) Serve(r netip.Prefix) error {
	if err := d.Stop(true); err != nil {
		return err
	}
	d.mu.Lock()
	d.c.Range = r
	first, last, server := leased(r)
	d.own = append([]netip.Prefix{netip.PrefixFrom(server, r.Bits())}, d.own...)
	own := slices.Clone(d.own)
	if o := d.c.OtherRange; o.IsValid() {
		_, _, server := leased(o)
		own = append(own, netip.PrefixFrom(server, o.Bits()))
	}
	err := d.f.SetAddresses(Wire, own)
	if err == nil {
		err = os.WriteFile(d.file("dnsmasq.conf"), d.render(first, last), 0o644)
	}
	d.mu.Unlock()
	if err != nil {
		return err
	}
	return d.Stop(false)
}

// leased are the first and the last address of a range that are given out, and the server's own.
func leased(r netip.Prefix) (first, last, server netip.Addr) {
	number := min(space.Count(r)-2, serverNumber) // of room: Validate has seen it
	server, _ = space.Nth(r, number)
	return scenarios.FirstLeased(r), server.Prev(), server
}

// renderOthers is what serves machines' further interfaces, which are known by their MACs: they are on the same wire.
func (d *dhcp) renderOthers() (lines []string) {
	r := d.c.OtherRange
	if !r.IsValid() {
		return nil
	}
	for i := range d.c.Others {
		lines = append(lines, fmt.Sprintf("dhcp-mac=set:other,02:76:%02x:*:*:*", otherVPP(i)))
	}
	first, last, _ := leased(r)
	return append(lines, fmt.Sprintf("dhcp-range=tag:other,%s,%s,%s,%d", first, last, maskOf(r), int(d.c.Lease.Seconds())),
		"dhcp-option=tag:other,3")
}

func maskOf(r netip.Prefix) netip.Addr {
	m, _ := netip.AddrFrom4([4]byte{255, 255, 255, 255}).Prefix(r.Bits()) // of IPv4: Validate has seen it
	return m.Addr()
}

// render is dnsmasq's configuration. T1 (option 58) comes early, so that nobody waits long for a renewal.
func (d *dhcp) render(first, last netip.Addr) []byte {
	router := "3"
	if d.c.Router.IsValid() {
		router = "3," + d.c.Router.String()
	}
	notOther := ""
	if d.c.OtherRange.IsValid() {
		notOther = "tag:!other,"
	}
	var b bytes.Buffer
	for _, line := range append([]string{
		"port=0", "no-resolv", "no-hosts", "interface=" + Wire, "bind-interfaces", "except-interface=lo", "user=root", "pid-file=",
		fmt.Sprintf("dhcp-range=%s%s,%s,%s,%d", notOther, first, last, maskOf(d.c.Range), int(d.c.Lease.Seconds())),
		"dhcp-option=" + router, "dhcp-option=6", fmt.Sprintf("dhcp-option-force=58,%d", int(d.c.Renew.Seconds())),
		"dhcp-hostsfile=" + d.file("hosts"), "dhcp-leasefile=" + d.file("leases"),
		// Nobody else is there who could have an address, or another server.
		"no-ping", "dhcp-authoritative", "log-dhcp", "log-facility=" + d.file("dnsmasq.log"),
	}, d.renderOthers()...) {
		b.WriteString(line + "\n")
	}
	return b.Bytes()
}

// Stop implements lab.DHCP.
func (d *dhcp) Stop(stop bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if stop {
		if d.process != nil {
			d.process.Kill()
			d.process = nil
		}
		return nil
	}
	if d.process != nil {
		return nil
	}
	if err := d.writeHosts(); err != nil {
		return err
	}
	cmd := exec.Command(dnsmasq, "--keep-in-foreground", "--conf-file="+d.file("dnsmasq.conf"))
	cmd.Env = append(os.Environ(), spawn.Mark(d.c.ID))
	p, err := spawn.Start(spawn.Config{Cmd: cmd, Netns: d.f.path, Output: d.file("output.log"), Record: d.file("process")})
	if err != nil {
		return fmt.Errorf("start %s: %w", dnsmasq, err)
	}
	d.process = p
	select {
	case <-p.Done():
		text, _ := os.ReadFile(d.file("output.log"))
		return fmt.Errorf("%s ended at once: %s", dnsmasq, bytes.TrimSpace(text))
	case <-time.After(100 * time.Millisecond):
	}
	return nil
}

// writeHosts writes which addresses machines are to have.
func (d *dhcp) writeHosts() error {
	var b bytes.Buffer
	for number, a := range d.hosts { //vppdrill:unordered each line by itself
		fmt.Fprintf(&b, "%s,%s\n", mac(vppMAC, number), a)
	}
	for i, a := range d.kept {
		fmt.Fprintf(&b, "%s,%s\n", mac(nobodyMAC, uint32(i)), a)
	}
	return os.WriteFile(d.file("hosts"), b.Bytes(), 0o644)
}

// Reserve implements lab.DHCP.
func (d *dhcp) Reserve(number uint32, a netip.Addr) error {
	now, _, _ := d.Leased(number)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.hosts[number] = a
	d.kept = slices.DeleteFunc(d.kept, func(k netip.Addr) bool { return k == a })
	if old := now.Addr(); now.IsValid() && old != a {
		d.kept = append(d.kept, old)
	}
	if err := d.writeHosts(); err != nil || d.process == nil {
		return err
	}
	return syscall.Kill(d.process.PID(), syscall.SIGHUP)
}

// Leased implements lab.DHCP: dnsmasq writes each lease down before it says so.
func (d *dhcp) Leased(number uint32) (now, wish netip.Prefix, up bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now = d.given(mac(vppMAC, number), d.c.Range)
	wish = now
	if a, ok := d.hosts[number]; ok {
		wish = netip.PrefixFrom(a, d.c.Range.Bits())
	}
	return now, wish, d.process != nil
}

// LeasedOther implements lab.DHCP.
func (d *dhcp) LeasedOther(number uint32, nic int) (netip.Prefix, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.given(mac(otherVPP(nic), number), d.c.OtherRange), d.process != nil
}

// given is what of a range whoever has that MAC has leased now.
func (d *dhcp) given(to net.HardwareAddr, ranges netip.Prefix) (now netip.Prefix) {
	text, _ := os.ReadFile(d.file("leases")) // none yet is none
	for _, line := range strings.Split(string(text), "\n") {
		w := strings.Fields(line) // expiry, MAC, address, host name, client ID
		if len(w) < 3 || w[1] != to.String() {
			continue
		}
		until, err := strconv.ParseInt(w[0], 10, 64)
		a, err2 := netip.ParseAddr(w[2])
		if err == nil && err2 == nil && until > time.Now().Unix() && ranges.Contains(a) {
			now = netip.PrefixFrom(a, ranges.Bits())
		}
	}
	return now
}

// Close implements lab.DHCP.
func (d *dhcp) Close() error { return d.Stop(true) }
