package aws

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/vppdrill/vppdrill/ipam/datastore"
)

// createTries is how often an interface is asked for of which no answer comes.
const createTries = 3

// Codes after which another request is made here.
const (
	// codeUnknownENI of an interface that was made just now: not all of EC2 knows of it yet.
	codeUnknownENI = "InvalidNetworkInterfaceID.NotFound"
	// codeInUse of an interface that is being detached.
	codeInUse      = "InvalidParameterValue"
	codeInUseToo   = "InvalidNetworkInterface.InUse"
	codeNoAttached = "InvalidAttachmentID.NotFound"
	// What a subnet without room is refused with: another one may have some.
	codeSubnetFull = "InsufficientFreeAddressesInSubnet"
	codeNoBlock    = "InsufficientCidrBlocks"
)

// Do performs a call, within less time than a Manager waits. The error of a call of which parts were done has no code.
func (c *Client) Do(ctx context.Context, call datastore.Call) (r datastore.Result) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	r.Number = call.Number
	if look := call.Op == datastore.DescribeENIs || call.Op == datastore.ReadIMDS && call.ENI == ""; look && c.sweeps > 0 {
		c.sweep(ctx)
	}
	switch call.Op {
	case datastore.DescribeENIs:
		r.ENIs, r.Err = c.describe(ctx)
	case datastore.ReadIMDS:
		r.ENIs, r.Err = c.readMetadata(ctx)
	case datastore.SetUpENI:
		if c.cfg.SetUp != nil {
			r.Err = c.cfg.SetUp(ctx, call.ENI)
		}
	case datastore.AssignUnits:
		r.Prefixes, r.Err = c.assign(ctx, call)
	case datastore.UnassignUnits:
		r.Err = c.unassign(ctx, call)
	case datastore.CreateENI:
		r.ENIs, r.Err = c.create(ctx, call)
	case datastore.DeleteENI:
		r.Err = c.delete(ctx, call.ENI)
	default:
		r.Err = fmt.Errorf("AWS knows no call %s", call)
	}
	return r
}

// counts are the two parameters that ask for units: addresses, or prefixes.
func counts(call datastore.Call) (addresses, prefixes *int32) {
	if n := aws.Int32(int32(call.Units)); call.Delegated {
		prefixes = n
	} else if call.Units > 0 {
		addresses = n
	}
	return addresses, prefixes
}

func (c *Client) assign(ctx context.Context, call datastore.Call) ([]netip.Prefix, error) {
	in := &ec2.AssignPrivateIpAddressesInput{NetworkInterfaceId: &call.ENI}
	in.SecondaryPrivateIpAddressCount, in.Ipv4PrefixCount = counts(call)
	out, err := request(ctx, c, "AssignPrivateIpAddresses", c.ec2.assignPrivateIpAddresses, in)
	if err != nil {
		return nil, err
	}
	var addresses, prefixes []string
	for _, a := range out.AssignedPrivateIpAddresses {
		addresses = append(addresses, aws.ToString(a.PrivateIpAddress))
	}
	for _, p := range out.AssignedIpv4Prefixes {
		prefixes = append(prefixes, aws.ToString(p.Ipv4Prefix))
	}
	return units(addresses, prefixes)
}

func (c *Client) unassign(ctx context.Context, call datastore.Call) error {
	in := &ec2.UnassignPrivateIpAddressesInput{NetworkInterfaceId: &call.ENI}
	for _, p := range call.Prefixes {
		if p.IsSingleIP() {
			in.PrivateIpAddresses = append(in.PrivateIpAddresses, p.Addr().String())
		} else {
			in.Ipv4Prefixes = append(in.Ipv4Prefixes, p.String())
		}
	}
	_, err := request(ctx, c, "UnassignPrivateIpAddresses", c.ec2.unassignPrivateIpAddresses, in)
	return err
}

// create makes an interface in the best subnet that has room and attaches it. One that cannot be attached is deleted again.
func (c *Client) create(ctx context.Context, call datastore.Call) ([]datastore.AttachedENI, error) {
	present, err := c.attached(ctx)
	if err != nil {
		return nil, err
	}
	tags := maps.Clone(c.cfg.Tags)
	if tags == nil {
		tags = make(map[string]string)
	}
	tags[InstanceTag] = c.instance.ID
	spec := types.TagSpecification{ResourceType: types.ResourceTypeNetworkInterface}
	for _, k := range slices.Sorted(maps.Keys(tags)) {
		spec.Tags = append(spec.Tags, types.Tag{Key: aws.String(k), Value: aws.String(tags[k])})
	}
	in := &ec2.CreateNetworkInterfaceInput{Groups: c.instance.Groups, Description: aws.String("aws-K8S-" + c.instance.ID), TagSpecifications: []types.TagSpecification{spec}}
	in.SecondaryPrivateIpAddressCount, in.Ipv4PrefixCount = counts(call)
	made, err := c.make(ctx, in)
	if err != nil {
		return nil, err
	}
	device := freeDevice(present)
	attachment, err := c.attach(ctx, *made.NetworkInterfaceId, device)
	if err != nil {
		// After a lost answer it may be attached all the same: the next look finds it, or deletes what is not.
		if c.sweeps = sweepLooks; codeOf(err) != "" {
			err = errors.Join(err, c.remove(ctx, *made.NetworkInterfaceId))
		}
		return nil, err
	}
	_, err = request(ctx, c, "ModifyNetworkInterfaceAttribute", c.ec2.modifyNetworkInterfaceAttribute, &ec2.ModifyNetworkInterfaceAttributeInput{
		NetworkInterfaceId: made.NetworkInterfaceId, Attachment: &types.NetworkInterfaceAttachmentChanges{AttachmentId: &attachment, DeleteOnTermination: aws.Bool(true)}})
	if err != nil {
		// It serves pods all the same; only its end with the instance's is not sure.
		c.cfg.Log.Warn("an interface will stay when the instance is terminated", "eni", *made.NetworkInterfaceId, "error", err)
	}
	e, err := attachedENI(made)
	e.Device = device
	return []datastore.AttachedENI{e}, err
}

// make makes an interface of no instance, in the first subnet that has room for it.
func (c *Client) make(ctx context.Context, in *ec2.CreateNetworkInterfaceInput) (*types.NetworkInterface, error) {
	var full error
	for _, subnet := range c.subnets(ctx) {
		in.SubnetId, in.ClientToken = aws.String(subnet), aws.String(rand.Text())
		out, err := request(ctx, c, "CreateNetworkInterface", c.ec2.createNetworkInterface, in)
		for tries := 1; codeOf(err) == "" && err != nil && tries < createTries; tries++ {
			out, err = request(ctx, c, "CreateNetworkInterface", c.ec2.createNetworkInterface, in) // with its token it is made once
		}
		switch code := codeOf(err); {
		case err == nil:
			return out.NetworkInterface, nil
		case code == codeSubnetFull || code == codeNoBlock:
			full = err
		default:
			if code == "" {
				c.sweeps = sweepLooks
			}
			return nil, err
		}
	}
	return nil, full
}

// freeDevice is the lowest device number of no interface.
func freeDevice(present []types.NetworkInterface) int {
	n := 1 // 0 is the primary one's
	for slices.ContainsFunc(present, func(i types.NetworkInterface) bool {
		return i.Attachment != nil && int(aws.ToInt32(i.Attachment.DeviceIndex)) == n
	}) {
		n++
	}
	return n
}

func (c *Client) attach(ctx context.Context, eni string, device int) (attachment string, err error) {
	err = c.again(ctx, func() error {
		out, err := request(ctx, c, "AttachNetworkInterface", c.ec2.attachNetworkInterface, &ec2.AttachNetworkInterfaceInput{
			NetworkInterfaceId: &eni, InstanceId: &c.instance.ID, DeviceIndex: aws.Int32(int32(device))})
		if err == nil {
			attachment = aws.ToString(out.AttachmentId)
		}
		return err
	}, codeUnknownENI)
	return attachment, err
}

// again makes a request until EC2 answers with something else than these codes, or time is up.
func (c *Client) again(ctx context.Context, do func() error, codes ...string) error {
	for {
		err := do()
		if !slices.Contains(codes, codeOf(err)) || codeOf(err) == "" {
			return err
		}
		if c.cfg.Sleep(ctx, pause); ctx.Err() != nil {
			return err
		}
	}
}

// delete detaches an interface and deletes it. What is detached and stays is deleted at a later look.
func (c *Client) delete(ctx context.Context, eni string) error {
	found, err := c.interfaces(ctx, filter("network-interface-id", eni))
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return nil
	}
	if a := found[0].Attachment; a != nil && a.Status != types.AttachmentStatusDetaching {
		_, err := request(ctx, c, "DetachNetworkInterface", c.ec2.detachNetworkInterface, &ec2.DetachNetworkInterfaceInput{AttachmentId: a.AttachmentId})
		if err != nil && codeOf(err) != codeNoAttached {
			c.sweeps = sweepLooks // it may be detached, and stay
			return err
		}
	}
	if err := c.remove(ctx, eni); err != nil {
		c.sweeps = sweepLooks
		c.cfg.Log.Warn("a detached interface is left behind for now", "eni", eni, "error", err)
	}
	return nil
}

// remove deletes an interface once it is detached.
func (c *Client) remove(ctx context.Context, eni string) error {
	err := c.again(ctx, func() error {
		_, err := request(ctx, c, "DeleteNetworkInterface", c.ec2.deleteNetworkInterface, &ec2.DeleteNetworkInterfaceInput{NetworkInterfaceId: &eni})
		return err
	}, codeInUse, codeInUseToo)
	if codeOf(err) == codeUnknownENI {
		return nil
	}
	return err
}
