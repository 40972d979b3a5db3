package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/vppdrill/vppdrill/ipam/kubectl"
	"github.com/vppdrill/vppdrill/ipam/space"
)

// Objects are what a cluster shows. An object that is read again replaces the former. The zero value is empty.
type Objects struct {
	// Readers are those of further kinds.
	Readers map[string]Reader
	nodes   map[string]*node
	// pods are in the order in which they came first; podAt is where each is.
	pods  []pod
	podAt map[podName]int32
	// parts are what each other object says, by its key.
	parts map[string]*part
	now   *part
	names map[string]string
}

type podName struct{ namespace, name string }

func (n podName) String() string { return n.namespace + "/" + n.name }

// part is what one object says.
type part struct {
	kind string
	// read: somebody knows the kind.
	read     bool
	ranges   []heldRange
	pools    []pool
	records  []record
	covers   []cover
	services []service
	// reserved are ranges that no pod gets addresses of.
	reserved []netip.Prefix
	handle   handle
	// subnet is of kube-ovn, attachment of Multus.
	subnet     *subnet
	attachment *attachment
	// claims are what an IPAddress says; daemon is a DaemonSet's name.
	claims *addressClaim
	daemon string
	// interfaces is the name of an ENIConfig.
	interfaces string
	// findings are what is wrong with the object by itself, and judged what was looked at for that.
	findings []Finding
	judged   map[string]int
}

// heldRange is a range that a node gives addresses of.
type heldRange struct {
	node   string
	prefix netip.Prefix
	// network is empty for the cluster's own.
	network string
	// by says where that stands: "pod CIDR", "Calico block"; source is who has it there.
	by     string
	source source
	// whole: the node has all of it that it will ever have, so that it can run out. kept are those of its addresses
	// that no pod gets.
	whole bool
	kept  int
}

// pool is a range of no node.
type pool struct {
	by      string
	source  source
	network string
	span
	// own: pods have its addresses wherever they run, not by ranges that it gives to nodes.
	own bool
	// except are spans of it that pods do not get.
	except []span
}

// span is from one address to another, both included.
type span struct{ first, last netip.Addr }

func spanOf(p netip.Prefix) span { return span{p.Masked().Addr(), space.Last(p)} }

func (s span) has(a netip.Addr) bool {
	return a.BitLen() == s.first.BitLen() && s.first.Compare(a) <= 0 && a.Compare(s.last) <= 0
}

func (s span) overlaps(o span) bool { return s.has(o.first) || o.has(s.first) }

func (s span) String() string { return s.first.String() + " to " + s.last.String() }

// record is what the CNI has written down of an address.
type record struct {
	addr    netip.Addr
	network string
	owner
	// by names the record; handle is Calico's.
	by, handle string
	source     source
}

// cover is a range of which a record says of each address whether it is used.
type cover struct {
	prefix  netip.Prefix
	network string
	by      string
	source  source
	// unsure: parts of it may be given by hand.
	unsure bool
}

// Reader reads what an object of one kind says, into Objects by Hold and Use.
type Reader func(*Objects, kubectl.Object) error

// Hold says that a node gives addresses of a range; by names the record that says so.
func (o *Objects) Hold(node string, p netip.Prefix, by string) {
	o.hold(heldRange{node: o.word(node), prefix: p, by: o.word(by), source: fromReaders})
}

func (o *Objects) hold(r heldRange) { o.now.ranges = append(o.now.ranges, r) }

// Use says that a record gives an address to a pod.
func (o *Objects) Use(a netip.Addr, namespace, pod, node, by string) {
	o.use(record{addr: a, owner: owner{kind: ofPod, namespace: namespace, name: pod, node: node}, by: by,
		source: fromReaders})
}

func (o *Objects) use(r record) { o.now.records = append(o.now.records, r) }

// Parse reads what kubectl.Read does; name says where it comes from. What an object of a known kind should say and does
// not is an error that names it.
func (o *Objects) Parse(name string, text []byte) error {
	return o.Read(name, bytes.NewReader(text))
}

// Read is Parse of a text of any length, of which no more than an object is kept.
func (o *Objects) Read(name string, text io.Reader) error {
	err := kubectl.Stream(name, text, o.Add)
	if bad := (*kubectl.Error)(nil); err != nil && !errors.As(err, &bad) { // those name their place themselves
		return fmt.Errorf("%s: %w", name, err)
	}
	return err
}

// Len is how many objects there are.
func (o *Objects) Len() int { return len(o.nodes) + len(o.pods) + len(o.parts) }

// Add takes an object. What one of a known kind should say and does not is an error that names it.
func (o *Objects) Add(one kubectl.Object) (err error) {
	if o.parts == nil {
		o.nodes, o.podAt, o.parts, o.names = map[string]*node{}, map[podName]int32{}, map[string]*part{}, map[string]string{}
	}
	switch read := o.Readers[one.Kind]; {
	case read != nil:
		err = o.other(one, read)
	case one.Group() != "":
		err = o.other(one, readers[one.Kind+"."+groupOf(one.Group())])
	case one.Kind == "Node":
		err = o.node(one)
	case one.Kind == "Pod":
		err = o.pod(one)
	default:
		read := readers[one.Kind]
		if read == nil {
			read = bare[one.Kind]
		}
		err = o.other(one, read)
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", one.Kind, one.Metadata.Name, err)
	}
	return nil
}

// groupOf is one name for groups that serve the same objects.
func groupOf(group string) string {
	if group == "projectcalico.org" {
		return "crd.projectcalico.org"
	}
	return group
}

// other reads an object that is neither a node nor a pod; nobody may know it.
func (o *Objects) other(one kubectl.Object, read Reader) error {
	kind := one.Kind
	if g := groupOf(one.Group()); g != "" {
		kind += "." + g
	}
	name := one.Metadata.Name
	if one.Kind == kubectl.IPAMD { // it has no name
		name = interfaceOf(one.ENIs)
	}
	o.now = &part{kind: o.word(kind), read: read != nil}
	o.parts[kind+" "+one.Metadata.Namespace+"/"+name] = o.now
	if read == nil {
		return nil
	}
	return read(o, one)
}

// word is one copy of a text that comes often.
func (o *Objects) word(text string) string {
	if known, ok := o.names[text]; ok {
		return known
	}
	text = strings.Clone(text)
	o.names[text] = text
	return text
}

// each gives what objects say, in the order of their keys.
func (o *Objects) each(take func(*part)) {
	for _, key := range slices.Sorted(maps.Keys(o.parts)) {
		take(o.parts[key])
	}
}
