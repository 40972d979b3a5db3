package endpoint

import (
	"encoding/xml"
	"fmt"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/sim/ec2"
)

// actions are the requests that the model knows. Each returns what stands in its answer beside the request's ID.
var actions = map[string]func(*Server, *query) (any, error){
	"DescribeNetworkInterfaces": describeInterfaces, "CreateNetworkInterface": createInterface, "AttachNetworkInterface": attach,
	"DetachNetworkInterface": detach, "DeleteNetworkInterface": deleteInterface, "ModifyNetworkInterfaceAttribute": modify,
	"AssignPrivateIpAddresses": assign, "UnassignPrivateIpAddresses": unassign, "AssignIpv6Addresses": assign6, "UnassignIpv6Addresses": unassign6,
	"CreateTags": createTags, "DescribeInstances": describeInstances, "DescribeSubnets": describeSubnets, "DescribeInstanceTypes": describeTypes,
}

type interfaceID struct {
	XMLName xml.Name `xml:"networkInterfaceId"`
	ID      string   `xml:",chardata"`
}

func assign(s *Server, q *query) (any, error) {
	q.unsupported("PrivateIpAddress", "Ipv4Prefix")
	eni, addresses, prefixes := q.needed("NetworkInterfaceId"), q.number("SecondaryPrivateIpAddressCount"), q.number("Ipv4PrefixCount")
	if (addresses == 0) == (prefixes == 0) {
		q.refuse(ec2.CodeInvalidQuantity, "One of SecondaryPrivateIpAddressCount and Ipv4PrefixCount is needed.")
	}
	if q.err != nil {
		return nil, q.err
	}
	got, err := s.cfg.Region.AssignUnits(q.now, eni, addresses+prefixes, prefixes > 0)
	if err != nil {
		return nil, err
	}
	if prefixes > 0 {
		type set struct {
			XMLName xml.Name    `xml:"assignedIpv4PrefixSet"`
			Items   []prefixXML `xml:"item"`
		}
		var items set
		for _, text := range textsOf(got) {
			items.Items = append(items.Items, prefixXML{text})
		}
		return []any{interfaceID{ID: eni}, items}, nil
	}
	type item struct {
		Address string `xml:"privateIpAddress"`
	}
	type set struct {
		XMLName xml.Name `xml:"assignedPrivateIpAddressesSet"`
		Items   []item   `xml:"item"`
	}
	var items set
	for _, text := range textsOf(got) {
		items.Items = append(items.Items, item{text})
	}
	return []any{interfaceID{ID: eni}, items}, nil
}

func unassign(s *Server, q *query) (any, error) {
	eni := q.needed("NetworkInterfaceId")
	units := append(q.prefixes("PrivateIpAddress"), q.prefixes("Ipv4Prefix")...)
	if len(units) == 0 {
		q.refuse("MissingParameter", "The request must contain the parameter PrivateIpAddress or Ipv4Prefix")
	}
	if q.err != nil {
		return nil, q.err
	}
	return done(s.cfg.Region.UnassignUnits(q.now, eni, units))
}

func assign6(s *Server, q *query) (any, error) {
	q.unsupported("Ipv6AddressCount", "Ipv6Addresses", "Ipv6Prefix")
	eni, n := q.needed("NetworkInterfaceId"), q.number("Ipv6PrefixCount")
	if n == 0 {
		q.refuse("MissingParameter", "The request must contain the parameter Ipv6PrefixCount")
	}
	if q.err != nil {
		return nil, q.err
	}
	got, err := s.cfg.Region.AssignPrefixes6(q.now, eni, n)
	if err != nil {
		return nil, err
	}
	type set struct {
		XMLName xml.Name `xml:"assignedIpv6PrefixSet"`
		Items   []string `xml:"item"`
	}
	return []any{interfaceID{ID: eni}, set{Items: textsOf(got)}}, nil
}

func unassign6(s *Server, q *query) (any, error) {
	q.unsupported("Ipv6Addresses")
	eni, list := q.needed("NetworkInterfaceId"), q.prefixes("Ipv6Prefix")
	if q.err != nil {
		return nil, q.err
	}
	type set struct {
		XMLName xml.Name `xml:"unassignedIpv6PrefixSet"`
		Items   []string `xml:"item"`
	}
	return []any{interfaceID{ID: eni}, set{Items: textsOf(list)}}, s.cfg.Region.UnassignPrefixes6(q.now, eni, list)
}

type instanceXML struct {
	ID         string         `xml:"instanceId"`
	Type       string         `xml:"instanceType"`
	State      stateXML       `xml:"instanceState"`
	Address    string         `xml:"privateIpAddress"`
	Subnet     string         `xml:"subnetId"`
	VPC        string         `xml:"vpcId"`
	Zone       string         `xml:"placement>availabilityZone"`
	Launched   string         `xml:"launchTime"`
	Interfaces []interfaceXML `xml:"networkInterfaceSet>item"`
}

type stateXML struct {
	Code int    `xml:"code"`
	Name string `xml:"name"`
}

func describeInstances(s *Server, q *query) (any, error) {
	hosts, err := s.cfg.Region.Instances(q.now)
	if err != nil {
		return nil, err
	}
	ids := q.list("InstanceId")
	for _, id := range ids {
		if _, err := s.cfg.Region.Host(id); err != nil {
			return nil, err
		}
	}
	type reservation struct {
		ID        string        `xml:"reservationId"`
		Owner     string        `xml:"ownerId"`
		Instances []instanceXML `xml:"instancesSet>item"`
	}
	var list []reservation
	for _, h := range hosts {
		known := map[string]string{"instance-id": h.ID, "subnet-id": h.Subnet, "vpc-id": vpcID, "instance-type": h.Type, "instance-state-name": "running"}
		of := func(name string) ([]string, bool) { v, ok := known[name]; return []string{v}, ok }
		if len(ids) > 0 && !slices.Contains(ids, h.ID) || !q.chosen(of) {
			continue
		}
		x := instanceXML{ID: h.ID, Type: h.Type, State: stateXML{16, "running"}, Subnet: h.Subnet, VPC: vpcID, Zone: h.Zone, Launched: h.Launched.UTC().Format(time.RFC3339)}
		for _, e := range h.Attached() {
			if i, ok := s.cfg.Region.Of(e); ok {
				x.Interfaces = append(x.Interfaces, showInterface(q.now, i))
			}
			if e.Primary {
				x.Address = e.Address.String()
			}
		}
		list = append(list, reservation{"r-" + h.ID[2:], ownerID, []instanceXML{x}})
	}
	type answer struct {
		XMLName xml.Name      `xml:"reservationSet"`
		Items   []reservation `xml:"item"`
	}
	part, next := page(q, list)
	return withToken(answer{Items: part}, next), nil
}

type subnetXML struct {
	ID        string      `xml:"subnetId"`
	VPC       string      `xml:"vpcId"`
	State     string      `xml:"state"`
	CIDR      string      `xml:"cidrBlock"`
	Available int         `xml:"availableIpAddressCount"`
	Zone      string      `xml:"availabilityZone"`
	Owner     string      `xml:"ownerId"`
	Ranges6   []range6XML `xml:"ipv6CidrBlockAssociationSet>item"`
	Tags      []tagXML    `xml:"tagSet>item"`
}

type range6XML struct {
	CIDR  string `xml:"ipv6CidrBlock"`
	State string `xml:"ipv6CidrBlockState>state"`
}

func describeSubnets(s *Server, q *query) (any, error) {
	places, err := s.cfg.Region.Subnets(q.now)
	if err != nil {
		return nil, err
	}
	ids := q.list("SubnetId")
	for _, id := range ids {
		if !slices.ContainsFunc(places, func(p ec2.Place) bool { return p.ID == id }) {
			return nil, &ec2.APIError{Code: ec2.CodeUnknownSubnet, Message: fmt.Sprintf("The subnet ID '%s' does not exist", id)}
		}
	}
	var list []subnetXML
	for _, p := range places {
		known := map[string]string{"subnet-id": p.ID, "vpc-id": vpcID, "availability-zone": p.Zone, "cidr-block": p.CIDR().String(), "state": "available"}
		of := func(name string) ([]string, bool) {
			if v, ok := known[name]; ok {
				return []string{v}, true
			}
			return tagged(p.Tags, name)
		}
		if len(ids) > 0 && !slices.Contains(ids, p.ID) || !q.chosen(of) {
			continue
		}
		x := subnetXML{ID: p.ID, VPC: vpcID, State: "available", CIDR: p.CIDR().String(), Available: p.Free(), Zone: p.Zone, Owner: ownerID, Tags: tagsXML(p.Tags)}
		if six := p.CIDR6(); six.IsValid() {
			x.Ranges6 = []range6XML{{six.String(), "associated"}}
		}
		list = append(list, x)
	}
	type answer struct {
		XMLName xml.Name    `xml:"subnetSet"`
		Items   []subnetXML `xml:"item"`
	}
	part, next := page(q, list)
	return withToken(answer{Items: part}, next), nil
}

type typeXML struct {
	Type       string `xml:"instanceType"`
	Current    bool   `xml:"currentGeneration"`
	Metal      bool   `xml:"bareMetal"`
	Hypervisor string `xml:"hypervisor"`
	Interfaces int    `xml:"networkInfo>maximumNetworkInterfaces"`
	Cards      int    `xml:"networkInfo>maximumNetworkCards"`
	Card       int    `xml:"networkInfo>defaultNetworkCardIndex"`
	IPv4       int    `xml:"networkInfo>ipv4AddressesPerInterface"`
	IPv6       int    `xml:"networkInfo>ipv6AddressesPerInterface"`
	Has6       bool   `xml:"networkInfo>ipv6Supported"`
}

func describeTypes(s *Server, q *query) (any, error) {
	names := q.list("InstanceType")
	if len(names) == 0 {
		q.refuse("UnsupportedOperation", "The model of EC2 answers for the types that InstanceType names.")
		return nil, nil
	}
	type answer struct {
		XMLName xml.Name  `xml:"instanceTypeSet"`
		Items   []typeXML `xml:"item"`
	}
	var out answer
	for _, name := range names {
		l, ok := s.cfg.Types(name)
		if !ok {
			return nil, &ec2.APIError{Code: "InvalidInstanceType", Message: fmt.Sprintf("The following supplied instance types do not exist: [%s]", name)}
		}
		out.Items = append(out.Items, typeXML{Type: name, Current: true, Hypervisor: "nitro", Interfaces: l.ENIs, Cards: 1, IPv4: l.IPv4PerENI, IPv6: l.IPv4PerENI, Has6: true})
	}
	return out, nil
}
