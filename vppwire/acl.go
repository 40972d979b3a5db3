package vppwire

import (
	"slices"
	"strconv"
	"strings"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/acl"
	"go.fd.io/govpp/binapi/acl_types"
	"go.fd.io/govpp/binapi/ip_types"
)

// ACL is a list of rules that an interface's packets are held against, once an ACLList says so. It is changed as a
// whole, by one message: at any instant packets meet the old rules or the new ones, and sessions that were begun go on.
type ACL struct {
	// Name is its tag in VPP, at most 63 bytes; it begins with ACLPrefix.
	Name string
	// Rules is what FormatACLRules made of them; without any nothing passes.
	Rules string
	// Held: whatever rules are there already are left alone, and these are for where there are none.
	Held bool
}

// ACLPrefix begins the names of ACLs that are ours.
const ACLPrefix = "policy/"

// aclPlugin is VPP's name of the plugin that has ACLs.
const aclPlugin = "acl"

func aclKey(name string) Key { return Key{Kind: KindACL, Name: name} }

// Key implements Object.
func (o ACL) Key() Key { return aclKey(o.Name) }

// AppendNeeds implements Object.
func (ACL) AppendNeeds(keys []Key) []Key { return keys }

// AppendText implements Object: "acl policy/tap3/in reflect/0.0.0.0/0>0.0.0.0/0", "acl policy/tap3/in held none".
func (o ACL) AppendText(b []byte) []byte {
	b = appendWord(b, "acl", o.Name)
	if o.Held {
		b = append(b, " held"...)
	}
	if o.Rules == "" {
		return append(b, " none"...)
	}
	return append(append(b, ' '), o.Rules...)
}

func (ACL) parse(p *words) Object {
	o := ACL{Name: p.word(), Held: p.has("held")}
	if p.has("none") {
		return o
	}
	o.Rules = p.word()
	if _, ok := ParseACLRules(o.Rules); !ok && p.err == nil {
		p.fail("%q are no rules", o.Rules)
	}
	return o
}

func (o ACL) owner() (Key, bool)   { return Key{}, false }
func (o ACL) ours() bool           { return strings.HasPrefix(o.Name, ACLPrefix) }
func (o ACL) replaces(Object) bool { return true }
func (o ACL) shown() dumpStep      { return dumpStep{dump: aclDump} }

// suffices implements contented.
func (o ACL) suffices(Object) bool { return o.Held }

type aclMessages struct {
	add      acl.ACLAddReplace
	addReply acl.ACLAddReplaceReply
	del      acl.ACLDel
	delReply acl.ACLDelReply
}

func (ACL) messages() []api.Message {
	m := new(aclMessages)
	return []api.Message{&m.add, &m.addReply, &m.del, &m.delReply}
}

func (o ACL) create(s *Session, r *request, over Object) {
	m := buffers[aclMessages](s, KindACL)
	list, _ := ParseACLRules(o.Rules)
	m.add = acl.ACLAddReplace{ACLIndex: noACL, Tag: o.Name, Count: uint32(len(list)), R: make([]acl_types.ACLRule, len(list))}
	if over != nil {
		m.add.ACLIndex = s.acls.of(o.Name)
	}
	for i, rule := range list {
		m.add.R[i] = rule.message()
	}
	o.Held = false
	r.obj = o
	r.invoke(&m.add, &m.addReply, &m.addReply.Retval)
	r.number = &m.addReply.ACLIndex
}

func (o ACL) delete(s *Session, r *request) bool {
	m := buffers[aclMessages](s, KindACL)
	m.del.ACLIndex = s.acls.of(o.Name)
	r.invoke(&m.del, &m.delReply, &m.delReply.Retval)
	return true
}

// message is the rule as VPP takes it. It asks for no source port.
func (r ACLRule) message() acl_types.ACLRule {
	return acl_types.ACLRule{IsPermit: acl_types.ACLAction(r.Action), SrcPrefix: toPrefix(r.Src), DstPrefix: toPrefix(r.Dst), Proto: ip_types.IPProto(r.Proto),
		SrcportOrIcmptypeLast: ^uint16(0), DstportOrIcmpcodeFirst: r.First, DstportOrIcmpcodeLast: r.Last}
}

// foreignRules are those that no ACL of ours has.
const foreignRules = "?"

// readACLRules is the text of rules as a dump shows them.
func readACLRules(list []acl_types.ACLRule) string {
	rules := make([]ACLRule, len(list))
	for i := range list {
		m := &list[i]
		r := ACLRule{Action: ACLAction(m.IsPermit), Src: fromPrefix(m.SrcPrefix), Dst: fromPrefix(m.DstPrefix), Proto: Proto(m.Proto), First: m.DstportOrIcmpcodeFirst, Last: m.DstportOrIcmpcodeLast}
		if int(r.Action) >= len(aclActions) || r.Proto != 0 && r.Proto.String() == "" || r.message() != *m {
			return foreignRules
		}
		rules[i] = r
	}
	return FormatACLRules(rules)
}

// noACL is VPP's ~0: the number of an ACL that is to be made, and of none.
const noACL = ^uint32(0)

// aclNumbers are VPP's numbers of its ACLs.
type aclNumbers struct {
	ofName map[string]uint32
	nameOf map[uint32]string
}

func (n *aclNumbers) of(name string) uint32 {
	if i, ok := n.ofName[name]; ok {
		return i
	}
	return noACL
}

// name is the name of a number; "#7" for one that no ACL has.
func (n *aclNumbers) name(number uint32) string {
	if name, ok := n.nameOf[number]; ok {
		return name
	}
	return deadPrefix + strconv.FormatUint(uint64(number), 10)
}

func (n *aclNumbers) set(name string, number uint32) { n.ofName[name], n.nameOf[number] = number, name }

func (n *aclNumbers) drop(name string) {
	if number, ok := n.ofName[name]; ok {
		delete(n.ofName, name)
		delete(n.nameOf, number)
	}
}

func (n *aclNumbers) reset() { n.ofName, n.nameOf = map[string]uint32{}, map[uint32]string{} }

// aclDump shows all ACLs, and, where there are any, has it looked at which interfaces have them.
var aclDump = &dump{whole: true, plugin: aclPlugin, reader: aclReader{}}

type aclReader struct{}

func (aclReader) messages() []api.Message { return []api.Message{&acl.ACLDump{}, &acl.ACLDetails{}} }

func (aclReader) ask(_ *Session, _ dumpStep, r *request) { r.dump(&acl.ACLDump{ACLIndex: noACL}) }

func (aclReader) take(s *Session, _ dumpStep, res Result) {
	s.acls.reset()
	for _, m := range res.shown.details {
		d, ok := m.(*acl.ACLDetails)
		if !ok {
			continue
		}
		o := ACL{Name: d.Tag, Rules: readACLRules(d.R)}
		for s.acls.of(o.Name) != noACL { // nobody wants it under that name
			o.Name += "+"
		}
		s.acls.set(o.Name, d.ACLIndex)
		s.observe(o)
	}
	if len(s.acls.ofName) > 0 {
		s.dump.push(dumpStep{dump: aclListDump})
	}
}

// ACLList has an interface's packets held against ACLs: In is for what comes in by it, Out for what leaves. What no
// rule of either lets through is dropped, unless it belongs to a session of the interface. VPP ends all sessions of an
// interface that gets other ACLs (acl_interface_set_inout_acl_list, src/plugins/acl/acl.c, 25.10): an interface keeps
// its own for as long as it lives, and it is their rules that change.
type ACLList struct{ If, In, Out string }

func aclListKey(name string) Key { return Key{Kind: KindACLList, Name: name} }

// Key implements Object.
func (o ACLList) Key() Key { return aclListKey(o.If) }

// AppendNeeds implements Object.
func (o ACLList) AppendNeeds(keys []Key) []Key {
	keys = needInterface(keys, o.If)
	for _, name := range [...]string{o.In, o.Out} {
		for one := range strings.SplitSeq(name, ",") {
			if !strings.HasPrefix(one, deadPrefix) && one != "" {
				keys = append(keys, aclKey(one))
			}
		}
	}
	return keys
}

// AppendText implements Object: "acls tap3 policy/tap3/in policy/tap3/out".
func (o ACLList) AppendText(b []byte) []byte { return appendWord(b, "acls", o.If, o.In, o.Out) }

func (ACLList) parse(p *words) Object { return ACLList{If: p.word(), In: p.word(), Out: p.word()} }

func (o ACLList) owner() (Key, bool)   { return interfaceKey(o.If) }
func (o ACLList) ours() bool           { return ownInterface(o.If) }
func (o ACLList) replaces(Object) bool { return true }
func (o ACLList) shown() dumpStep      { return dumpStep{dump: aclListDump} }

// lapses: with the interface, and with the last ACL.
func (o ACLList) lapses(s *Session, st dumpStep) bool {
	return st.dump == interfaceDump && !s.known(o.If) || st.dump == aclDump && len(s.acls.ofName) == 0
}

type aclListMessages struct {
	set      acl.ACLInterfaceSetACLList
	setReply acl.ACLInterfaceSetACLListReply
}

func (ACLList) messages() []api.Message {
	m := new(aclListMessages)
	return []api.Message{&m.set, &m.setReply}
}

func (o ACLList) fill(s *Session, r *request, acls ...uint32) {
	m := buffers[aclListMessages](s, KindACLList)
	m.set = acl.ACLInterfaceSetACLList{SwIfIndex: s.swIfIndex(o.If), Count: uint8(len(acls)), NInput: uint8(len(acls) / 2), Acls: acls}
	r.invoke(&m.set, &m.setReply, &m.setReply.Retval)
}

func (o ACLList) create(s *Session, r *request, _ Object) {
	o.fill(s, r, s.acls.of(o.In), s.acls.of(o.Out))
}

func (o ACLList) delete(s *Session, r *request) bool { o.fill(s, r); return true }

// aclListDump tells which ACLs each interface has.
var aclListDump = &dump{plugin: aclPlugin, reader: aclListReader{}}

type aclListReader struct{}

func (aclListReader) messages() []api.Message {
	return []api.Message{&acl.ACLInterfaceListDump{}, &acl.ACLInterfaceListDetails{}}
}

func (aclListReader) ask(_ *Session, _ dumpStep, r *request) {
	r.dump(&acl.ACLInterfaceListDump{SwIfIndex: allInterfacesIndex})
}

func (aclListReader) take(s *Session, _ dumpStep, res Result) {
	for _, m := range res.shown.details {
		d, ok := m.(*acl.ACLInterfaceListDetails)
		if !ok || len(d.Acls) == 0 {
			continue
		}
		names := make([]string, len(d.Acls))
		for i, number := range d.Acls {
			names[i] = s.acls.name(number)
		}
		in := min(int(d.NInput), len(names))
		s.observe(ACLList{If: s.interfaceName(uint32(d.SwIfIndex)), In: listed(names[:in]), Out: listed(names[in:])})
	}
}

// listed are the names of a list that may be empty.
func listed(names []string) string {
	if len(names) == 0 {
		return deadPrefix
	}
	return strings.Join(slices.Clone(names), ",")
}
