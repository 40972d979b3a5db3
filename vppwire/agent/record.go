package agent

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/vppwire/mode"
)

// Record is one line of the agent's journal.
type Record struct {
	// Kind tells which of the other fields are set.
	Kind RecordKind
	// IPAM is set for RecordIPAM.
	IPAM ipam.Record
	// Sandbox is set for RecordSandbox (the sandbox is attached from now on) and, its Owner only, for RecordGone.
	Sandbox Sandbox
	// Number is set for RecordSandbox: what the attachment is numbered by, see mode.Pod.
	Number uint32
	// NodeID and NodeUID are set for RecordNode: the cluster-wide ID that this node holds and the UID of the Node object
	// that it was claimed for. NodeAddress is the interconnect address the agent was told, zero for the plan's own; of
	// RecordLease the one that VPP has leased by DHCP.
	NodeID      uint32
	NodeUID     string
	NodeAddress netip.Prefix
	// Pools is set for RecordPools: ranges that the agent acts on from now on.
	Pools Pools
	// Boot is set for RecordBoot: sandboxes recorded from now on belong to this boot of the machine.
	Boot string
	// Began is set for RecordClock: the agent's own time when the boot named last before it began. UTC, nanoseconds.
	Began time.Time
	// Name is set for RecordName: the node whose journal this is. A machine that comes back as another node finds one that is not its own.
	Name string
	// Format is set for RecordFormat: what a reader of the journal has to know at least.
	Format uint32
	// Stolen is set for RecordStolen: what the host has had on the NIC that VPP takes from now on, as text (appendStolen); of
	// dashes the host has its NIC back.
	Stolen string
}

// RecordKind is a kind of journal line. The zero kind is invalid.
type RecordKind uint8

// Kinds of journal lines.
const (
	RecordIPAM RecordKind = iota + 1
	RecordSandbox
	RecordGone
	RecordNode
	RecordPools
	RecordBoot
	RecordFormat
	RecordLease
	RecordClock
	RecordName
	RecordStolen
)

// JournalFormat is the newest format of journals that this version reads. Format 1 needs no RecordFormat. Format 2 has
// a second address for sandboxes and ranges for it: this version writes it, and says so, in clusters of two families
// alone. Format 3 has sandboxes with a memif: it is written, and said, with the first of them;
// format 4 has a stolen NIC: an older reader would take the host's address for its own to change.
const (
	JournalFormat = formatStolen
	formatDual    = 2
	formatMemif   = 3
	formatStolen  = 4
)

// Errors of ParseRecord about lines that are as they were written.
var (
	// ErrNewer: the line says that the journal needs a newer reader. Nothing of the journal may be used or changed.
	ErrNewer = errors.New("a newer version has written it")
	// ErrUnknownRecord: a newer version has kinds of lines that this one does not know. Where leaving them out would do
	// harm, it says so by RecordFormat.
	ErrUnknownRecord = errors.New("unknown kind")
)

var recordKinds = [...]string{RecordIPAM: "ipam", RecordSandbox: "sandbox", RecordGone: "gone", RecordNode: "node",
	RecordPools: "pools", RecordBoot: "boot", RecordFormat: "format", RecordLease: "lease", RecordClock: "clock", RecordName: "name", RecordStolen: "stolen"}

// String is one line without its end; ParseRecord reads it back.
func (r Record) String() string { return string(r.AppendText(nil)) }

// AppendText appends what String returns. Free text is quoted; fields are in a fixed order, "-" where empty.
func (r Record) AppendText(b []byte) []byte {
	b = append(b, recordKinds[r.Kind]...)
	b = append(b, ' ')
	switch r.Kind {
	case RecordIPAM:
		return r.IPAM.AppendText(b)
	case RecordSandbox:
		s := r.Sandbox
		b = line(b).owner(s.Owner)
		b = strconv.AppendUint(append(b, ' '), uint64(r.Number), 10)
		for _, text := range [...]string{s.Netns, s.PodNamespace, s.PodName, s.PodUID} {
			b = appendField(append(b, ' '), text)
		}
		if s.Memif != 0 {
			b = append(append(b, ' '), s.Memif.String()...)
		}
		return b
	case RecordGone:
		return line(b).owner(r.Sandbox.Owner)
	case RecordNode:
		b = strconv.AppendUint(b, uint64(r.NodeID), 10)
		b = appendField(append(b, ' '), r.NodeUID)
		return appendPrefix(append(b, ' '), r.NodeAddress)
	case RecordPools:
		return appendPools(b, r.Pools)
	case RecordBoot:
		return appendField(b, r.Boot)
	case RecordName:
		return appendField(b, r.Name)
	case RecordLease:
		return appendPrefix(b, r.NodeAddress)
	case RecordClock:
		return strconv.AppendInt(b, r.Began.UnixNano(), 10)
	case RecordStolen:
		return append(b, r.Stolen...)
	case RecordFormat:
		return strconv.AppendUint(b, uint64(r.Format), 10)
	}
	panic(fmt.Sprintf("agent: record of kind %d", r.Kind))
}

// appendField writes text that may hold anything: as it is where it is one plain word, else quoted.
func appendField(b []byte, text string) []byte {
	if text == "" {
		return append(b, '-')
	}
	plain := text[0] != '-'
	for i := range len(text) {
		if c := text[i]; c <= ' ' || c == '"' || c == '\\' || c >= 0x7f {
			plain = false
		}
	}
	if plain {
		return append(b, text...)
	}
	return strconv.AppendQuoteToASCII(b, text)
}

func appendPrefix(b []byte, p netip.Prefix) []byte {
	if !p.IsValid() {
		return append(b, '-')
	}
	return p.AppendTo(b)
}

func appendPools(b []byte, p Pools) []byte {
	b = strconv.AppendInt(b, p.Generation, 10)
	b = appendPrefix(append(b, ' '), p.PodSubnet)
	b = strconv.AppendInt(append(b, ' '), int64(p.PodSubnetOneNodePrefixLen), 10)
	b = appendPrefix(append(b, ' '), p.VPPHostSubnet)
	b = strconv.AppendInt(append(b, ' '), int64(p.VPPHostSubnetOneNodeLen), 10)
	b = appendPrefix(append(b, ' '), p.NodeInterconnect)
	b = appendPrefix(append(b, ' '), p.VXLAN)
	b = appendPrefix(append(b, ' '), p.Service)
	b = append(b, ' ')
	if p.DefaultGateway.IsValid() {
		b = p.DefaultGateway.AppendTo(b)
	} else {
		b = append(b, '-')
	}
	b = strconv.AppendBool(append(b, ' '), p.External)
	if !p.Dual() {
		return b
	}
	s := p.Second
	b = appendPrefix(append(b, ' '), s.PodSubnet)
	b = strconv.AppendInt(append(b, ' '), int64(s.PodSubnetOneNodePrefixLen), 10)
	b = appendPrefix(append(b, ' '), s.VPPHostSubnet)
	b = strconv.AppendInt(append(b, ' '), int64(s.VPPHostSubnetOneNodeLen), 10)
	b = appendPrefix(append(b, ' '), s.NodeInterconnect)
	b = appendPrefix(append(b, ' '), s.VXLAN)
	b = appendPrefix(append(b, ' '), s.Service)
	if !s.DefaultGateway.IsValid() {
		return append(b, " -"...)
	}
	return s.DefaultGateway.AppendTo(append(b, ' '))
}

// ParseRecord reads what Record.String wrote.
func ParseRecord(text string) (Record, error) {
	r, err := parseRecord(text)
	if err != nil {
		return Record{}, fmt.Errorf("record %q: %w", text, err)
	}
	return r, nil
}

func parseRecord(text string) (Record, error) {
	kind, rest, _ := strings.Cut(text, " ")
	if kind == recordKinds[RecordIPAM] {
		one, err := ipam.ParseRecord(rest)
		return Record{Kind: RecordIPAM, IPAM: one}, err
	}
	f := fields{rest: rest}
	var r Record
	switch kind {
	case recordKinds[RecordSandbox]:
		r.Kind = RecordSandbox
		owner := f.owner()
		r.Number = uint32(f.int(1, mode.PodNumberMax))
		r.Sandbox = Sandbox{Owner: owner, Netns: f.text(), PodNamespace: f.text(), PodName: f.text(), PodUID: f.text()}
		if !f.done {
			word, _ := f.next()
			var known bool
			if r.Sandbox.Memif, known = mode.MemifOf(word); !known {
				f.fail("%q is no pod interface", word)
			}
		}
	case recordKinds[RecordGone]:
		r.Kind = RecordGone
		r.Sandbox.Owner = f.owner()
	case recordKinds[RecordNode]:
		r.Kind = RecordNode
		r.NodeID, r.NodeUID, r.NodeAddress = uint32(f.int(1, 1<<32-1)), f.text(), f.prefix(false)
	case recordKinds[RecordPools]:
		r.Kind = RecordPools
		r.Pools = f.pools()
	case recordKinds[RecordBoot]:
		r.Kind = RecordBoot
		r.Boot = f.text()
	case recordKinds[RecordName]:
		r.Kind, r.Name = RecordName, f.text()
	case recordKinds[RecordStolen]:
		r.Kind = RecordStolen
		r.Stolen = string(appendStolen(nil, f.stolen()))
	case recordKinds[RecordLease]:
		r.Kind, r.NodeAddress = RecordLease, f.prefix(false)
	case recordKinds[RecordClock]:
		r.Kind, r.Began = RecordClock, time.Unix(0, f.int(1, math.MaxInt64)).UTC()
	case recordKinds[RecordFormat]:
		r.Kind = RecordFormat
		if r.Format = uint32(f.int(1, 1<<32-1)); f.err == nil && r.Format > JournalFormat {
			return Record{}, fmt.Errorf("%w: it needs a reader of format %d, and this version reads up to %d", ErrNewer, r.Format, JournalFormat)
		}
	default:
		return Record{}, fmt.Errorf("%w %q", ErrUnknownRecord, kind)
	}
	return r, f.end()
}

// fields reads single-space separated fields and remembers the first error.
type fields struct {
	rest string
	done bool
	err  error
}

func (f *fields) fail(format string, args ...any) {
	if f.err == nil {
		f.err = fmt.Errorf(format, args...)
	}
}

// next is the next field, quoted or plain, and whether it was quoted.
func (f *fields) next() (text string, quoted bool) {
	if f.done {
		f.fail("too few fields")
		return "", false
	}
	if strings.HasPrefix(f.rest, `"`) {
		q, err := strconv.QuotedPrefix(f.rest)
		if err != nil {
			f.fail("quoted field: %w", err)
			return "", false
		}
		text, _ = strconv.Unquote(q) // QuotedPrefix has checked it
		tail := f.rest[len(q):]
		f.rest, f.done = strings.TrimPrefix(tail, " "), tail == ""
		if tail != "" && tail[0] != ' ' {
			f.fail("no space behind a quoted field")
		}
		return text, true
	}
	text, rest, more := strings.Cut(f.rest, " ")
	f.rest, f.done = rest, !more
	if text == "" {
		f.fail("an empty field")
	}
	return text, false
}

func (f *fields) text() string {
	text, quoted := f.next()
	if !quoted && text == "-" {
		return ""
	}
	return text
}

func (f *fields) owner() ipam.Owner {
	text, _ := f.next()
	o, err := ipam.ParseOwner(text)
	if err != nil && f.err == nil {
		f.err = err
	}
	return o
}

func (f *fields) int(least, most int64) int64 {
	text, _ := f.next()
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < least || n > most {
		f.fail("number %q: want one from %d to %d", text, least, most)
	}
	return n
}

// prefix reads a prefix; masked ones must not have host bits.
func (f *fields) prefix(masked bool) netip.Prefix {
	text, _ := f.next()
	if text == "-" {
		return netip.Prefix{}
	}
	p, err := netip.ParsePrefix(text)
	if err != nil {
		f.fail("%w", err)
	} else if masked && p != p.Masked() {
		f.fail("prefix %s has host bits", p)
	}
	return p
}

// parseAddr reads an address without a zone: zones mean nothing on another machine.
func parseAddr(text string) (netip.Addr, error) {
	a, err := netip.ParseAddr(text)
	if err == nil && a.Zone() != "" {
		err = fmt.Errorf("address %q has a zone", text)
	}
	return a, err
}

func (f *fields) pools() Pools {
	var p Pools
	p.Generation = f.int(0, 1<<62)
	p.PodSubnet, p.PodSubnetOneNodePrefixLen = f.prefix(true), int(f.int(0, 128))
	p.VPPHostSubnet, p.VPPHostSubnetOneNodeLen = f.prefix(true), int(f.int(0, 128))
	p.NodeInterconnect, p.VXLAN, p.Service = f.prefix(true), f.prefix(true), f.prefix(true)
	p.DefaultGateway = f.addr()
	switch text, _ := f.next(); text {
	case "true":
		p.External = true
	case "false":
	default:
		f.fail("flag %q: want true or false", text)
	}
	if f.err != nil || f.done {
		return p
	}
	s := &p.Second
	s.PodSubnet, s.PodSubnetOneNodePrefixLen = f.prefix(true), int(f.int(0, 128))
	s.VPPHostSubnet, s.VPPHostSubnetOneNodeLen = f.prefix(true), int(f.int(0, 128))
	s.NodeInterconnect, s.VXLAN, s.Service = f.prefix(true), f.prefix(true), f.prefix(true)
	s.DefaultGateway = f.addr()
	if !p.Dual() {
		f.fail("second ranges without pods")
	}
	return p
}

// addr reads an address, "-" for none.
func (f *fields) addr() netip.Addr {
	text, _ := f.next()
	if text == "-" {
		return netip.Addr{}
	}
	a, err := parseAddr(text)
	if err != nil {
		f.fail("%w", err)
	}
	return a
}

// end is the first error, or that fields are left over.
func (f *fields) end() error {
	if f.err == nil && !f.done {
		f.fail("too many fields: %q", f.rest)
	}
	return f.err
}
