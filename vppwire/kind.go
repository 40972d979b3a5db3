package vppwire

import "strconv"

// Kind is what sort of object a Key names. The zero Kind is invalid.
type Kind uint8

// The kinds; each has its row in kinds, and its file.
const (
	KindLoopback Kind = iota + 1
	KindTap
	KindAFPacket
	KindVXLAN
	KindMemif
	KindUp
	KindTag
	KindMTU
	KindTable
	KindInTable
	KindAddress
	KindUnnumbered
	KindDHCPClient
	KindBridge
	KindBridgeMember
	KindFIB
	KindNeighbor
	KindNeighborConfig
	KindRoute
	KindProxyARP
	KindProxyARPOn
	KindSTN
	KindSourceTable
	KindSource
	KindGuard
	KindACL
	KindACLList
	KindNAT
	KindNATForwarding
	KindNATTimeouts
	KindNATAddress
	KindNATInterface
	KindNATOutput
	KindIdentity
	KindService
	KindMemifSocket
	KindVeth
	KindMacvlan
	KindLinuxLink
	KindOffload
	KindLinuxAddress
	KindLinuxRoute
	KindLinuxNeighbor
	KindOwnARP
	KindStolen
	KindMemifFolder
)

// row is one kind of object: what a Session, a dump and ParseObject must know of it beyond the methods of its type.
type row struct {
	// word begins the canonical line.
	word string
	// object is the zero object of the kind's type. Its methods are the kind: key, needs, both ways of the text, owner,
	// creation, deletion, and what dumps show; see Object and the optional interfaces beside it.
	object Object
	// dumps tell of objects of the kind. The first shows them; the others show that they cannot be there, or are needed
	// first.
	dumps []*dump
	// num says what the key's Num is: a "table", a "bd", or 6 for the "ip6" side.
	num string
	// creates says what interfaces the kind makes, where it makes any. Such kinds come first.
	creates creation
	// noDelete kinds have no deletion of their own: what nobody wants there any more stays until its owner goes.
	noDelete bool
	// plugin of VPP that answers for the kind; empty for the core, and for Linux.
	plugin string
}

// creation says which VPP interfaces a kind's objects make. Other objects need them and live on them.
type creation struct {
	// prefix begins the names that VPP gives them; an instance, a number or a device follows. Empty: none are made.
	prefix string
	// ownTag: the tag is given at creation. bare: nothing is set on them but up.
	ownTag, bare bool
}

// kinds is every kind of object of VPP and Linux, by Kind. A dump that shows several kinds reads them in this order,
// and a look at a whole node makes dumps in this order, except those that go first (see dump).
var kinds = []row{
	KindLoopback: {word: "loopback", object: Loopback{}, dumps: by(interfaceDump), creates: creation{prefix: loopbackPrefix}},
	KindTap:      {word: "tap", object: Tap{}, dumps: by(tapDump), creates: creation{prefix: tapPrefix, ownTag: true}},
	KindAFPacket: {word: "af-packet", object: AFPacket{}, dumps: by(afPacketDump), creates: creation{prefix: afPacketPrefix}, plugin: "af_packet"},
	KindVXLAN:    {word: "vxlan", object: VXLAN{}, dumps: by(vxlanDump), creates: creation{prefix: vxlanPrefix, bare: true}, plugin: "vxlan"},
	KindMemif:    {word: "memif", object: Memif{}, dumps: by(memifDump), creates: creation{prefix: memifPrefix}, plugin: memifPlugin},

	KindUp:  {word: "up", object: Up{}, dumps: by(interfaceDump)},
	KindTag: {word: "tag", object: Tag{}, dumps: by(interfaceDump)},
	KindMTU: {word: "mtu", object: MTU{}, dumps: by(interfaceDump), noDelete: true},

	KindTable:      {word: "table", object: Table{}, dumps: by(tableDump), num: "table"},
	KindInTable:    {word: "in-table", object: InTable{}, dumps: by(inTableDump, interfaceDump), num: "ip6"},
	KindAddress:    {word: "address", object: Address{}, dumps: by(addressDump, interfaceDump)},
	KindUnnumbered: {word: "unnumbered", object: Unnumbered{}, dumps: by(unnumberedDump)},

	KindDHCPClient: {word: "dhcp-client", object: DHCPClient{}, dumps: by(dhcpDump), plugin: dhcpPlugin},

	KindBridge:       {word: "bridge", object: Bridge{}, dumps: by(bridgeDump), num: "bd"},
	KindBridgeMember: {word: "member", object: Member{}, dumps: by(bridgeDump)},
	KindFIB:          {word: "fib", object: FIB{}, dumps: by(fibDump, bridgeDump), num: "bd"},

	KindNeighbor:       {word: "neighbor", object: Neighbor{}, dumps: by(neighborDump)},
	KindNeighborConfig: {word: "neighbor-config", object: NeighborConfig{}, dumps: by(neighborConfigDump), num: "ip6", noDelete: true},
	KindRoute:          {word: "route", object: Route{}, dumps: by(routeDump, tableDump, sourceDump), num: "table"},

	KindProxyARP:   {word: "proxy-arp", object: ProxyARP{}, dumps: by(proxyARPDump), num: "table"},
	KindProxyARPOn: {word: "proxy-arp-on", object: ProxyARPOn{}, dumps: by(proxyARPOnDump)},
	KindSTN:        {word: "stn", object: STN{}, dumps: by(stnDump), plugin: stnPlugin},

	KindSourceTable: {word: "source-table", object: SourceTable{}, dumps: by(classifierDump, classifierInfoDump), num: "ip6"},
	KindSource:      {word: "source", object: Source{}, dumps: by(sourcesDump)},
	KindGuard:       {word: "guard", object: Guard{}, dumps: by(guardDump, interfaceDump, classifierDump, classifierInfoDump), num: "ip6"},

	KindACL:     {word: "acl", object: ACL{}, dumps: by(aclDump), plugin: aclPlugin},
	KindACLList: {word: "acls", object: ACLList{}, dumps: by(aclListDump, interfaceDump, aclDump), plugin: aclPlugin},

	KindNAT:           {word: "nat", object: NAT{}, dumps: by(natDump), plugin: natPlugin},
	KindNATForwarding: {word: "nat-forwarding", object: NATForwarding{}, dumps: by(natDump), plugin: natPlugin},
	KindNATTimeouts:   {word: "nat-timeouts", object: NATTimeouts{}, dumps: by(natDump), noDelete: true, plugin: natPlugin},
	KindNATAddress:    {word: "nat-address", object: NATAddress{}, dumps: by(natAddressDump, natDump), plugin: natPlugin},
	KindNATInterface:  {word: "nat-interface", object: NATInterface{}, dumps: by(natInterfaceDump, natDump), num: "side", plugin: natPlugin},
	KindNATOutput:     {word: "nat-output", object: NATOutput{}, dumps: by(natOutputDump, natDump), plugin: natPlugin},
	KindIdentity:      {word: "nat-identity", object: Identity{}, dumps: by(identityDump, natDump), num: "table", plugin: natPlugin},
	KindService:       {word: "service", object: Service{}, dumps: by(serviceDump, natDump), num: "port", plugin: natPlugin},

	KindMemifSocket: {word: "memif-socket", object: MemifSocket{}, dumps: by(memifDump, memifSocketDump), num: "number", plugin: memifPlugin},

	KindVeth:          {word: "veth", object: Veth{}, dumps: by(linuxDump)},
	KindMacvlan:       {word: "macvlan", object: Macvlan{}, dumps: by(linuxDump)},
	KindLinuxLink:     {word: "link", object: LinkState{}, dumps: by(linuxDump), noDelete: true},
	KindOffload:       {word: "offload", object: Offload{}, dumps: by(linuxDump), noDelete: true},
	KindLinuxAddress:  {word: "linux-address", object: LinuxAddress{}, dumps: by(linuxDump)},
	KindLinuxRoute:    {word: "linux-route", object: LinuxRoute{}, dumps: by(linuxDump)},
	KindLinuxNeighbor: {word: "linux-neighbor", object: LinuxNeighborEntry{}, dumps: by(linuxDump)},
	KindOwnARP:        {word: "own-arp", object: OwnARP{}, dumps: by(linuxDump)},
	KindStolen:        {word: "stolen", object: Stolen{}, dumps: by(linuxDump)},
	KindMemifFolder:   {word: "memif-folder", object: MemifFolder{}, dumps: by(linuxDump)},
}

// optional reports whether a plugin need not be loaded while nobody wants anything of it.
func optional(plugin string) bool {
	return plugin == natPlugin || plugin == dhcpPlugin || plugin == aclPlugin || plugin == stnPlugin || plugin == memifPlugin
}

func by(dumps ...*dump) []*dump { return dumps }

// inLinux reports whether objects of the kind are Linux', in the namespace that their keys name.
func (k Kind) inLinux() bool { return len(kinds[k].dumps) > 0 && kinds[k].dumps[0] == linuxDump }

func (k Kind) String() string {
	if int(k) < len(kinds) && kinds[k].word != "" {
		return kinds[k].word
	}
	return "kind(" + strconv.Itoa(int(k)) + ")"
}

// Parts are the binary API messages of all kinds and their dumps by the plugin of VPP that must be loaded for them, in
// the order of the kinds; the core's come first, under the empty name.
func Parts() []Part {
	parts := []Part{{}}
	seen := map[*dump]bool{}
	for _, k := range kinds {
		i := 0
		for i < len(parts) && parts[i].Plugin != k.plugin {
			i++
		}
		if i == len(parts) {
			parts = append(parts, Part{Plugin: k.plugin, Optional: optional(k.plugin)})
		}
		if s, ok := k.object.(speaker); ok {
			parts[i].Messages = append(parts[i].Messages, s.messages()...)
		}
		for _, d := range k.dumps {
			if s, ok := d.reader.(speaker); ok && !seen[d] {
				parts[i].Messages = append(parts[i].Messages, s.messages()...)
			}
			seen[d] = true
		}
	}
	return parts
}
