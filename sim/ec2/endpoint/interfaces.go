package endpoint

import (
	"encoding/xml"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/sim/ec2"
)

type tagXML struct {
	Key   string `xml:"key"`
	Value string `xml:"value"`
}

type addressXML struct {
	Address string `xml:"privateIpAddress"`
	Primary bool   `xml:"primary"`
}

type prefixXML struct {
	Prefix string `xml:"ipv4Prefix"`
}

type prefix6XML struct {
	Prefix string `xml:"ipv6Prefix"`
}

type attachmentXML struct {
	ID                  string `xml:"attachmentId"`
	Instance            string `xml:"instanceId,omitempty"`
	Owner               string `xml:"instanceOwnerId,omitempty"`
	Device              int    `xml:"deviceIndex"`
	Card                int    `xml:"networkCardIndex"`
	Status              string `xml:"status"`
	Time                string `xml:"attachTime"`
	DeleteOnTermination bool   `xml:"deleteOnTermination"`
}

type groupXML struct {
	ID   string `xml:"groupId"`
	Name string `xml:"groupName"`
}

// interfaceXML is an interface as DescribeNetworkInterfaces, CreateNetworkInterface and DescribeInstances show it.
type interfaceXML struct {
	ID               string         `xml:"networkInterfaceId"`
	Subnet           string         `xml:"subnetId"`
	VPC              string         `xml:"vpcId"`
	Zone             string         `xml:"availabilityZone"`
	Description      string         `xml:"description"`
	Owner            string         `xml:"ownerId"`
	RequesterManaged bool           `xml:"requesterManaged"`
	Status           string         `xml:"status"`
	MAC              string         `xml:"macAddress"`
	Address          string         `xml:"privateIpAddress"`
	SourceDestCheck  bool           `xml:"sourceDestCheck"`
	Kind             string         `xml:"interfaceType"`
	Groups           []groupXML     `xml:"groupSet>item"`
	Attachment       *attachmentXML `xml:"attachment"`
	Tags             []tagXML       `xml:"tagSet>item"`
	Addresses        []addressXML   `xml:"privateIpAddressesSet>item"`
	Prefixes         []prefixXML    `xml:"ipv4PrefixSet>item"`
	Prefixes6        []prefix6XML   `xml:"ipv6PrefixSet>item"`
}

// mac is the interface's hardware address, which follows from its ID.
func mac(id string) string {
	digits := strings.TrimPrefix(id, "eni-")
	digits = "02" + digits[max(len(digits)-10, 0):]
	parts := make([]string, 0, 6)
	for n := 0; n+1 < len(digits); n += 2 {
		parts = append(parts, digits[n:n+2])
	}
	return strings.Join(parts, ":")
}

// kindOf is the type of an interface.
func kindOf(e ec2.ENI) string {
	if e.Trunk {
		return "trunk"
	}
	return "interface"
}

func tagsXML(tags map[string]string) (list []tagXML) {
	for k, v := range tags { // in any order: it is sorted below
		list = append(list, tagXML{k, v})
	}
	slices.SortFunc(list, func(a, b tagXML) int { return strings.Compare(a.Key, b.Key) })
	return list
}

func showInterface(now time.Time, i ec2.Interface) interfaceXML {
	x := interfaceXML{ID: i.ID, Subnet: i.Subnet, VPC: vpcID, Zone: i.Zone, Description: i.Description, Owner: ownerID, MAC: mac(i.ID),
		Address: i.Address.String(), SourceDestCheck: true, Kind: kindOf(i.ENI), Status: "available", Tags: tagsXML(i.Tags)}
	for _, g := range i.Groups {
		x.Groups = append(x.Groups, groupXML{g, g})
	}
	x.Addresses = []addressXML{{i.Address.String(), true}}
	for _, u := range i.Units {
		if u.IsSingleIP() {
			x.Addresses = append(x.Addresses, addressXML{Address: u.Addr().String()})
		} else {
			x.Prefixes = append(x.Prefixes, prefixXML{u.String()})
		}
	}
	for _, p := range i.Prefixes6 {
		x.Prefixes6 = append(x.Prefixes6, prefix6XML{p.String()})
	}
	if i.Loose(now) {
		return x
	}
	x.Status = "in-use"
	x.Attachment = &attachmentXML{ID: i.Attachment, Instance: i.Instance, Owner: ownerID, Device: i.Device, Status: "attached",
		Time: i.Attached.UTC().Format("2006-01-02T15:04:05.000Z"), DeleteOnTermination: i.DeleteOnTermination}
	switch {
	case i.Detaching(now):
		x.Attachment.Status = "detaching"
	case now.Before(i.Attached):
		x.Attachment.Status = "attaching"
	}
	return x
}

// filtered is what an interface has under a filter's name.
func filtered(now time.Time, i ec2.Interface, name string) ([]string, bool) {
	x := showInterface(now, i)
	attached := func(value string) ([]string, bool) {
		if x.Attachment == nil {
			return nil, true
		}
		return []string{value}, true
	}
	switch name {
	case "attachment.instance-id":
		return attached(i.Instance)
	case "attachment.attachment-id":
		return attached(i.Attachment)
	case "attachment.status":
		if x.Attachment == nil {
			return nil, true
		}
		return attached(x.Attachment.Status)
	case "network-interface-id":
		return []string{i.ID}, true
	case "subnet-id":
		return []string{i.Subnet}, true
	case "vpc-id":
		return []string{vpcID}, true
	case "status":
		return []string{x.Status}, true
	case "description":
		return []string{i.Description}, true
	case "private-ip-address":
		return []string{i.Address.String()}, true
	}
	return tagged(i.Tags, name)
}

func describeInterfaces(s *Server, q *query) (any, error) {
	all, err := s.cfg.Region.Interfaces(q.now)
	if err != nil {
		return nil, err
	}
	ids := q.list("NetworkInterfaceId")
	for _, id := range ids {
		if !slices.ContainsFunc(all, func(i ec2.Interface) bool { return i.ID == id }) {
			return nil, &ec2.APIError{Code: ec2.CodeUnknownENI, Message: fmt.Sprintf("The networkInterface ID '%s' does not exist", id)}
		}
	}
	var list []interfaceXML
	for _, i := range all {
		if (len(ids) == 0 || slices.Contains(ids, i.ID)) && q.chosen(func(name string) ([]string, bool) { return filtered(q.now, i, name) }) {
			list = append(list, showInterface(q.now, i))
		}
	}
	type answer struct {
		XMLName xml.Name       `xml:"networkInterfaceSet"`
		Items   []interfaceXML `xml:"item"`
	}
	part, next := page(q, list)
	return withToken(answer{Items: part}, next), nil
}

// tokenXML is the token of the next page.
type tokenXML struct {
	XMLName xml.Name `xml:"nextToken"`
	Token   string   `xml:",chardata"`
}

// withToken is an answer with the token of its next page, if it has one.
func withToken(answer any, next string) any {
	if next == "" {
		return answer
	}
	return []any{answer, tokenXML{Token: next}}
}

func createInterface(s *Server, q *query) (any, error) {
	q.unsupported("PrivateIpAddress", "PrivateIpAddresses", "Ipv4Prefix", "Ipv6AddressCount", "Ipv6Addresses", "Ipv6Prefix", "Ipv6PrefixCount", "InterfaceType")
	n := ec2.NewInterface{Subnet: q.needed("SubnetId"), Description: q.text("Description"), Groups: q.list("SecurityGroupId"),
		Units: q.number("SecondaryPrivateIpAddressCount"), Token: q.text("ClientToken"), Tags: map[string]string{}}
	if count := q.number("Ipv4PrefixCount"); count > 0 {
		if n.Units > 0 {
			q.refuse(ec2.CodeInvalidQuantity, "Ipv4PrefixCount and SecondaryPrivateIpAddressCount exclude each other.")
		}
		n.Units, n.Prefixes = count, true
	}
	for k := 1; q.form.Has(fmt.Sprintf("TagSpecification.%d.ResourceType", k)); k++ {
		n.Tags = q.tags(fmt.Sprintf("TagSpecification.%d.Tag", k))
	}
	if q.err != nil {
		return nil, q.err
	}
	made, err := s.cfg.Region.CreateInterface(q.now, n)
	if err != nil {
		return nil, err
	}
	type answer struct {
		XMLName xml.Name `xml:"networkInterface"`
		interfaceXML
	}
	return answer{interfaceXML: showInterface(q.now, made)}, nil
}

// doneXML is the answer of requests that say nothing else.
type doneXML struct {
	XMLName xml.Name `xml:"return"`
	Done    bool     `xml:",chardata"`
}

func done(err error) (any, error) { return doneXML{Done: true}, err }

func attach(s *Server, q *query) (any, error) {
	eni, instance, device := q.needed("NetworkInterfaceId"), q.needed("InstanceId"), q.number("DeviceIndex")
	q.needed("DeviceIndex")
	if q.err != nil {
		return nil, q.err
	}
	id, err := s.cfg.Region.Attach(q.now, eni, instance, device)
	type answer struct {
		XMLName xml.Name `xml:"attachmentId"`
		ID      string   `xml:",chardata"`
	}
	return answer{ID: id}, err
}

func detach(s *Server, q *query) (any, error) {
	id := q.needed("AttachmentId")
	if q.err != nil {
		return nil, q.err
	}
	return done(s.cfg.Region.Detach(q.now, id))
}

func deleteInterface(s *Server, q *query) (any, error) {
	id := q.needed("NetworkInterfaceId")
	if q.err != nil {
		return nil, q.err
	}
	return done(s.cfg.Region.DeleteInterface(q.now, id))
}

func modify(s *Server, q *query) (any, error) {
	q.unsupported("SourceDestCheck.Value", "EnaSrdSpecification.EnaSrdEnabled")
	eni := q.needed("NetworkInterfaceId")
	a := ec2.Attribute{Attachment: q.text("Attachment.AttachmentId"), DeleteOnTermination: q.flag("Attachment.DeleteOnTermination"), Groups: q.list("SecurityGroupId")}
	if q.form.Has("Description.Value") {
		text := q.text("Description.Value")
		a.Description = &text
	}
	if q.err != nil {
		return nil, q.err
	}
	return done(s.cfg.Region.Modify(q.now, eni, a))
}

func createTags(s *Server, q *query) (any, error) {
	tags := q.tags("Tag")
	for _, id := range q.list("ResourceId") {
		if !strings.HasPrefix(id, "eni-") {
			q.refuse("UnsupportedOperation", "The model of EC2 keeps tags of interfaces alone, %s is none.", id)
		}
		if q.err != nil {
			return nil, q.err
		}
		if err := s.cfg.Region.Tag(q.now, id, tags); err != nil {
			return nil, err
		}
	}
	return done(nil)
}

// textsOf are prefixes as EC2 writes them: single addresses without a length.
func textsOf(list []netip.Prefix) (out []string) {
	for _, p := range list {
		if p.IsSingleIP() {
			out = append(out, p.Addr().String())
		} else {
			out = append(out, p.String())
		}
	}
	return out
}
